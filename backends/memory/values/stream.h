// Stream: a Redis stream: entries in the order of their ids, in nodes as Redis cuts them, and the
// consumer groups that read them.
//
// Adding at the end is O(1) but for the bytes of one node; reaching an id is O(log nodes + entries
// of one node). A stream without entries is a value like any other: its last id and its groups
// outlive the entries.
//
//   Stream stream;
//   stream.Append({5, 1}, {{"name", "Ann"}}, {});
//   for (Stream::Cursor at = stream.From(StreamId::Min()); at.valid(); at.Next()) ...
//
// Thread-safety: one thread.
// Source: Redis 7.0 XADD, XTRIM, XDEL, XINFO.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "backends/memory/values/stream_group.h"
#include "backends/memory/values/stream_node.h"
#include "backends/memory/values/value.h"
#include "core/store/key_type.h"
#include "core/store/stream_id.h"

namespace redouble::memory {

// When a node is full: stream-node-max-bytes and stream-node-max-entries, 0 for no limit.
struct StreamNodeLimits {
  size_t max_bytes = 4096;
  size_t max_entries = 100;
};

// What to remove from a stream's front.
struct StreamTrim {
  // Keep that many entries at most.
  std::optional<uint64_t> max_length = std::nullopt;
  // Keep entries from that id on.
  std::optional<StreamId> min_id = std::nullopt;
  // Remove whole nodes only.
  bool approximate = false;
  // Remove no more than that; 0: no limit.
  size_t limit = 0;
};

class Stream final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kStream;
  // Fields and values of one entry together.
  static constexpr size_t kMaxEntryBytes = size_t{1} << 30;

  using GroupMap = absl::btree_map<std::string, StreamGroup, std::less<>>;

  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override;
  std::string_view encoding() const override { return "stream"; }
  bool empty() const override { return false; }

  // How many entries there are.
  size_t size() const { return size_; }
  // The greatest id that was ever added, or was set.
  StreamId last_id() const { return last_id_; }
  // The id of the first entry; 0-0 when there is none.
  StreamId first_id() const { return first_id_; }
  // The greatest id that Delete removed, or was set.
  StreamId max_deleted_id() const { return max_deleted_id_; }
  // How many entries were ever added, or what was set.
  uint64_t entries_added() const { return entries_added_; }
  void set_last_id(StreamId id) { last_id_ = id; }
  void set_max_deleted_id(StreamId id) { max_deleted_id_ = id; }
  void set_entries_added(uint64_t count) { entries_added_ = count; }

  // Adds a whole node behind all others; false, and nothing changed, when its entries do not follow
  // theirs. last_id() and entries_added() stay what they are.
  bool AppendNode(StreamNode node);
  // Adds an entry with at least one field; its id is above last_id(), its fields and values
  // together are at most kMaxEntryBytes.
  void Append(StreamId id, StreamFields fields, const StreamNodeLimits& limits);
  // Removes an entry; false when there is none with that id.
  bool Delete(StreamId id);
  // Removes entries from the front. Returns how many.
  size_t Trim(const StreamTrim& trim);

  bool Contains(StreamId id) const;
  // The id of the last entry, which is below last_id() when that one was removed. Only when there
  // are entries.
  StreamId LastEntryId() const { return BackFrom(StreamId::Max()).id(); }

  // An entry of the stream; what changes the stream's entries makes it invalid.
  class Cursor {
   public:
    bool valid() const { return entry_.has_value(); }
    StreamId id() const { return entry_->id; }
    size_t field_count() const { return entry_->field_count; }
    // Calls visit(field, value), both ListpackValue, for each field in order.
    template <typename Visit>
    void VisitFields(Visit visit) const {
      stream_->nodes_[node_].VisitFields(*entry_, visit);
    }
    void Next();
    void Previous();

   private:
    friend class Stream;
    Cursor(const Stream* stream, size_t node) : stream_(stream), node_(node) {}
    // From `entry_` on, or from the next nodes when there is none, to an entry that is not deleted.
    void SkipForwards();
    void SkipBackwards();

    const Stream* stream_;
    size_t node_;
    std::optional<StreamNode::Entry> entry_;
  };

  // The first entry at or above `start`.
  Cursor From(StreamId start) const;
  // The last entry at or below `end`.
  Cursor BackFrom(StreamId end) const;

  size_t node_count() const { return nodes_.size(); }
  const StreamNode& node(size_t index) const { return nodes_[index]; }
  // Nodes of the radix tree that Redis would keep the nodes in. O(nodes) after nodes came or went.
  size_t RadixTreeNodes() const;

  bool has_groups() const { return groups_ != nullptr && !groups_->empty(); }
  // Of a stream without groups: an empty map.
  const GroupMap& groups() const;
  // Null when there is no such group.
  StreamGroup* FindGroup(std::string_view name);
  // False, and nothing changed, when there is one of that name.
  bool AddGroup(std::string_view name, StreamGroup::Position position);
  bool RemoveGroup(std::string_view name);

  // How many entries were ever added up to `id`; none when that cannot be told.
  std::optional<int64_t> EntriesReadAt(StreamId id) const;
  // Moves the group's position to an entry that it reads.
  void Advance(StreamGroup& group, StreamId id) const;
  // How many entries the group has not read; none when that cannot be told.
  std::optional<int64_t> Lag(const StreamGroup& group) const;

 private:
  // The node that `id` is in or would be in: the last one whose master is not above it; the first
  // one when all are above.
  size_t NodeFor(StreamId id) const;
  bool IsFull(const StreamNode& node, size_t added_bytes, const StreamNodeLimits& limits) const;
  // Removes the whole first node. Returns how many entries it had.
  size_t DropFirstNode();
  void RefreshFirstId();
  // True when entries from `start` on were deleted one by one.
  bool HasTombstonesFrom(StreamId start) const;

  std::deque<StreamNode> nodes_;
  size_t size_ = 0;
  StreamId last_id_;
  StreamId first_id_;
  StreamId max_deleted_id_;
  uint64_t entries_added_ = 0;
  // 0: has to be counted.
  mutable size_t radix_tree_nodes_ = 1;
  std::unique_ptr<GroupMap> groups_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_H_
