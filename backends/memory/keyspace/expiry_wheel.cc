#include "redouble/backends/memory/keyspace/expiry_wheel.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace redouble::inline v0_1::memory {

void ExpiryWheel::Clear() {
  nodes_.clear();
  free_ = kNoNode;
  size_ = 0;
  // The heads of slots that are not occupied are never read.
  occupied_.fill(0);
}

ExpiryWheel::NodeId ExpiryWheel::Take() {
  if (free_ == kNoNode) {
    nodes_.emplace_back();
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  const NodeId node = free_;
  free_ = nodes_[node].next;
  return node;
}

ExpiryWheel::NodeId ExpiryWheel::Add(int64_t deadline_ms, uint32_t position) {
  const NodeId node = Take();
  nodes_[node].deadline_ms = deadline_ms;
  nodes_[node].position = position;
  Link(node);
  ++size_;
  return node;
}

void ExpiryWheel::Remove(NodeId node) {
  Unlink(node);
  nodes_[node].slot = kFreeSlot;
  nodes_[node].next = free_;
  free_ = node;
  --size_;
}

uint16_t ExpiryWheel::SlotFor(int64_t deadline_ms) const {
  const auto deadline = static_cast<uint64_t>(std::max(deadline_ms, now_ms_));
  const uint64_t differs = deadline ^ static_cast<uint64_t>(now_ms_);
  const int level = differs == 0 ? 0 : (std::bit_width(differs) - 1) / kSlotBits;
  const uint64_t slot = (deadline >> (level * kSlotBits)) & (kSlots - 1);
  return static_cast<uint16_t>(level * kSlots + slot);
}

void ExpiryWheel::Link(NodeId id) {
  Node& node = nodes_[id];
  node.slot = SlotFor(node.deadline_ms);
  NodeId& head = heads_[node.slot];
  uint64_t& occupied = occupied_[node.slot / kSlots];
  const uint64_t bit = uint64_t{1} << (node.slot % kSlots);
  if ((occupied & bit) == 0) {
    head = node.previous = node.next = id;
    occupied |= bit;
    return;
  }
  node.next = head;
  node.previous = nodes_[head].previous;
  nodes_[node.previous].next = id;
  nodes_[head].previous = id;
}

void ExpiryWheel::Unlink(NodeId id) {
  const Node& node = nodes_[id];
  NodeId& head = heads_[node.slot];
  if (node.next == id) {
    occupied_[node.slot / kSlots] &= ~(uint64_t{1} << (node.slot % kSlots));
    return;
  }
  nodes_[node.previous].next = node.next;
  nodes_[node.next].previous = node.previous;
  if (head == id) head = node.next;
}

void ExpiryWheel::Cascade(uint16_t slot) {
  NodeId node = heads_[slot];
  const NodeId last = nodes_[node].previous;
  occupied_[slot / kSlots] &= ~(uint64_t{1} << (slot % kSlots));
  while (true) {
    const NodeId next = nodes_[node].next;
    const bool was_last = node == last;
    Link(node);
    if (was_last) return;
    node = next;
  }
}

std::optional<uint16_t> ExpiryWheel::FirstSlot() const {
  for (int level = 0; level < kLevels; ++level) {
    if (occupied_[level] != 0) {
      return static_cast<uint16_t>(level * kSlots + std::countr_zero(occupied_[level]));
    }
  }
  return std::nullopt;
}

int64_t ExpiryWheel::StartOf(uint16_t slot) const {
  const int shift = (slot / kSlots) * kSlotBits;
  const uint64_t above = shift + kSlotBits >= 64
                             ? 0
                             : (static_cast<uint64_t>(now_ms_) >> (shift + kSlotBits))
                                   << (shift + kSlotBits);
  return static_cast<int64_t>(above | (static_cast<uint64_t>(slot % kSlots) << shift));
}

std::optional<uint32_t> ExpiryWheel::FirstDue(int64_t time_ms) {
  assert(time_ms >= now_ms_);
  while (const std::optional<uint16_t> slot = FirstSlot()) {
    const int64_t start = StartOf(*slot);
    if (start > time_ms) break;
    // Level 0: every node of the slot has this deadline, or an earlier one that was added late.
    if (*slot < kSlots) return nodes_[heads_[*slot]].position;
    now_ms_ = start;
    Cascade(*slot);
  }
  // Advancing past the occupied slots never skips one: they all begin later.
  now_ms_ = time_ms;
  return std::nullopt;
}

std::optional<int64_t> ExpiryWheel::EarliestBound() const {
  const std::optional<uint16_t> slot = FirstSlot();
  if (!slot) return std::nullopt;
  return StartOf(*slot);
}

std::optional<int64_t> ExpiryWheel::Earliest() const {
  const std::optional<uint16_t> slot = FirstSlot();
  if (!slot) return std::nullopt;
  const NodeId head = heads_[*slot];
  int64_t earliest_ms = nodes_[head].deadline_ms;
  for (NodeId node = nodes_[head].next; node != head; node = nodes_[node].next) {
    earliest_ms = std::min(earliest_ms, nodes_[node].deadline_ms);
  }
  return std::max(earliest_ms, now_ms_);
}

}  // namespace redouble::inline v0_1::memory
