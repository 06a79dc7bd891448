// ExpiryWheel: the next key to expire, in the order (deadline, order of setting).
//
// A hierarchical timing wheel over milliseconds: eleven levels of 64 slots cover all of int64. A
// node is in the level of the highest group of six bits in which its deadline differs from the
// wheel's time. When the wheel reaches a slot, its nodes move down. Adding and removing cost O(1),
// and a node moves down at most ten times, so that ten million keys which expire in one step cost
// as much per key as ten. Nodes of equal deadline always share a slot, in the order in which they
// were added.
//
// Nodes are numbered. The database keeps a key's node id in its entry, and calls SetPosition when
// the entry moves.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EXPIRY_WHEEL_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EXPIRY_WHEEL_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace redouble::inline v0_1::memory {

class ExpiryWheel {
 public:
  using NodeId = uint32_t;
  static constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

  ExpiryWheel() { Clear(); }

  // Adds a deadline for the entry at `position`, after all nodes of the same deadline. A deadline
  // before the wheel's time is due now. O(1).
  NodeId Add(int64_t deadline_ms, uint32_t position);
  void Remove(NodeId node);
  // The node's entry has moved to `position`.
  void SetPosition(NodeId node, uint32_t position) { nodes_[node].position = position; }
  // Prefetches the node's memory.
  void Prefetch(NodeId node) const { __builtin_prefetch(&nodes_[node], /*rw=*/1); }
  uint32_t position(NodeId node) const { return nodes_[node].position; }
  int64_t deadline_ms(NodeId node) const { return nodes_[node].deadline_ms; }

  size_t size() const { return size_; }
  // For random picks: the position of the entry of one of place_count() nodes; nullopt for a free
  // node.
  size_t place_count() const { return nodes_.size(); }
  std::optional<uint32_t> PositionAt(size_t place) const {
    if (nodes_[place].slot == kFreeSlot) return std::nullopt;
    return nodes_[place].position;
  }

  // The position of the first node whose deadline is at or before `time_ms`; nullopt if there is
  // none, and then the wheel's time becomes `time_ms`. The node stays until it is removed.
  // `time_ms` must not decrease between calls. Amortized O(1).
  std::optional<uint32_t> FirstDue(int64_t time_ms);
  // Calls `visit(position)` for up to `count` of the next nodes that FirstDue will return, in that
  // order, as far as they are sorted already: for at least one after FirstDue has returned a node.
  template <typename Visit>
  void VisitFirst(size_t count, Visit visit) const {
    for (uint64_t slots = occupied_[0]; slots != 0; slots &= slots - 1) {
      const NodeId head = heads_[std::countr_zero(slots)];
      NodeId node = head;
      do {
        if (count-- == 0) return;
        visit(nodes_[node].position);
        node = nodes_[node].next;
      } while (node != head);
    }
  }
  // A lower bound of all deadlines, which becomes exact when FirstDue has been called with it;
  // nullopt if the wheel is empty. O(1).
  std::optional<int64_t> EarliestBound() const;
  // The earliest deadline, or the wheel's time if that is later; nullopt if the wheel is empty.
  // Linear in the nodes of the first occupied slot; FirstDue then moves them down, so that going
  // from deadline to deadline is amortized O(1) per node.
  std::optional<int64_t> Earliest() const;

  void Clear();

 private:
  static constexpr int kSlotBits = 6;
  static constexpr int kSlots = 1 << kSlotBits;
  static constexpr int kLevels = 11;
  static constexpr uint16_t kFreeSlot = std::numeric_limits<uint16_t>::max();

  struct Node {
    int64_t deadline_ms;
    uint32_t position;
    NodeId previous;  // In the slot's ring.
    NodeId next;      // In the slot's ring, or of the free nodes.
    uint16_t slot;    // level * kSlots + slot
  };

  NodeId Take();
  uint16_t SlotFor(int64_t deadline_ms) const;
  void Link(NodeId node);
  void Unlink(NodeId node);
  // Moves the nodes of a slot down, after the wheel's time has reached it.
  void Cascade(uint16_t slot);
  // The first occupied slot, which is in the lowest occupied level; nullopt if the wheel is empty.
  std::optional<uint16_t> FirstSlot() const;
  int64_t StartOf(uint16_t slot) const;

  int64_t now_ms_ = 0;
  size_t size_ = 0;
  std::vector<Node> nodes_;
  NodeId free_ = kNoNode;
  std::array<NodeId, kLevels * kSlots> heads_;
  std::array<uint64_t, kLevels> occupied_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_EXPIRY_WHEEL_H_
