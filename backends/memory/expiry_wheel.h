// ExpiryWheel: which key expires next, in the order (deadline, order of setting).
//
// A hierarchical timing wheel over milliseconds: eleven levels of 64 slots cover all of int64. A
// node stands in the level of the highest group of six bits in which its deadline differs from the
// wheel's time; when the wheel reaches a slot its nodes move down. Adding and removing cost O(1), a
// node moves down at most ten times, so ten million keys that expire in one step cost per key what
// ten do. Nodes of equal deadline always share a slot, in the order in which they were added.
//
// Nodes are numbered; the keyspace keeps a key's number in its entry and tells the wheel when an
// entry moves.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_EXPIRY_WHEEL_H_
#define REDOUBLE_BACKENDS_MEMORY_EXPIRY_WHEEL_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace redouble::memory {

class ExpiryWheel {
 public:
  using NodeId = uint32_t;
  static constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

  ExpiryWheel() { Clear(); }

  // Adds a deadline for the entry at `position`, behind all nodes of the same deadline. A deadline
  // before the wheel's time counts as due now. O(1).
  NodeId Add(int64_t deadline_ms, uint32_t position);
  void Remove(NodeId node);
  // The entry of the node stands elsewhere now.
  void SetPosition(NodeId node, uint32_t position) { nodes_[node].position = position; }
  // Asks the processor for the node's memory without waiting for it.
  void Prefetch(NodeId node) const { __builtin_prefetch(&nodes_[node], /*rw=*/1); }
  uint32_t position(NodeId node) const { return nodes_[node].position; }
  int64_t deadline_ms(NodeId node) const { return nodes_[node].deadline_ms; }

  size_t size() const { return size_; }
  // For picks at random: the position of the entry of one of place_count() places for nodes, some
  // of which are free.
  size_t place_count() const { return nodes_.size(); }
  std::optional<uint32_t> PositionAt(size_t place) const {
    if (nodes_[place].slot == kFreeSlot) return std::nullopt;
    return nodes_[place].position;
  }

  // The position of the first node whose deadline is at or before `time_ms`; none when there is
  // none, and then the wheel's time is `time_ms`. The node stays until it is removed. Times must
  // not decrease. Amortised O(1).
  std::optional<uint32_t> FirstDue(int64_t time_ms);
  // Calls `visit(position)` for up to `count` of the nodes that FirstDue gives from here on, in
  // that order, as far as it has sorted them already: for one at least behind a node that it gave.
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
  // A time that no deadline is before, and that is a deadline once FirstDue has been asked for it;
  // none when the wheel is empty. O(1).
  std::optional<int64_t> EarliestBound() const;
  // The earliest deadline, or the wheel's time when it is late; none when the wheel is empty. Takes
  // as long as there are nodes in the first slot that has any; FirstDue then moves them down, so
  // that to go from deadline to deadline is amortised O(1) per node.
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
  // Moves the nodes of a slot down after the wheel's time has reached it.
  void Cascade(uint16_t slot);
  // The first occupied slot; none when the wheel is empty. The lowest occupied level has it.
  std::optional<uint16_t> FirstSlot() const;
  int64_t StartOf(uint16_t slot) const;

  int64_t now_ms_ = 0;
  size_t size_ = 0;
  std::vector<Node> nodes_;
  NodeId free_ = kNoNode;
  std::array<NodeId, kLevels * kSlots> heads_;
  std::array<uint64_t, kLevels> occupied_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_EXPIRY_WHEEL_H_
