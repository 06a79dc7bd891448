#include "redouble/backends/memory/values/list.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace redouble::inline v0_1::memory {
namespace {

// The greatest overhead of an element, in bytes.
constexpr size_t kElementOverheadBytes = 10;

}  // namespace

std::unique_ptr<Collection> List::Clone() const {
  auto copy = std::make_unique<List>();
  copy->size_ = size_;
  copy->node_limit_ = node_limit_;
  copy->nodes_ = nodes_;
  return copy;
}

void List::LimitNodes(const EncodingLimits& limits) {
  constexpr int kLargest = -5;
  constexpr int kMostElements = std::numeric_limits<int16_t>::max();
  node_limit_ = std::clamp(limits.list_max_listpack_size, kLargest, kMostElements);
}

size_t List::MaxNodeBytes() const {
  constexpr size_t kSafeNodeBytes = 8192;
  return node_limit_ < 0 ? size_t{2048} << -node_limit_ : kSafeNodeBytes;
}

size_t List::MaxNodeElements() const {
  if (node_limit_ < 0) return std::numeric_limits<size_t>::max();
  return std::max<size_t>(static_cast<size_t>(node_limit_), 1);
}

bool List::Fits(const Listpack& node, std::string_view element) const {
  return node.size_bytes() + element.size() + kElementOverheadBytes <= MaxNodeBytes() &&
         node.count() < MaxNodeElements();
}

void List::Push(End end, std::string_view element) {
  ++size_;
  if (end == End::kBack) {
    if (nodes_.empty() || !Fits(nodes_.back(), element)) nodes_.emplace_back();
    nodes_.back().Append(element);
  } else {
    if (nodes_.empty() || !Fits(nodes_.front(), element)) nodes_.emplace(nodes_.begin());
    nodes_.front().Prepend(element);
  }
}

void List::AppendNode(Listpack node) {
  if (node.empty()) return;
  size_ += node.count();
  nodes_.push_back(std::move(node));
}

std::string List::Pop(End end) {
  assert(size_ > 0);
  Cursor cursor = end == End::kBack ? Last() : First();
  std::string element = cursor.value().ToString();
  Erase(cursor);
  return element;
}

void List::Cursor::Next() {
  position_ = list_->nodes_[node_].Next(position_);
  if (position_ != Listpack::kNone || node_ + 1 == list_->nodes_.size()) return;
  position_ = list_->nodes_[++node_].First();
}

void List::Cursor::Previous() {
  position_ = list_->nodes_[node_].Previous(position_);
  if (position_ != Listpack::kNone || node_ == 0) return;
  position_ = list_->nodes_[--node_].Last();
}

List::Cursor List::First() const {
  if (nodes_.empty()) return Cursor(this, 0, Listpack::kNone);
  return Cursor(this, 0, nodes_.front().First());
}

List::Cursor List::Last() const {
  if (nodes_.empty()) return Cursor(this, 0, Listpack::kNone);
  return Cursor(this, nodes_.size() - 1, nodes_.back().Last());
}

List::Cursor List::At(size_t index) const {
  assert(index < size_);
  if (index < size_ / 2) {
    size_t node = 0;
    while (index >= nodes_[node].count()) index -= nodes_[node++].count();
    return Cursor(this, node, nodes_[node].Seek(static_cast<int64_t>(index)));
  }
  size_t from_end = size_ - index;
  size_t node = nodes_.size() - 1;
  while (from_end > nodes_[node].count()) from_end -= nodes_[node--].count();
  return Cursor(this, node, nodes_[node].Seek(-static_cast<int64_t>(from_end)));
}

void List::Replace(const Cursor& at, std::string_view element) {
  nodes_[at.node_].Replace(at.position_, element);
  SplitIfLarge(at.node_);
}

void List::InsertBefore(const Cursor& at, std::string_view element) {
  nodes_[at.node_].InsertBefore(at.position_, element);
  ++size_;
  SplitIfLarge(at.node_);
}

void List::InsertAfter(const Cursor& at, std::string_view element) {
  nodes_[at.node_].InsertAfter(at.position_, element);
  ++size_;
  SplitIfLarge(at.node_);
}

void List::SplitIfLarge(size_t node) {
  const size_t count = nodes_[node].count();
  const bool fits = nodes_[node].size_bytes() <= MaxNodeBytes() && count <= MaxNodeElements();
  if (fits || count < 2) return;
  Listpack tail = nodes_[node];
  tail.EraseRange(0, count / 2);
  nodes_[node].EraseRange(static_cast<int64_t>(count / 2), count - count / 2);
  nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(node) + 1, std::move(tail));
}

void List::Erase(Cursor& at, bool backwards) {
  --size_;
  const size_t node = at.node_;
  if (nodes_[node].count() == 1) {
    nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(node));
    const bool ends = backwards ? node == 0 : node == nodes_.size();
    if (ends) {
      at.position_ = Listpack::kNone;
      return;
    }
    at.node_ = backwards ? node - 1 : node;
    at.position_ = backwards ? nodes_[at.node_].Last() : nodes_[at.node_].First();
    return;
  }
  // Erasing an element does not move its predecessor.
  Cursor previous = at;
  if (backwards) previous.Previous();
  at.position_ = nodes_[node].Erase(at.position_);
  if (backwards) {
    at = previous;
  } else if (at.position_ == Listpack::kNone && node + 1 < nodes_.size()) {
    at.node_ = node + 1;
    at.position_ = nodes_[at.node_].First();
  }
}

void List::Trim(size_t first, size_t last) {
  assert(first <= last && last < size_);
  const size_t behind = size_ - 1 - last;
  EraseFront(first);
  EraseBack(behind);
}

void List::EraseFront(size_t count) {
  size_ -= count;
  size_t whole_nodes = 0;
  while (whole_nodes < nodes_.size() && nodes_[whole_nodes].count() <= count) {
    count -= nodes_[whole_nodes++].count();
  }
  nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<ptrdiff_t>(whole_nodes));
  if (count > 0) nodes_.front().EraseRange(0, count);
}

void List::EraseBack(size_t count) {
  size_ -= count;
  while (!nodes_.empty() && nodes_.back().count() <= count) {
    count -= nodes_.back().count();
    nodes_.pop_back();
  }
  if (count > 0) nodes_.back().EraseRange(-static_cast<int64_t>(count), count);
}

}  // namespace redouble::inline v0_1::memory
