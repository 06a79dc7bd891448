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
    REDOUBLE_RETURN_IF_ERROR(BeginIncrement(manifest_));
  } else {
    const std::string path = place_.PathOf(manifest_.increments().back().name);
    REDOUBLE_ASSIGN_OR_RETURN(const uint64_t size, files_.SizeOf(path));
    REDOUBLE_ASSIGN_OR_RETURN(const int file, files_.Append(path));
    WriteTo(file);
    file_bytes_ = size;
  }
  engine_.AddEffectSink(*this, EffectTargets::kLog);
  bytes_ = loaded.bytes;
  base_bytes_ = loaded.base_bytes;
  RemoveHistory();
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::Start() {
  assert(!on());
  GiveUpBase();
  REDOUBLE_RETURN_IF_ERROR(files_.MakeFolder(place_.folder));
  if (!has_read_manifest_) {
    const absl::StatusOr<std::string> text = ReadFile(place_.manifest_path(), files_);
    if (!absl::IsNotFound(text.status())) {
      REDOUBLE_RETURN_IF_ERROR(text.status());
      REDOUBLE_ASSIGN_OR_RETURN(manifest_, LogManifest::Parse(*text));
    }
    has_read_manifest_ = true;
  }
  LogManifest next = manifest_;
  next.RetireIncrements(/*is_used=*/false);
  BeginBase(next.AddBase(place_.name, options_.has_rdb_base));
  REDOUBLE_ASSIGN_OR_RETURN(const uint64_t base_bytes, FinishBase());
  REDOUBLE_RETURN_IF_ERROR(BeginIncrement(std::move(next)));
  engine_.AddEffectSink(*this, EffectTargets::kLog);
  bytes_ = base_bytes_ = base_bytes;
  RemoveHistory();
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::Stop() {
  assert(on());
  engine_.RemoveEffectSink(*this);
  GiveUpBase();
  absl::Status status = Flush();
  status.Update(Sync());
  status.Update(files_.Close(*std::exchange(file_, std::nullopt)));
  buffer_.clear();
  has_unsynced_ = false;
  return status;
}

absl::Status AppendOnlyLog::BeginRewrite() {
  assert(!rewriting());
  if (on()) {
    // A file that is not the last one must be whole.
    REDOUBLE_RETURN_IF_ERROR(Flush());
    REDOUBLE_RETURN_IF_ERROR(Sync());
    REDOUBLE_RETURN_IF_ERROR(BeginIncrement(manifest_));
  }
  REDOUBLE_RETURN_IF_ERROR(files_.MakeFolder(place_.folder));
  LogManifest next = manifest_;
  BeginBase(next.AddBase(place_.name, options_.has_rdb_base));
  return absl::OkStatus();
}

bool AppendOnlyLog::ContinueRewrite() {
  assert(rewriting());
  if (!base_keys_) return false;
  if (ContinueInFile(*base_keys_, *next_base_)) return true;
  base_keys_.reset();
  return false;
}

absl::Status AppendOnlyLog::FinishRewrite() {
  assert(rewriting());
  REDOUBLE_ASSIGN_OR_RETURN(const uint64_t base_bytes, FinishBase());
  LogManifest next = manifest_;
  next.RetireIncrements(/*is_used=*/on());
  next.AddBase(place_.name, next_base_is_rdb_);
  REDOUBLE_RETURN_IF_ERROR(WriteManifest(next));
  bytes_ = base_bytes_ = base_bytes + (on() ? file_bytes_ : 0);
  RemoveHistory();
  return absl::OkStatus();
}

absl::Status AppendOnlyLog::Flush() {
  if (is_torn_) {
    const std::string path = place_.PathOf(manifest_.increments().back().name);
    REDOUBLE_RETURN_IF_ERROR(files_.Truncate(path, file_bytes_));
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

void AppendOnlyLog::BeginBase(const std::string& name) {
  next_base_ = std::make_unique<FileReplacement>(place_.PathOf(name), ".partial", files_);
  next_base_is_rdb_ = options_.has_rdb_base;
  if (!options_.has_rdb_base) {
    next_base_->Write([this](ByteSink& sink) { return WriteCommands(sink); }).IgnoreError();
    return;
  }
  RdbSaveOptions rdb = options_.rdb;
  rdb.is_log_base = true;
  base_keys_.emplace(engine_, std::move(rdb));
}

absl::StatusOr<uint64_t> AppendOnlyLog::FinishBase() {
  while (ContinueRewrite()) {
  }
  const std::unique_ptr<FileReplacement> base = std::exchange(next_base_, nullptr);
  REDOUBLE_RETURN_IF_ERROR(base->Finish());
  return base->bytes();
}

void AppendOnlyLog::GiveUpBase() {
  next_base_.reset();
  base_keys_.reset();
}

absl::Status AppendOnlyLog::WriteCommands(ByteSink& sink) {
  if (options_.writes_times) {
    const int64_t now_s = engine_.clock().NowMillis() / 1000;
    REDOUBLE_RETURN_IF_ERROR(sink.Write(absl::StrCat("#TS:", now_s, "\r\n")));
  }
  return SaveCommands(engine_, sink);
}

// The present increment has been synced, if there is one.
absl::Status AppendOnlyLog::BeginIncrement(LogManifest next) {
  const std::string path = place_.PathOf(next.AddIncrement(place_.name));
  REDOUBLE_ASSIGN_OR_RETURN(const int file, files_.Append(path));
  // An earlier attempt may have left a file behind.
  absl::Status status = files_.Truncate(path, 0);
  if (status.ok()) status = WriteManifest(next);
  if (!status.ok()) {
    files_.Close(file).IgnoreError();
    return status;
  }
  if (on()) files_.Close(*file_).IgnoreError();
  WriteTo(file);
  return absl::OkStatus();
}

void AppendOnlyLog::WriteTo(int file) {
  file_ = file;
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
