#include "redouble/sim/server/replication/replication_stream.h"

#include <algorithm>
#include <utility>

namespace redouble::inline v0_1::sim {

ReplicationStream::ReplicationStream(std::function<std::string()> new_id)
    : new_id_(std::move(new_id)), id_(new_id_()) {
  ForgetFormer();
}

void ReplicationStream::ForgetFormer() {
  former_id_.assign(id_.size(), '0');
  former_end_ = -1;
}

size_t ReplicationStream::held_bytes() const {
  if (!held_) return 0;
  return std::min(kept_.size(), static_cast<size_t>(std::max<int64_t>(offset_ - *held_ + 1, 0)));
}

int64_t ReplicationStream::kept_bytes() const {
  return static_cast<int64_t>(std::min(kept_.size(), std::max(limit_bytes_, held_bytes())));
}

void ReplicationStream::Hold(std::optional<int64_t> offset) {
  held_ = offset;
  Trim();
}

void ReplicationStream::Trim() {
  const size_t needed = std::max(limit_bytes_, held_bytes());
  if (kept_.size() <= needed || kept_.size() <= 2 * limit_bytes_) return;
  kept_.erase(0, kept_.size() - needed);
  // What a slow replica needed may have been much.
  if (kept_.capacity() > 4 * std::max(limit_bytes_, kept_.size())) kept_.shrink_to_fit();
}

void ReplicationStream::Begin(size_t limit_bytes) {
  limit_bytes_ = limit_bytes;
  is_kept_ = true;
}

void ReplicationStream::SetLimit(size_t limit_bytes) {
  limit_bytes_ = limit_bytes;
  Trim();
}

void ReplicationStream::End() {
  is_kept_ = false;
  kept_.clear();
  kept_.shrink_to_fit();
}

void ReplicationStream::StartAnew() {
  id_ = new_id_();
  ForgetFormer();
}

void ReplicationStream::Adopt(std::string_view id, int64_t offset) {
  id_ = id;
  offset_ = offset;
  kept_.clear();
  ForgetFormer();
}

void ReplicationStream::Resume(std::string_view id, int64_t offset) {
  offset_ = offset;
  former_id_ = id;
  former_end_ = offset + 1;
}

void ReplicationStream::Rename(std::string_view id) {
  former_id_ = std::exchange(id_, std::string(id));
  former_end_ = offset_ + 1;
}

void ReplicationStream::Append(std::string_view bytes) {
  offset_ += static_cast<int64_t>(bytes.size());
  if (!is_kept_) return;
  kept_.append(bytes);
  Trim();
}

std::optional<std::string> ReplicationStream::From(std::string_view id, int64_t offset) const {
  const bool is_named = id == id_ || (id == former_id_ && offset <= former_end_);
  if (!is_kept_ || !is_named) return std::nullopt;
  const int64_t first = offset_ - static_cast<int64_t>(kept_.size()) + 1;
  if (offset < first || offset > offset_ + 1) return std::nullopt;
  return kept_.substr(static_cast<size_t>(offset - first));
}

}  // namespace redouble::inline v0_1::sim
