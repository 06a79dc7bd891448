#include "redouble/backends/memory/append_only/append_only_log.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/append_only/save_commands.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {

AppendOnlyLog::AppendOnlyLog(Engine& engine, AppendOnlyPlace place, FileSystem& files)
    : engine_(engine), place_(std::move(place)), files_(files) {}

AppendOnlyLog::~AppendOnlyLog() {
  if (on()) Stop().IgnoreError();
}

absl::Status AppendOnlyLog::Continue(const AppendOnlyLoadReport& loaded) {
  assert(!on());
  manifest_ = loaded.manifest;
  has_read_manifest_ = true;
  if (manifest_.empty()) return Start();
  if (manifest_.increments().empty()) {
    REDOUBLE_RETURN_IF_ERROR(BeginIncrement());
  } else {
    const std::string& name = manifest_.increments().back().name;
    const std::string path = place_.PathOf(name);
    REDOUBLE_ASSIGN_OR_RETURN(const uint64_t size, files_.SizeOf(path));
    REDOUBLE_ASSIGN_OR_RETURN(const int file, files_.Append(path));
    WriteTo(file, name);
    file_bytes_ = size;
  }
  engine_.AddEffectSink(*this, EffectTargets::kLog);
  bytes_ = loaded.bytes;
  base_bytes_ = loaded.base_bytes;
  RemoveHistory();
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::Start() {
  REDOUBLE_RETURN_IF_ERROR(BeginStart());
  absl::Status status = FinishRewrite();
  if (!status.ok()) Stop().IgnoreError();
  return status;
}

absl::Status AppendOnlyLog::BeginStart() {
  assert(!on());
  GiveUpBase();
  REDOUBLE_RETURN_IF_ERROR(files_.MakeFolder(place_.folder));
  REDOUBLE_RETURN_IF_ERROR(ReadManifest());
  is_starting_ = true;
  if (absl::Status status = BeginIncrement(); !status.ok()) {
    is_starting_ = false;
    return status;
  }
  bytes_ = base_bytes_ = 0;
  engine_.AddEffectSink(*this, EffectTargets::kLog);
  BeginBase();
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::ReadManifest() {
  if (has_read_manifest_) return absl::OkStatus();
  const absl::StatusOr<std::string> text = ReadFile(place_.manifest_path(), files_);
  if (!absl::IsNotFound(text.status())) {
    REDOUBLE_RETURN_IF_ERROR(text.status());
    REDOUBLE_ASSIGN_OR_RETURN(manifest_, LogManifest::Parse(*text));
  }
  has_read_manifest_ = true;
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::Stop() {
  assert(on());
  engine_.RemoveEffectSink(*this);
  GiveUpBase();
  absl::Status status = Flush();
  status.Update(Sync());
  status.Update(files_.Close(*std::exchange(file_, std::nullopt)));
  // No manifest names it.
  if (std::exchange(is_starting_, false)) files_.Remove(place_.PathOf(file_name_)).IgnoreError();
  buffer_.clear();
  has_unsynced_ = false;
  return status;
}

absl::Status AppendOnlyLog::BeginRewrite() {
  assert(!rewriting());
  if (starting()) {
    // The base file will have what the increment has.
    Stop().IgnoreError();
    return BeginStart();
  }
  if (on()) {
    // A file that is not the last one must be whole.
    REDOUBLE_RETURN_IF_ERROR(Flush());
    REDOUBLE_RETURN_IF_ERROR(Sync());
    REDOUBLE_RETURN_IF_ERROR(BeginIncrement());
  }
  REDOUBLE_RETURN_IF_ERROR(files_.MakeFolder(place_.folder));
  BeginBase();
  return absl::OkStatus();
}

bool AppendOnlyLog::ContinueRewrite() {
  assert(rewriting());
  if (base_keys_ == nullptr) return false;
  if (ContinueInFile(*base_keys_, *next_base_)) return true;
  progress_ = base_keys_->progress();
  base_keys_.reset();
  return false;
}

absl::Status AppendOnlyLog::FinishRewrite() {
  assert(rewriting());
  REDOUBLE_ASSIGN_OR_RETURN(const uint64_t base_bytes, FinishBase());
  LogManifest next = manifest_;
  next.RetireIncrements(/*is_used=*/on() && !starting());
  next.AddBase(place_.name, next_base_is_rdb_);
  if (starting()) next.AddIncrement(place_.name);  // The one that BeginStart has made.
  REDOUBLE_RETURN_IF_ERROR(WriteManifest(next));
  is_starting_ = false;
  bytes_ = base_bytes_ = base_bytes + (on() ? file_bytes_ : 0);
  RemoveHistory();
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::Flush() {
  if (is_torn_) {
    REDOUBLE_RETURN_IF_ERROR(files_.Truncate(place_.PathOf(file_name_), file_bytes_));
    is_torn_ = false;
  }
  size_t written = 0;
  absl::Status status;
  while (written < buffer_.size()) {
    const absl::StatusOr<size_t> count =
        files_.Write(*file_, std::string_view(buffer_).substr(written));
    status = count.status();
    if (!status.ok()) break;
    written += *count;
    has_unsynced_ = true;
  }
  is_torn_ = !status.ok();
  buffer_.erase(0, written);
  file_bytes_ += written;
  bytes_ += written;
  return status;
}

absl::Status AppendOnlyLog::Sync() {
  if (!has_unsynced_) return absl::OkStatus();
  REDOUBLE_RETURN_IF_ERROR(files_.Sync(*file_));
  has_unsynced_ = false;
  return absl::OkStatus();
}

void AppendOnlyLog::OnEffects(std::span<const Effect> effects, bool is_atomic) {
  if (options_.writes_times) AppendTime();
  writer_.Append(effects, is_atomic, buffer_);
}

void AppendOnlyLog::AppendTime() {
  const int64_t now_s = engine_.clock().NowMillis() / 1000;
  if (now_s <= written_second_) return;
  written_second_ = now_s;
  absl::StrAppend(&buffer_, "#TS:", now_s, "\r\n");
}

void AppendOnlyLog::BeginBase() {
  next_base_is_rdb_ = options_.has_rdb_base;
  LogManifest next = manifest_;
  const std::string path = place_.PathOf(next.AddBase(place_.name, next_base_is_rdb_));
  next_base_ = std::make_unique<FileReplacement>(path, ".partial", files_);
  if (next_base_is_rdb_) {
    RdbSaveOptions rdb = options_.rdb;
    rdb.is_log_base = true;
    base_keys_ = BeginSavingRdb(engine_, std::move(rdb));
  } else {
    base_keys_ = BeginSavingCommands(engine_, {.writes_time = options_.writes_times});
  }
}

absl::StatusOr<uint64_t> AppendOnlyLog::FinishBase() {
  while (ContinueRewrite()) {
  }
  progress_ = {};
  const std::unique_ptr<FileReplacement> base = std::exchange(next_base_, nullptr);
  REDOUBLE_RETURN_IF_ERROR(base->Finish());
  return base->bytes();
}

void AppendOnlyLog::GiveUpBase() {
  next_base_.reset();
  base_keys_.reset();
  progress_ = {};
}

// The present increment has been synced, if there is one.
absl::Status AppendOnlyLog::BeginIncrement() {
  LogManifest next = manifest_;
  std::string name = next.AddIncrement(place_.name);
  const std::string path = place_.PathOf(name);
  REDOUBLE_ASSIGN_OR_RETURN(const int file, files_.Append(path));
  // An earlier attempt may have left a file behind.
  absl::Status status = files_.Truncate(path, 0);
  if (status.ok() && !starting()) status = WriteManifest(next);
  if (!status.ok()) {
    files_.Close(file).IgnoreError();
    return status;
  }
  if (on()) files_.Close(*file_).IgnoreError();
  WriteTo(file, std::move(name));
  return absl::OkStatus();
}

void AppendOnlyLog::WriteTo(int file, std::string name) {
  file_ = file;
  file_name_ = std::move(name);
  file_bytes_ = 0;
  is_torn_ = false;
  writer_.ForgetDatabase();
}

absl::Status AppendOnlyLog::WriteManifest(const LogManifest& manifest) {
  const std::string text = manifest.Text();
  const auto write = [&](ByteSink& sink) { return sink.Write(text); };
  const absl::Status status = ReplaceFile(place_.manifest_path(), write, files_);
  if (!status.ok()) {
    // If only the last step failed, the next start reads the new manifest, and commands must not go
    // to a file that is not its last one.
    const absl::StatusOr<std::string> present = ReadFile(place_.manifest_path(), files_);
    if (!present.ok() || *present != text) return status;
  }
  manifest_ = manifest;
  return absl::OkStatus();
}

// Files that stay are removed by the next rewrite or start, because the manifest still names them.
void AppendOnlyLog::RemoveHistory() {
  if (manifest_.history().empty()) return;
  for (const LogFile& file : manifest_.history()) {
    files_.Remove(place_.PathOf(file.name)).IgnoreError();
  }
  LogManifest next = manifest_;
  next.ForgetHistory();
  WriteManifest(next).IgnoreError();
}

}  // namespace redouble::inline v0_1::memory
