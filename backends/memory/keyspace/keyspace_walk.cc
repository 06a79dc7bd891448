#include "redouble/backends/memory/keyspace/keyspace_walk.h"

#include <cassert>
#include <utility>

namespace redouble::inline v0_1::memory {

DatabaseWalk::DatabaseWalk(Database& db, const EncodeKey& encode, bool keeps_use)
    : db_(&db),
      encode_(encode),
      keeps_use_(keeps_use),
      end_(db.size()),
      expiring_(db.expiring()),
      other_(db.walks_) {
  assert(db.observer_ == db.walks_ && "the database has an access observer");
  db.walks_ = this;
  db.observer_ = this;
  if (end_ == 0) StopWatching();
}

DatabaseWalk::~DatabaseWalk() {
  if (db_ != nullptr) StopWatching();
}

void DatabaseWalk::StopWatching() {
  DatabaseWalk** place = &db_->walks_;
  while (*place != this) place = &(*place)->other_;
  *place = other_;
  db_->observer_ = db_->walks_;
  db_ = nullptr;
}

bool DatabaseWalk::Next(std::string& out) {
  if (next_ == end_) return false;
  if (const auto kept = kept_.find(next_); kept != kept_.end()) {
    out += kept->second;
    kept_bytes_ -= kept->second.size();
    kept_.erase(kept);
  } else {
    Encode(next_, out);
  }
  if (++next_ == end_) StopWatching();
  return true;
}

void DatabaseWalk::Encode(size_t position, std::string& out) {
  const Database::Entry& entry = db_->at(position);
  EvictionRecord use = entry.eviction;
  if (const auto before = uses_.find(position); before != uses_.end()) {
    use = before->second;
    uses_.erase(before);
  }
  encode_(*db_, entry, use, out);
}

void DatabaseWalk::OnRead(std::string_view key) {
  if (!only_reads_) return OnWrite(key);
  if (keeps_use_) {
    const size_t position = db_->table_.PositionOf(key);
    if (Awaits(position)) uses_.try_emplace(position, db_->at(position).eviction);
  }
  if (other_ != nullptr) other_->OnRead(key);
}

void DatabaseWalk::OnWrite(std::string_view key) {
  const size_t position = db_->table_.PositionOf(key);
  for (DatabaseWalk* walk = this; walk != nullptr; walk = walk->other_) walk->OnChangeAt(position);
}

void DatabaseWalk::OnChangeAt(size_t position) {
  if (!Awaits(position)) return;
  std::string bytes;
  Encode(position, bytes);
  kept_bytes_ += bytes.size();
  kept_.emplace(position, std::move(bytes));
}

KeyspaceWalk::KeyspaceWalk(const std::vector<Database*>& databases, EncodeKey encode,
                           bool keeps_use)
    : encode_(std::move(encode)) {
  for (Database* db : databases) {
    parts_.push_back(std::make_unique<DatabaseWalk>(*db, encode_, keeps_use));
  }
}

size_t KeyspaceWalk::kept_bytes() const {
  size_t bytes = 0;
  for (const std::unique_ptr<DatabaseWalk>& part : parts_) bytes += part->kept_bytes();
  return bytes;
}

void KeyspaceWalk::set_only_reads(bool value) {
  for (const std::unique_ptr<DatabaseWalk>& part : parts_) part->set_only_reads(value);
}

}  // namespace redouble::inline v0_1::memory
