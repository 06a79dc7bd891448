#include "redouble/backends/memory/snapshot/keys_saver.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {

KeysSaver::KeysSaver(EngineCore& core, KeyFilter keeps, bool keeps_use)
    : core_(core),
      keeps_(std::move(keeps)),
      delays_keys_(KeySaveDelayMicros(core.options()) > 0),
      sizes_(SizesOfAll()),
      walk_(
          Databases(),
          [this](const Database& db, const Database::Entry& entry, EvictionRecord use,
                 std::string& out) {
            if (!keeps_ || keeps_(entry.key())) AppendKey(db, entry, use, out);
          },
          keeps_use) {
  core_.AddWalk(walk_);
}

KeysSaver::~KeysSaver() { core_.RemoveWalk(walk_); }

std::vector<Database*> KeysSaver::Databases() const {
  std::vector<Database*> databases;
  for (int index = 0; index < core_.database_count(); ++index) {
    databases.push_back(&core_.database(index));
  }
  return databases;
}

std::vector<KeysSaver::Sizes> KeysSaver::SizesOfAll() {
  core_.RemoveExpired();
  std::vector<Sizes> sizes;
  for (const Database* db : Databases()) sizes.push_back(SizesOf(*db));
  return sizes;
}

KeysSaver::Sizes KeysSaver::SizesOf(const Database& db) const {
  if (!keeps_) return {db.size(), db.expiring()};
  Sizes sizes;
  for (size_t i = 0; i < db.size(); ++i) {
    if (!keeps_(db.at(i).key())) continue;
    ++sizes.keys;
    sizes.expiring += db.DeadlineOf(db.at(i)) ? 1 : 0;
  }
  return sizes;
}

SaveProgress KeysSaver::progress() const {
  SaveProgress progress{.written_keys = written_keys_, .kept_bytes = walk_.kept_bytes()};
  progress.peak_kept_bytes = std::max(peak_kept_bytes_, progress.kept_bytes);
  for (const Sizes& sizes : sizes_) progress.keys += sizes.keys;
  return progress;
}

absl::StatusOr<bool> KeysSaver::Continue(ByteSink& sink, size_t part_bytes) {
  // Only commands between the parts add to it.
  peak_kept_bytes_ = std::max<uint64_t>(peak_kept_bytes_, walk_.kept_bytes());
  const uint64_t before_keys = written_keys_;
  const auto is_full = [&] {
    return delays_keys_ ? written_keys_ > before_keys : buffer_.size() >= part_bytes;
  };
  while (!is_full() && index_ < sizes_.size()) {
    if (!std::exchange(has_begun_database_, true) && sizes_[index_].keys > 0) {
      AppendDatabase(index_, sizes_[index_], buffer_);
    }
    const size_t before = buffer_.size();
    if (walk_.Next(index_, buffer_)) {
      if (buffer_.size() > before) ++written_keys_;
    } else {
      ++index_;
      has_begun_database_ = false;
    }
  }
  const bool is_last = index_ == sizes_.size();
  EndPart(buffer_, is_last);
  REDOUBLE_RETURN_IF_ERROR(sink.Write(buffer_));
  buffer_.clear();
  return !is_last;
}

}  // namespace redouble::inline v0_1::memory
