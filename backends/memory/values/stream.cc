#include "redouble/backends/memory/values/stream.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "redouble/backends/memory/values/encodings/radix_tree_size.h"

namespace redouble::inline v0_1::memory {
namespace {

size_t BytesOf(StreamFields fields) {
  size_t bytes = 0;
  for (const std::string_view text : fields) bytes += text.size();
  return bytes;
}

}  // namespace

std::unique_ptr<Collection> Stream::Clone() const {
  auto copy = std::make_unique<Stream>();
  copy->nodes_ = nodes_;
  copy->size_ = size_;
  copy->last_id_ = last_id_;
  copy->first_id_ = first_id_;
  copy->max_deleted_id_ = max_deleted_id_;
  copy->entries_added_ = entries_added_;
  copy->radix_tree_nodes_ = radix_tree_nodes_;
  if (groups_ != nullptr) {
    copy->groups_ = std::make_unique<GroupMap>();
    for (const auto& [name, group] : *groups_) copy->groups_->emplace(name, group.Clone());
  }
  return copy;
}

size_t Stream::NodeFor(StreamId id) const {
  const auto above = std::upper_bound(
      nodes_.begin(), nodes_.end(), id,
      [](StreamId wanted, const StreamNode& node) { return wanted < node.master_id(); });
  return above == nodes_.begin() ? 0 : static_cast<size_t>(above - nodes_.begin()) - 1;
}

bool Stream::IsFull(const StreamNode& node, size_t added_bytes,
                    const StreamNodeLimits& limits) const {
  const bool bounded = limits.max_bytes != 0 && limits.max_bytes < kMaxEntryBytes;
  const size_t max_bytes = bounded ? limits.max_bytes : kMaxEntryBytes;
  if (node.size_bytes() + added_bytes >= max_bytes) return true;
  return limits.max_entries != 0 && node.live() + node.deleted() >= limits.max_entries;
}

void Stream::Append(StreamId id, StreamFields fields, const StreamNodeLimits& limits) {
  assert(id > last_id_);
  if (nodes_.empty() || IsFull(nodes_.back(), BytesOf(fields), limits)) {
    if (!nodes_.empty()) nodes_.back().ShrinkToFit();
    nodes_.emplace_back(id, fields);
    radix_tree_nodes_ = 0;
  }
  nodes_.back().Append(id, fields);
  ++size_;
  ++entries_added_;
  last_id_ = id;
  if (size_ == 1) first_id_ = id;
}

bool Stream::AppendNode(StreamNode node) {
  if (!nodes_.empty()) {
    const std::optional<StreamNode::Entry> last = nodes_.back().Last();
    const StreamId end = last ? last->id : nodes_.back().master_id();
    if (node.master_id() <= end) return false;
  }
  size_ += node.live();
  nodes_.push_back(std::move(node));
  radix_tree_nodes_ = 0;
  RefreshFirstId();
  return true;
}

bool Stream::Delete(StreamId id) {
  const Cursor at = From(id);
  if (!at.valid() || at.id() != id) return false;
  StreamNode& node = nodes_[at.node_];
  if (node.live() == 1) {
    nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(at.node_));
    radix_tree_nodes_ = 0;
  } else {
    node.Delete(*at.entry_);
  }
  --size_;
  max_deleted_id_ = std::max(max_deleted_id_, id);
  if (id == first_id_) RefreshFirstId();
  return true;
}

size_t Stream::DropFirstNode() {
  const size_t count = nodes_.front().live();
  nodes_.pop_front();
  radix_tree_nodes_ = 0;
  size_ -= count;
  return count;
}

size_t Stream::Trim(const StreamTrim& trim) {
  const auto removes_whole = [&](const StreamNode& node) {
    if (trim.max_length) return size_ - node.live() >= *trim.max_length;
    // Redis uses the last entry even if it is deleted.
    const std::optional<StreamNode::Entry> last = node.Last();
    return last && last->id < *trim.min_id;
  };
  size_t removed = 0;
  while (!nodes_.empty()) {
    if (trim.max_length && size_ <= *trim.max_length) break;
    StreamNode& node = nodes_.front();
    if (trim.limit != 0 && removed + node.live() > trim.limit) break;
    if (removes_whole(node)) {
      removed += DropFirstNode();
      continue;
    }
    if (trim.approximate) break;
    const size_t max_count =
        trim.max_length ? size_ - *trim.max_length : std::numeric_limits<size_t>::max();
    const size_t marked = node.DeleteFront(max_count, trim.min_id);
    size_ -= marked;
    removed += marked;
    break;
  }
  if (size_ == 0 || removed > 0) RefreshFirstId();
  return removed;
}

void Stream::RefreshFirstId() {
  first_id_ = size_ == 0 ? StreamId::Min() : From(StreamId::Min()).id();
}

bool Stream::Contains(StreamId id) const {
  const Cursor at = From(id);
  return at.valid() && at.id() == id;
}

Stream::Cursor Stream::From(StreamId start) const {
  Cursor cursor(this, nodes_.empty() ? 0 : NodeFor(start));
  if (nodes_.empty()) return cursor;
  cursor.entry_ = nodes_[cursor.node_].First();
  while (cursor.entry_ && cursor.entry_->id < start) {
    cursor.entry_ = nodes_[cursor.node_].Next(*cursor.entry_);
  }
  cursor.SkipForwards();
  return cursor;
}

Stream::Cursor Stream::BackFrom(StreamId end) const {
  Cursor cursor(this, nodes_.empty() ? 0 : NodeFor(end));
  if (nodes_.empty()) return cursor;
  cursor.entry_ = nodes_[cursor.node_].Last();
  while (cursor.entry_ && cursor.entry_->id > end) {
    cursor.entry_ = nodes_[cursor.node_].Previous(*cursor.entry_);
  }
  cursor.SkipBackwards();
  return cursor;
}

void Stream::Cursor::Next() {
  entry_ = stream_->nodes_[node_].Next(*entry_);
  SkipForwards();
}

void Stream::Cursor::Previous() {
  entry_ = stream_->nodes_[node_].Previous(*entry_);
  SkipBackwards();
}

void Stream::Cursor::SkipForwards() {
  const std::deque<StreamNode>& nodes = stream_->nodes_;
  while (!entry_ || entry_->deleted) {
    if (entry_) {
      entry_ = nodes[node_].Next(*entry_);
    } else if (node_ + 1 < nodes.size()) {
      entry_ = nodes[++node_].First();
    } else {
      return;
    }
  }
}

void Stream::Cursor::SkipBackwards() {
  const std::deque<StreamNode>& nodes = stream_->nodes_;
  while (!entry_ || entry_->deleted) {
    if (entry_) {
      entry_ = nodes[node_].Previous(*entry_);
    } else if (node_ > 0) {
      entry_ = nodes[--node_].Last();
    } else {
      return;
    }
  }
}

size_t Stream::RadixTreeNodes() const {
  if (radix_tree_nodes_ == 0) {
    std::vector<StreamId> ids;
    ids.reserve(nodes_.size());
    for (const StreamNode& node : nodes_) ids.push_back(node.master_id());
    radix_tree_nodes_ = RadixTreeSize(ids);
  }
  return radix_tree_nodes_;
}

const Stream::GroupMap& Stream::groups() const {
  static const GroupMap& none = *new GroupMap();
  return groups_ == nullptr ? none : *groups_;
}

StreamGroup* Stream::FindGroup(std::string_view name) {
  if (groups_ == nullptr) return nullptr;
  const auto found = groups_->find(name);
  return found == groups_->end() ? nullptr : &found->second;
}

bool Stream::AddGroup(std::string_view name, StreamGroup::Position position) {
  if (groups_ == nullptr) groups_ = std::make_unique<GroupMap>();
  return groups_->try_emplace(std::string(name), position).second;
}

bool Stream::RemoveGroup(std::string_view name) {
  if (groups_ == nullptr) return false;
  const auto found = groups_->find(name);
  if (found == groups_->end()) return false;
  groups_->erase(found);
  return true;
}

bool Stream::HasTombstonesFrom(StreamId start) const {
  if (size_ == 0 || max_deleted_id_ == StreamId::Min()) return false;
  // Entries deleted before the first remaining one leave no gap.
  if (max_deleted_id_ < first_id_) return false;
  return start <= max_deleted_id_;
}

std::optional<int64_t> Stream::EntriesReadAt(StreamId id, LagRule rule) const {
  const auto added = static_cast<int64_t>(entries_added_);
  if (entries_added_ == 0) return 0;
  if (size_ == 0 && id <= last_id_) return added;
  if (rule == LagRule::kValkey81 && id != StreamId::Min() && id < max_deleted_id_) {
    return std::nullopt;
  }
  if (id == last_id_) return added;
  if (id > last_id_) return std::nullopt;
  if (max_deleted_id_ == StreamId::Min() || max_deleted_id_ < first_id_) {
    // No entry is missing after the first one.
    if (id < first_id_) return added - static_cast<int64_t>(size_);
    if (id == first_id_) return added - static_cast<int64_t>(size_) + 1;
  }
  return std::nullopt;
}

bool Stream::HasDeletedFrom(StreamId start) const {
  return size_ > 0 && max_deleted_id_ != StreamId::Min() && start <= max_deleted_id_;
}

bool Stream::IsContiguous(StreamId last, StreamId next, LagRule rule) const {
  switch (rule) {
    case LagRule::kRedis70:
      return !HasTombstonesFrom(next);
    case LagRule::kLater:
      return last >= first_id_ && !HasTombstonesFrom(last);
    case LagRule::kValkey81:
      return !HasDeletedFrom(last);
  }
  return false;
}

void Stream::Advance(StreamGroup& group, StreamId id, LagRule rule) const {
  StreamGroup::Position& position = group.position;
  const StreamId last = position.last_delivered_id;
  if (id <= last) return;
  if (position.entries_read && IsContiguous(last, id, rule)) {
    ++*position.entries_read;
  } else if (entries_added_ != 0) {
    position.entries_read = EntriesReadAt(id, rule);
  }
  position.last_delivered_id = id;
}

std::optional<int64_t> Stream::Lag(const StreamGroup& group, LagRule rule) const {
  if (entries_added_ == 0) return 0;
  const StreamGroup::Position& position = group.position;
  if (rule == LagRule::kLater) {
    if (size_ == 0) return 0;
    if (position.last_delivered_id < first_id_ && max_deleted_id_ < first_id_) {
      return static_cast<int64_t>(size_);
    }
  }
  const auto added = static_cast<int64_t>(entries_added_);
  const bool has_gaps = rule == LagRule::kValkey81 ? HasDeletedFrom(position.last_delivered_id)
                                                   : HasTombstonesFrom(position.last_delivered_id);
  if (position.entries_read && !has_gaps) {
    return added - *position.entries_read;
  }
  const std::optional<int64_t> read = EntriesReadAt(position.last_delivered_id, rule);
  if (!read) return std::nullopt;
  return added - *read;
}

}  // namespace redouble::inline v0_1::memory
