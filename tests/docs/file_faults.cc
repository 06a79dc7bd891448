#include "redouble/tests/docs/file_faults.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/append_only/append_only_log.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/faulty_file_system_for_test.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/keys_save.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::tests {
namespace {

namespace fs = std::filesystem;
using Fault = memory::FaultyFileSystem::Fault;

constexpr char kHead[] =
    "# What faults leave of the files\n"
    "\n"
    "`bazel run //tests/docs:write_pages` tries each row and writes this page: the n-th system "
    "call\n"
    "fails (a full disk takes half of a write before it does), or the process is killed there and "
    "no\n"
    "later call has an effect. Then what is on the disk is loaded. *Old* and *new* mean the whole\n"
    "keys of before and after; `lost` and `damaged` would say that there are neither.\n";

struct Server {
  Server() = default;
  base::VirtualClock clock{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine{clock};
  memory::RecordingSession session{engine};
};

// One kind of work on the files of a folder.
struct Work {
  std::string_view title;
  // Makes the old files.
  void (*prepare)(const fs::path& folder);
  // Does the work. Returns the value of `n` that was acknowledged.
  int64_t (*act)(const fs::path& folder, memory::FileSystem& files);
  // Loads what is there. Returns the value of `n`, or an error.
  absl::StatusOr<int64_t> (*load)(const fs::path& folder);
};

int64_t Count(Server& server) { return std::stoll(server.session.Send({"INCRBY", "n", "0"})); }

std::string DumpIn(const fs::path& folder) { return (folder / "dump.rdb").string(); }
memory::AppendOnlyPlace LogIn(const fs::path& folder) {
  return {.folder = (folder / "appendonlydir").string()};
}

void PrepareDump(const fs::path& folder) {
  Server server;
  server.session.Send({"SET", "n", "1"});
  memory::SaveRdbFile(server.engine, DumpIn(folder)).IgnoreError();
}

int64_t SaveDump(const fs::path& folder, memory::FileSystem& files) {
  Server server;
  server.session.Send({"SET", "n", "2"});
  return memory::SaveRdbFile(server.engine, DumpIn(folder), {}, files).ok() ? 2 : 1;
}

// The background save of `redouble serve`, with parts of one key, between which a client writes.
int64_t SaveDumpInParts(const fs::path& folder, memory::FileSystem& files) {
  Server server;
  server.session.Send({"MSET", "n", "2", "other", "a"});
  const std::unique_ptr<memory::KeysSave> save = memory::BeginSavingRdb(server.engine);
  memory::FileReplacement file(DumpIn(folder), ".background", files);
  while (memory::ContinueInFile(*save, file, /*part_bytes=*/1)) {
    server.session.Send({"INCR", "n"});
    server.session.Send({"APPEND", "other", "b"});
  }
  return file.Finish().ok() ? 2 : 1;
}

absl::StatusOr<int64_t> LoadDump(const fs::path& folder) {
  Server server;
  REDOUBLE_RETURN_IF_ERROR(memory::LoadRdbFile(server.engine, DumpIn(folder)).status());
  return Count(server);
}

constexpr std::string_view kSetN = "*3\r\n$3\r\nSET\r\n$1\r\nn\r\n$1\r\n1\r\n";

// Returns the path of the increment.
std::string WriteLog(const fs::path& folder) {
  Server server;
  memory::AppendOnlyLog log(server.engine, LogIn(folder));
  log.Start().IgnoreError();
  server.session.Send({"INCR", "n"});
  const std::string path = log.place().PathOf(log.increment());
  log.Stop().IgnoreError();
  return path;
}
void PrepareLog(const fs::path& folder) { WriteLog(folder); }
// The last command was not written whole.
void PrepareTruncatedLog(const fs::path& folder) {
  std::ofstream(WriteLog(folder), std::ios::binary | std::ios::app) << kSetN.substr(0, 15);
}
void PrepareOldLog(const fs::path& folder) {
  std::ofstream(LogIn(folder).old_path(), std::ios::binary) << kSetN;
}

// Sends INCR n, and notes its reply if the log has it on the disk.
void WriteInto(Server& server, memory::AppendOnlyLog& log, int64_t& acknowledged) {
  server.session.Send({"INCR", "n"});
  const bool is_written = log.on() && !log.starting() && log.Flush().ok() && log.Sync().ok();
  if (is_written) acknowledged = Count(server);
}

int64_t LoadLogAndAppend(const fs::path& folder, memory::FileSystem& files) {
  Server server;
  int64_t acknowledged = 1;
  const auto loaded = memory::LoadAppendOnly(server.engine, LogIn(folder), {}, files);
  if (!loaded.ok()) return acknowledged;
  memory::AppendOnlyLog log(server.engine, LogIn(folder), files);
  log.Continue(*loaded).IgnoreError();
  WriteInto(server, log, acknowledged);
  return acknowledged;
}

// As CONFIG SET appendonly yes does, while a client writes.
int64_t BeginLog(const fs::path& folder, memory::FileSystem& files) {
  Server server;
  int64_t acknowledged = 1;
  server.session.Send({"SET", "n", "2"});
  memory::AppendOnlyLog log(server.engine, LogIn(folder), files);
  if (!log.BeginStart().ok()) return acknowledged;
  log.ContinueRewrite();
  WriteInto(server, log, acknowledged);
  log.FinishRewrite().IgnoreError();
  WriteInto(server, log, acknowledged);
  return acknowledged;
}

// A command before, during and after a rewrite.
template <bool kHasRdbBase>
int64_t RewriteLog(const fs::path& folder, memory::FileSystem& files) {
  Server server;
  int64_t acknowledged = 1;
  const auto loaded = memory::LoadAppendOnly(server.engine, LogIn(folder));
  memory::AppendOnlyLog log(server.engine, LogIn(folder), files);
  log.set_options({.has_rdb_base = kHasRdbBase});
  log.Continue(*loaded).IgnoreError();
  WriteInto(server, log, acknowledged);
  const bool rewrites = log.on() && log.BeginRewrite().ok();
  if (rewrites) log.ContinueRewrite();
  WriteInto(server, log, acknowledged);
  if (rewrites) log.FinishRewrite().IgnoreError();
  WriteInto(server, log, acknowledged);
  return acknowledged;
}

absl::StatusOr<int64_t> LoadLog(const fs::path& folder) {
  Server server;
  REDOUBLE_RETURN_IF_ERROR(memory::LoadAppendOnly(server.engine, LogIn(folder)).status());
  return Count(server);
}

constexpr Work kWorks[] = {
    {"SAVE and SHUTDOWN SAVE", PrepareDump, SaveDump, LoadDump},
    {"BGSAVE, in parts between which clients write", PrepareDump, SaveDumpInParts, LoadDump},
    {"Appending to the log, and BGREWRITEAOF", PrepareLog, RewriteLog<true>, LoadLog},
    {"The same with a base file of commands (aof-use-rdb-preamble no)", PrepareLog,
     RewriteLog<false>, LoadLog},
    {"CONFIG SET appendonly yes, where an earlier log is", PrepareLog, BeginLog, LoadLog},
    {"Loading a log whose last command is truncated, and appending", PrepareTruncatedLog,
     LoadLogAndAppend, LoadLog},
    {"Loading the file of Redis 6.2, which moves into the folder, and appending", PrepareOldLog,
     LoadLogAndAppend, LoadLog},
};

struct Outcome {
  std::string call;
  std::string left;
};

std::string Describe(const absl::StatusOr<int64_t>& loaded, int64_t acknowledged) {
  if (!loaded.ok()) return "damaged";
  if (*loaded < acknowledged) return "lost";
  return *loaded == 1 ? "old" : *loaded == acknowledged ? "new" : "new, not acknowledged";
}

// The call is empty if there are fewer calls.
Outcome Try(const Work& work, int nth, Fault fault) {
  const fs::path folder = fs::temp_directory_path() / absl::StrCat("redouble-faults-", getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  work.prepare(folder);
  memory::FaultyFileSystem files(nth, fault);
  const int64_t acknowledged = work.act(folder, files);
  const Outcome outcome = {std::string(files.failed_call()),
                           Describe(work.load(folder), acknowledged)};
  fs::remove_all(folder);
  return outcome;
}

std::string TableOf(const Work& work) {
  std::string table = absl::StrCat("\n## ", base::ToAbsl(work.title),
                                   "\n\n| call | what | it fails | the process ends |\n"
                                   "| ---: | --- | --- | --- |\n");
  for (int nth = 1;; ++nth) {
    const Outcome error = Try(work, nth, Fault::kError);
    if (error.call.empty()) return table;
    const Outcome end = Try(work, nth, Fault::kEnd);
    absl::StrAppend(&table, "| ", nth, " | ", error.call, " | ", error.left, " | ", end.left,
                    " |\n");
  }
}

}  // namespace

std::string FileFaultsPage() {
  std::string page = kHead;
  for (const Work& work : kWorks) page += TableOf(work);
  return page;
}

}  // namespace redouble::inline v0_1::tests
