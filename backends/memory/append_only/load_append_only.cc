#include "redouble/backends/memory/append_only/load_append_only.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/append_only/command_file.h"
#include "redouble/backends/memory/append_only/effect_runner.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr std::string_view kRdbBeginning = "REDIS";

// Passes on what was read ahead, then the source, and keeps the last bytes that it passed on: a
// reader of an RDB file reads more than the file.
class KeepingSource final : public ByteSource {
 public:
  KeepingSource(ByteSource& source, std::string ahead)
      : source_(source), ahead_(std::move(ahead)) {}

  absl::StatusOr<size_t> Read(std::span<char> to) override {
    size_t count = std::min(to.size(), ahead_.size());
    if (count > 0) {
      ahead_.copy(to.data(), count);
      ahead_.erase(0, count);
    } else {
      REDOUBLE_ASSIGN_OR_RETURN(count, source_.Read(to));
    }
    if (kept_.size() > kKeptBytes) kept_.erase(0, kept_.size() - kKeptBytes);
    kept_.append(to.data(), count);
    bytes_ += count;
    return count;
  }

  // What was read after the first `bytes`. Requires that it is still kept.
  std::string After(uint64_t bytes) const { return kept_.substr(kept_.size() - (bytes_ - bytes)); }
  uint64_t bytes() const { return bytes_; }

 private:
  // RdbReader reads at most as much ahead.
  static constexpr size_t kKeptBytes = size_t{4} << 20;

  ByteSource& source_;
  std::string ahead_;
  std::string kept_;
  uint64_t bytes_ = 0;
};

class LogLoader {
 public:
  LogLoader(Engine& engine, const AppendOnlyPlace& place, const AppendOnlyLoadOptions& options,
            FileSystem& files)
      : engine_(engine), place_(place), options_(options), files_(files) {}

  absl::StatusOr<AppendOnlyLoadReport> Run() {
    REDOUBLE_RETURN_IF_ERROR(ReadManifest());
    REDOUBLE_RETURN_IF_ERROR(AdoptOldFile());
    return LoadFiles();
  }

  // Loads one file of the place as the whole log.
  absl::StatusOr<AppendOnlyLoadReport> RunOnly(std::string_view name) {
    report_.manifest.SetOldBase(name);
    return LoadFiles();
  }

 private:
  absl::StatusOr<AppendOnlyLoadReport> LoadFiles() {
    const LogManifest& manifest = report_.manifest;
    if (manifest.empty()) return std::move(report_);
    std::vector<std::string> names;
    if (manifest.base()) names.push_back(manifest.base()->name);
    for (const LogFile& file : manifest.increments()) names.push_back(file.name);
    REDOUBLE_RETURN_IF_ERROR(Measure(names));
    Clear();
    EffectRunner runner(engine_, EngineCore::Authority::kLog);
    absl::Status status;
    for (size_t i = 0; i < names.size() && status.ok(); ++i) {
      const bool is_base = manifest.base() && i == 0;
      const bool is_last = i + 1 == names.size();
      status = LoadFile(names[i], is_base, is_last, runner);
    }
    if (!status.ok()) {
      Clear();
      return status;
    }
    return std::move(report_);
  }

  void Say(bool is_warning, const std::string& line) const {
    if (options_.on_line) options_.on_line(is_warning, line);
  }

  // Without a folder or a manifest the log is empty.
  absl::Status ReadManifest() {
    const absl::StatusOr<std::string> text = ReadFile(place_.manifest_path(), files_);
    if (absl::IsNotFound(text.status())) return absl::OkStatus();
    REDOUBLE_RETURN_IF_ERROR(text.status());
    REDOUBLE_ASSIGN_OR_RETURN(report_.manifest, LogManifest::Parse(*text));
    return absl::OkStatus();
  }

  // Moves the file of Redis 6.2 and before into the folder, where it becomes the base. The manifest
  // comes first: if the process ends in between, the next start moves the file.
  absl::Status AdoptOldFile() {
    LogManifest& manifest = report_.manifest;
    const bool is_adopted =
        manifest.base() && manifest.base()->name == place_.name && manifest.increments().empty();
    if (!manifest.empty() && !is_adopted) return absl::OkStatus();
    const absl::StatusOr<uint64_t> size = files_.SizeOf(place_.old_path());
    if (absl::IsNotFound(size.status())) return absl::OkStatus();
    REDOUBLE_RETURN_IF_ERROR(size.status());
    const std::string path = place_.PathOf(place_.name);
    if (is_adopted && files_.SizeOf(path).ok()) return absl::OkStatus();
    REDOUBLE_RETURN_IF_ERROR(files_.MakeFolder(place_.folder));
    if (!is_adopted) manifest.SetOldBase(place_.name);
    const auto write = [&](ByteSink& sink) { return sink.Write(manifest.Text()); };
    REDOUBLE_RETURN_IF_ERROR(ReplaceFile(place_.manifest_path(), write, files_));
    REDOUBLE_RETURN_IF_ERROR(files_.Rename(place_.old_path(), path));
    REDOUBLE_RETURN_IF_ERROR(SyncFolder(place_.folder, files_));
    Say(false, absl::StrCat("Successfully migrated an old-style AOF configuration (", place_.name,
                            ") into the AOF directory (", place_.folder, ")."));
    return absl::OkStatus();
  }

  absl::Status Measure(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const absl::StatusOr<uint64_t> size = files_.SizeOf(place_.PathOf(name));
      if (absl::IsNotFound(size.status())) {
        return absl::DataLossError(absl::StrCat("Unable to obtain the AOF file ", name,
                                                " length. stat: No such file or directory"));
      }
      REDOUBLE_RETURN_IF_ERROR(size.status());
      if (report_.manifest.base() && name == names[0]) report_.base_bytes = *size;
      report_.bytes += *size;
    }
    return absl::OkStatus();
  }

  void Clear() {
    EngineCore& core = engine_.core();
    for (int index = 0; index < core.database_count(); ++index) core.FlushDatabase(index);
    core.functions().Flush();
    core.FinishCommand();
    core.DeliverPending();
  }

  absl::Status LoadFile(const std::string& name, bool is_base, bool is_last, EffectRunner& runner) {
    runner.SelectFirstDatabase();
    std::optional<uint64_t> cut_off;
    REDOUBLE_RETURN_IF_ERROR(LoadCommands(name, runner, cut_off));
    if (cut_off && !is_last) {
      return absl::DataLossError(
          absl::StrCat("Fatal error: the truncated file is not the last file (", name, ", byte ",
                       *cut_off, ")"));
    }
    report_.is_truncated = cut_off.has_value();
    Say(false, absl::StrCat("DB loaded from ", is_base ? "base" : "incr", " file ", name));
    return absl::OkStatus();
  }

  // `cut_off` is where a truncated file ends now.
  absl::Status LoadCommands(const std::string& name, EffectRunner& runner,
                            std::optional<uint64_t>& cut_off) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file,
                              OpenFile(place_.PathOf(name), files_));
    std::string ahead(kRdbBeginning.size(), '\0');
    size_t size = 0;
    while (size < ahead.size()) {
      REDOUBLE_ASSIGN_OR_RETURN(const size_t count,
                                file->Read({ahead.data() + size, ahead.size() - size}));
      if (count == 0) break;
      size += count;
    }
    ahead.resize(size);
    uint64_t offset = size;
    if (ahead == kRdbBeginning) REDOUBLE_RETURN_IF_ERROR(LoadKeys(name, *file, ahead, offset));
    CommandFile commands(*file, std::move(ahead), offset);
    return RunCommands(name, commands, runner, cut_off);
  }

  // Loads the RDB file with which a file of commands may begin. `ahead` is what was read of the
  // file, before and after the call; `offset` is its end.
  absl::Status LoadKeys(const std::string& name, ByteSource& file, std::string& ahead,
                        uint64_t& offset) {
    const bool is_old = name == place_.name;
    Say(false, is_old ? "Reading RDB preamble from AOF file..."
                      : "Reading RDB base file on AOF loading...");
    KeepingSource source(file, std::move(ahead));
    const absl::StatusOr<RdbLoadReport> loaded =
        LoadRdb(engine_, source, {.time_policy = RdbLoadOptions::TimePolicy::kKeepExpired});
    if (!loaded.ok()) {
      return absl::DataLossError(
          absl::StrCat(is_old ? "Error reading the RDB preamble of the AOF file "
                              : "Error reading the RDB base file ",
                       name, ", AOF loading aborted: ", loaded.status().message()));
    }
    ahead = source.After(loaded->bytes);
    offset = source.bytes();
    if (is_old) Say(false, "Reading the remaining AOF tail...");
    return absl::OkStatus();
  }

  absl::Status RunCommands(const std::string& name, CommandFile& commands, EffectRunner& runner,
                           std::optional<uint64_t>& cut_off) {
    uint64_t valid_bytes = commands.offset();  // Up to here the log may be kept.
    for (;;) {
      const uint64_t begin = commands.offset();
      REDOUBLE_ASSIGN_OR_RETURN(const CommandFile::Next next, commands.Read());
      if (next == CommandFile::Next::kMalformed) {
        return absl::DataLossError(
            absl::StrCat("Bad file format reading the append only file ", name,
                         ": make a backup of your AOF file, then use ./redis-check-aof --fix "
                         "<filename.manifest> (byte ",
                         commands.offset(), ")"));
      }
      if (next != CommandFile::Next::kCommand) {
        if (next == CommandFile::Next::kEnd && !runner.in_transaction()) return absl::OkStatus();
        cut_off = valid_bytes;
        return CutOff(name, valid_bytes, runner.in_transaction());
      }
      REDOUBLE_RETURN_IF_ERROR(RunOne(name, begin, commands.words(), runner));
      if (!runner.in_transaction()) valid_bytes = commands.offset();
    }
  }

  // `begin`: where the command begins, or a comment before it.
  absl::Status RunOne(const std::string& name, uint64_t begin,
                      const std::vector<std::string_view>& words, EffectRunner& runner) {
    if (!runner.Knows(words)) {
      return absl::DataLossError(absl::StrCat("Unknown command '", base::ToAbsl(words[0]),
                                              "' reading the append only file ", name, " (byte ",
                                              begin, ")"));
    }
    const store::Reply reply = runner.Run(words);
    ++report_.commands;
    if (reply.is_error()) {
      Say(true, absl::StrCat(
                    "== CRITICAL == This master is sending an error to its AOF-loading-client: '",
                    base::ToAbsl(reply.text()), "' after processing the command '",
                    base::ToAbsl(words[0]), "'"));
    }
    return absl::OkStatus();
  }

  // The file ends within a command or a transaction. What follows the last whole one is removed,
  // because new commands will be appended there.
  absl::Status CutOff(const std::string& name, uint64_t valid_bytes, bool in_transaction) {
    if (in_transaction) {
      Say(true, absl::StrCat("Revert incomplete MULTI/EXEC transaction in AOF file ", name));
    }
    if (!options_.loads_truncated) {
      return absl::DataLossError(absl::StrCat(
          "Unexpected end of file reading the append only file ", name,
          ". You can: 1) Make a backup of your AOF file, then use ./redis-check-aof --fix "
          "<filename.manifest>. 2) Alternatively you can set the 'aof-load-truncated' "
          "configuration option to yes and restart the server. (byte ",
          valid_bytes, ")"));
    }
    Say(true, absl::StrCat("!!! Warning: short read while loading the AOF file ", name, "!!!"));
    Say(true, absl::StrCat("!!! Truncating the AOF ", name, " at offset ", valid_bytes, " !!!"));
    const absl::Status status = files_.Truncate(place_.PathOf(name), valid_bytes);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("Error truncating the AOF file ", name, ": ",
                                                      status.message()));
    }
    Say(true, absl::StrCat("AOF ", name, " loaded anyway because aof-load-truncated is enabled"));
    return absl::OkStatus();
  }

  Engine& engine_;
  const AppendOnlyPlace& place_;
  const AppendOnlyLoadOptions& options_;
  FileSystem& files_;
  AppendOnlyLoadReport report_;
};

}  // namespace

std::string AppendOnlyPlace::PathOf(std::string_view file) const {
  return absl::StrCat(folder, "/", base::ToAbsl(file));
}

std::string AppendOnlyPlace::old_path() const {
  const size_t slash = folder.rfind('/');
  return slash == std::string::npos ? name : folder.substr(0, slash + 1) + name;
}

absl::StatusOr<AppendOnlyLoadReport> LoadAppendOnly(Engine& engine, const AppendOnlyPlace& place,
                                                    const AppendOnlyLoadOptions& options,
                                                    FileSystem& files) {
  return LogLoader(engine, place, options, files).Run();
}

absl::StatusOr<AppendOnlyLoadReport> LoadCommandFile(Engine& engine, const std::string& path,
                                                     const AppendOnlyLoadOptions& options,
                                                     FileSystem& files) {
  const size_t slash = path.rfind('/');
  const bool has_folder = slash != std::string::npos;
  const AppendOnlyPlace place = {.folder = has_folder ? path.substr(0, slash) : ".",
                                 .name = path.substr(has_folder ? slash + 1 : 0)};
  return LogLoader(engine, place, options, files).RunOnly(place.name);
}

}  // namespace redouble::inline v0_1::memory
