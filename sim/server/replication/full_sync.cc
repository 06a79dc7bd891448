#include "redouble/sim/server/replication/full_sync.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {
namespace {

// The file of keys is sent in parts of this size.
constexpr size_t kPartBytes = size_t{256} << 10;

}  // namespace

FullSync::FullSync(memory::Engine& engine, Options options, ReplicaSockets& sockets,
                   Listener& listener)
    : engine_(engine), options_(std::move(options)), sockets_(sockets), listener_(listener) {}

absl::Status FullSync::Open() {
  if (way() == Way::kFile) {
    REDOUBLE_ASSIGN_OR_RETURN(file_, TemporaryFile::Create());
  }
  keys_ = memory::BeginSavingRdb(engine_, options_.rdb);
  return absl::OkStatus();
}

void FullSync::Add(int64_t session_id) {
  session_ids_.insert(session_id);
  if (way() != Way::kStream) return;
  sockets_.SendToReplica(session_id, absl::StrCat("$EOF:", options_.mark, "\r\n"));
}

void FullSync::Remove(int64_t session_id) {
  session_ids_.erase(session_id);
  NoteRead(session_id);
}

memory::SaveProgress FullSync::progress() const {
  return is_writing() ? keys_->progress() : memory::SaveProgress();
}

void FullSync::WriteLater() {
  sockets_.InBackground([self = weak_from_this()] {
    if (const std::shared_ptr<FullSync> sync = self.lock()) sync->Write();
  });
}

void FullSync::Write() {
  if (!is_writing()) return;
  is_held_ = !reading_.empty();
  if (is_held_) return;
  memory::StringSink part;
  memory::ByteSink& sink = way() == Way::kFile ? static_cast<memory::ByteSink&>(*file_) : part;
  const absl::StatusOr<bool> continues = keys_->Continue(sink);
  if (!continues.ok()) {
    keys_.reset();
    return listener_.OnFailed(*this, continues.status());
  }
  if (!*continues) {
    keys_.reset();
    if (way() == Way::kStream) Send(absl::StrCat(part.bytes(), options_.mark));
    return Finish();
  }
  if (way() == Way::kStream) Send(part.bytes());
  WriteLater();
}

void FullSync::Send(const std::string& bytes) {
  reading_ = session_ids_;
  for (const int64_t session_id : session_ids_) {
    sockets_.SendToReplica(session_id, bytes);
    sockets_.WhenSent(session_id, [self = weak_from_this(), session_id] {
      if (const std::shared_ptr<FullSync> sync = self.lock()) sync->NoteRead(session_id);
    });
  }
}

void FullSync::NoteRead(int64_t session_id) {
  if (reading_.erase(session_id) == 0) return;
  const bool is_gone = !session_ids_.contains(session_id);
  if (!is_gone) {
    listener_.OnRead(session_id);
    if (!is_writing()) listener_.OnSent(session_id);
  }
  if (is_held_ && reading_.empty()) {
    is_held_ = false;
    WriteLater();
  }
}

void FullSync::Finish() {
  listener_.OnWritten(*this);
  if (way() == Way::kStream) return;
  const std::set<int64_t> session_ids = session_ids_;
  for (const int64_t session_id : session_ids) {
    sockets_.SendToReplica(session_id, absl::StrCat("$", file_->bytes(), "\r\n"));
    SendFile(session_id, 0);
  }
}

void FullSync::SendFile(int64_t session_id, uint64_t offset) {
  if (!session_ids_.contains(session_id)) return;
  // It has taken the part before.
  listener_.OnRead(session_id);
  std::string part(kPartBytes, '\0');
  const absl::StatusOr<size_t> count = file_->ReadAt(offset, part);
  // Without the rest of the file the replica cannot continue.
  if (!count.ok()) return sockets_.BreakReplica(session_id);
  if (*count == 0) return listener_.OnSent(session_id);
  sockets_.SendToReplica(session_id, {part.data(), *count});
  sockets_.WhenSent(session_id, [self = weak_from_this(), session_id, next = offset + *count] {
    if (const std::shared_ptr<FullSync> sync = self.lock()) sync->SendFile(session_id, next);
  });
}

}  // namespace redouble::inline v0_1::sim
