// Stream: a Redis stream: entries in the order of their ids, in the same nodes as in Redis, and the
// consumer groups that read them.
//
// Appending costs at most one node; reaching an id is O(log nodes + entries of one node). A stream
// without entries remains a value: its last id and its groups outlive the entries.
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
#include "redouble/backends/memory/values/encodings/stream_node.h"
#include "redouble/backends/memory/values/stream_group.h"
#include "redouble/backends/memory/values/value.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::memory {

// The limits of a node: stream-node-max-bytes and stream-node-max-entries; 0 means no limit.
struct StreamNodeLimits {
  size_t max_bytes = 4096;
  size_t max_entries = 100;
};

// Which entries to remove from the front of a stream.
struct StreamTrim {
  // Keep at most this many entries.
  std::optional<uint64_t> max_length = std::nullopt;
  // Keep the entries from this id on.
  std::optional<StreamId> min_id = std::nullopt;
  // Remove whole nodes only.
  bool approximate = false;
  // Remove at most this many entries; 0 means no limit.
  size_t limit = 0;
};

class Stream final : public Collection {
 public:
  static constexpr store::KeyType kType = store::KeyType::kStream;
  // The greatest total size of the fields and values of one entry.
  static constexpr size_t kMaxEntryBytes = size_t{1} << 30;

  using GroupMap = absl::btree_map<std::string, StreamGroup, std::less<>>;

  store::KeyType type() const override { return kType; }
  std::unique_ptr<Collection> Clone() const override;
  std::string_view encoding() const override { return "stream"; }
  bool empty() const override { return false; }

  // The number of entries.
  size_t size() const { return size_; }
  // The greatest id that was ever added, or the id that XSETID set.
  StreamId last_id() const { return last_id_; }
  // The id of the first entry; 0-0 if the stream is empty.
  StreamId first_id() const { return first_id_; }
  // The greatest id that Delete removed, or the id that XSETID set.
  StreamId max_deleted_id() const { return max_deleted_id_; }
  // The number of entries that were ever added, or the number that XSETID set.
  uint64_t entries_added() const { return entries_added_; }
  void set_last_id(StreamId id) { last_id_ = id; }
  void set_max_deleted_id(StreamId id) { max_deleted_id_ = id; }
  void set_entries_added(uint64_t count) { entries_added_ = count; }

  // Appends a whole node. Returns false and changes nothing if its entries are not above the
  // existing ones. last_id() and entries_added() do not change.
  bool AppendNode(StreamNode node);
  // Appends an entry with at least one field. Its id must be above last_id(), and its fields and
  // values together at most kMaxEntryBytes.
  void Append(StreamId id, StreamFields fields, const StreamNodeLimits& limits);
  // Removes an entry. Returns false if no entry has that id.
  bool Delete(StreamId id);
  // Removes entries from the front. Returns their number.
  size_t Trim(const StreamTrim& trim);

  bool Contains(StreamId id) const;
  // The id of the last entry, which is below last_id() if the entry of that id was removed. The
  // stream must not be empty.
  StreamId LastEntryId() const { return BackFrom(StreamId::Max()).id(); }

  // An entry of the stream. A change of the stream's entries makes it invalid.
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
    // Moves to the next entry that is not deleted, starting with `entry_`, in later nodes if
    // necessary.
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
  // The number of nodes of the radix tree in which Redis would keep the stream's nodes. O(nodes)
  // when nodes were added or removed since the last call, otherwise O(1).
  size_t RadixTreeNodes() const;

  bool has_groups() const { return groups_ != nullptr && !groups_->empty(); }
  // The consumer groups by name; an empty map if the stream has no groups.
  const GroupMap& groups() const;
  // Returns null if the group does not exist.
  StreamGroup* FindGroup(std::string_view name);
  // Adds a group. Returns false and changes nothing if a group of that name exists.
  bool AddGroup(std::string_view name, StreamGroup::Position position);
  bool RemoveGroup(std::string_view name);

  // How the entries that a group has read are counted.
  enum class LagRule {
    kRedis70,
    // Also knows the lag of a group that has read none of the remaining entries. Tombstones count
    // from the last delivered entry. Source: Redis 8.0 t_stream.c.
    kLater,
    // Tombstones count from the last delivered entry, also those before the first remaining entry.
    // Source: Valkey 8.1.1, which was asked.
    kValkey81,
  };
  // The number of entries that were ever added up to and including `id`; nullopt if it cannot be
  // determined.
  std::optional<int64_t> EntriesReadAt(StreamId id, LagRule rule = LagRule::kRedis70) const;
  // Moves the group's position to an entry that the group reads.
  void Advance(StreamGroup& group, StreamId id, LagRule rule = LagRule::kRedis70) const;
  // The number of entries that the group has not read; nullopt if it cannot be determined.
  std::optional<int64_t> Lag(const StreamGroup& group, LagRule rule = LagRule::kRedis70) const;

 private:
  // The node that contains `id` or would contain it: the last node whose master id is not above
  // `id`, or the first node if all master ids are above it.
  size_t NodeFor(StreamId id) const;
  bool IsFull(const StreamNode& node, size_t added_bytes, const StreamNodeLimits& limits) const;
  // Removes the first node. Returns the number of its entries.
  size_t DropFirstNode();
  void RefreshFirstId();
  // True if entries at or above `start` were deleted individually, and one before them remains.
  bool HasTombstonesFrom(StreamId start) const;
  // True if entries at or above `start` were deleted individually, and any entry remains.
  bool HasDeletedFrom(StreamId start) const;
  // True if no entry between a group's last delivered one and `next` is known to be missing.
  bool IsContiguous(StreamId last, StreamId next, LagRule rule) const;

  std::deque<StreamNode> nodes_;
  size_t size_ = 0;
  StreamId last_id_;
  StreamId first_id_;
  StreamId max_deleted_id_;
  uint64_t entries_added_ = 0;
  // 0: not counted yet.
  mutable size_t radix_tree_nodes_ = 1;
  std::unique_ptr<GroupMap> groups_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_H_
