#include "redouble/sim/cli/support/data_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/append_only/effect_runner.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/cli/support/progress_bar.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifest = ".manifest";

// The log of a folder or a manifest.
std::optional<memory::AppendOnlyPlace> PlaceOf(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      if (entry.path().extension() == kManifest) return PlaceOf(entry.path());
    }
    return std::nullopt;
  }
  if (path.extension() != kManifest || !fs::exists(path, ignored)) return std::nullopt;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return memory::AppendOnlyPlace{.folder = folder.string(), .name = path.stem().string()};
}

absl::StatusOr<memory::RdbLoadReport> LoadRdbWithBar(const fs::path& path,
                                                     memory::RdbLoadOptions options,
                                                     memory::Engine& engine,
                                                     const ProgramContext& context) {
  std::error_code ignored;
  ProgressBar bar(context.err, path.filename().string(), fs::file_size(path, ignored));
  if (context.on_terminal) {
    options.on_progress = [&bar](const memory::RdbProgress& progress) {
      bar.Show(progress.bytes, progress.keys);
    };
  }
  return memory::LoadRdbFile(engine, path.string(), options);
}

// Loads a log or a file of commands. Adds its warnings to `lines`.
absl::Status LoadLog(const fs::path& path, memory::Engine& engine,
                     std::vector<std::string>& lines) {
  const memory::AppendOnlyLoadOptions options = {
      .loads_truncated = false, .on_line = [&](bool is_warning, std::string_view line) {
        if (is_warning) lines.emplace_back(line);
      }};
  if (const std::optional<memory::AppendOnlyPlace> place = PlaceOf(path)) {
    return memory::LoadAppendOnly(engine, *place, options).status();
  }
  return memory::LoadCommandFile(engine, path.string(), options).status();
}

// A log has no moment of its own. Its keys, as they are at its last write, pass through an RDB
// file, which has one.
absl::Status LoadShiftedLog(const fs::path& path, const DataFileOptions& options,
                            memory::Engine& engine, std::vector<std::string>& lines) {
  base::VirtualClock clock(LastWriteOf(path));
  memory::Engine at_last_write(clock, engine.options());
  REDOUBLE_RETURN_IF_ERROR(LoadLog(path, at_last_write, lines));
  memory::StringSink sink;
  REDOUBLE_RETURN_IF_ERROR(
      memory::SaveRdb(at_last_write, sink, {.compresses = false, .keeps = options.keeps}));
  memory::StringSource source(sink.bytes());
  return memory::LoadRdb(engine, source, {.time_policy = options.time_policy}).status();
}

}  // namespace

bool IsRdbFile(const fs::path& path) {
  std::string begin(memory::kRdbMagic.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == memory::kRdbMagic;
}

bool IsAppendOnlyLog(const fs::path& path) { return PlaceOf(path).has_value(); }

bool IsCommandFile(const fs::path& path) {
  std::error_code ignored;
  return path.extension() == ".aof" && fs::is_regular_file(path, ignored);
}

absl::Time LastWriteOf(const fs::path& path) {
  std::error_code ignored;
  std::vector<fs::path> files;
  if (const std::optional<memory::AppendOnlyPlace> place = PlaceOf(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(place->folder, ignored)) {
      files.push_back(entry.path());
    }
  } else {
    files.push_back(path);
  }
  absl::Time last = absl::UnixEpoch();
  for (const fs::path& file : files) {
    struct stat status = {};
    if (stat(file.c_str(), &status) == 0)
      last = std::max(last, absl::TimeFromTimespec(status.st_mtim));
  }
  return last;
}

void RemoveOtherKeys(memory::Engine& engine, const memory::KeyFilter& keeps) {
  if (!keeps) return;
  memory::EffectRunner runner(engine, memory::EngineCore::Authority::kLog);
  for (int index = 0; index < engine.core().database_count(); ++index) {
    const memory::Database& db = engine.core().database(index);
    std::vector<std::string> others;
    for (size_t i = 0; i < db.size(); ++i) {
      if (!keeps(db.at(i).key())) others.emplace_back(db.at(i).key());
    }
    runner.session().Select(index);
    for (const std::string& key : others) {
      const std::string_view words[] = {"DEL", key};
      runner.Run(words);
    }
  }
}

absl::StatusOr<std::vector<std::string>> LoadDataFile(const fs::path& path,
                                                      const DataFileOptions& options,
                                                      memory::Engine& engine,
                                                      const ProgramContext& context) {
  std::vector<std::string> lines;
  if (IsAppendOnlyLog(path) || IsCommandFile(path)) {
    if (options.time_policy == memory::RdbLoadOptions::TimePolicy::kShiftToNow) {
      REDOUBLE_RETURN_IF_ERROR(LoadShiftedLog(path, options, engine, lines));
    } else {
      REDOUBLE_RETURN_IF_ERROR(LoadLog(path, engine, lines));
      RemoveOtherKeys(engine, options.keeps);
    }
    return lines;
  }
  REDOUBLE_ASSIGN_OR_RETURN(
      const memory::RdbLoadReport report,
      LoadRdbWithBar(path, {.time_policy = options.time_policy, .keeps = options.keeps}, engine,
                     context));
  for (const memory::RdbLoadReport::ModuleKey& skipped : report.module_keys) {
    lines.push_back(absl::StrCat("skipped the key \"", skipped.key, "\" in database ", skipped.db,
                                 ", a value of the module ", skipped.module));
  }
  return lines;
}

}  // namespace redouble::inline v0_1::sim
