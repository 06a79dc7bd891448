#include "redouble/backends/memory/values/list.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace redouble::inline v0_1::memory {
namespace {

// What Redis estimates as the overhead of an element, in bytes.
constexpr size_t kElementOverheadBytes = 8;

constexpr size_t kZiplistHeaderBytes = 11;

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

int64_t NodeLimitOf(const EncodingLimits& limits) {
  constexpr int kLargest = -5;
  constexpr int kMostElements = std::numeric_limits<int16_t>::max();
  return std::clamp(limits.list_max_listpack_size, kLargest, kMostElements);
}

}  // namespace

std::unique_ptr<Collection> List::Clone() const { return std::make_unique<List>(*this); }

List::List(const EncodingLimits& limits)
    : has_plain_nodes_(limits.plain_list_nodes), node_limit_(NodeLimitOf(limits)) {}

void List::Configure(const EncodingLimits& limits) {
  assert(empty());
  *this = List(limits);
  is_packed_ = limits.packed_lists;
}

List::NodeLimit List::LimitOf(int64_t node_limit) {
  constexpr size_t kSafeNodeBytes = 8192;
  if (node_limit < 0) return {.bytes = size_t{2048} << -node_limit, .elements = kUnlimited};
  return {.bytes = kSafeNodeBytes,
          .elements = static_cast<size_t>(std::max<int64_t>(node_limit, 1))};
}

void List::PrepareToAdd(size_t count, size_t bytes, const EncodingLimits& limits) {
  if (!is_packed_) return;
  bytes += nodes_.empty() ? Listpack::kEmptyBytes : nodes_.front().size_bytes();
  if (!LimitOf(NodeLimitOf(limits)).Allows(bytes, size_ + count)) ConvertToQuicklist(limits);
}

void List::ConvertToQuicklist(const EncodingLimits& limits) {
  is_packed_ = false;
  node_limit_ = NodeLimitOf(limits);
}

void List::PackIfWithin(const EncodingLimits& limits, size_t divisor) {
  if (nodes_.size() != 1 || IsPlain(nodes_.front())) return;
  const int64_t node_limit = NodeLimitOf(limits);
  auto [bytes, elements] = LimitOf(node_limit);
  // Redis does not look at the bytes here if the limit is one of elements.
  if (node_limit >= 0) bytes = kUnlimited;
  const NodeLimit limit{.bytes = bytes / divisor, .elements = elements / divisor};
  is_packed_ = limit.Allows(nodes_.front().size_bytes(), size_);
}

void List::PackIfSmall(const EncodingLimits& limits) {
  if (is_packed_ || !limits.packed_lists) return;
  PackIfWithin(limits, /*divisor=*/2);
}

void List::ChooseEncoding(const EncodingLimits& limits) {
  if (!limits.packed_lists) return;
  if (is_packed_) return PrepareToAdd(0, 0, limits);
  PackIfWithin(limits, /*divisor=*/1);
}

bool List::Fits(const Listpack& node, std::string_view element) const {
  if (is_packed_) return true;
  return LimitOf(node_limit_)
      .Allows(node.size_bytes() + element.size() + kElementOverheadBytes, node.count() + 1);
}

bool List::IsLarge(std::string_view element) const {
  return has_plain_nodes_ && !is_packed_ && element.size() > LimitOf(node_limit_).bytes;
}

bool List::IsPlain(const Listpack& node) const {
  if (!has_plain_nodes_ || is_packed_ || node.count() != 1) return false;
  const ListpackValue value = node.Get(node.First());
  return !value.is_integer() && IsLarge(value.text());
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
  Listpack& node = nodes_[at.node_];
  const bool is_large = IsLarge(element);
  const bool was_plain = IsPlain(node);
  if (is_large == was_plain) {
    node.Replace(at.position_, element);
    return;
  }
  if (was_plain) {
    Insert(at, element, End::kBack);
    EraseNode(at.node_);
    --size_;
    return;
  }
  SplitAfter(at);
  InsertNode(at.node_ + 1, element);
  Listpack& before = nodes_[at.node_];
  before.Erase(at.position_);
  if (before.empty()) {
    EraseNode(at.node_);
  } else {
    MergeAround(at.node_ + 1);
  }
}

void List::InsertBefore(const Cursor& at, std::string_view element) {
  Insert(at, element, End::kFront);
}

void List::InsertAfter(const Cursor& at, std::string_view element) {
  Insert(at, element, End::kBack);
}

void List::Insert(const Cursor& at, std::string_view element, End side) {
  ++size_;
  Listpack& node = nodes_[at.node_];
  const bool after = side == End::kBack;
  if (Fits(node, element)) {
    after ? node.InsertAfter(at.position_, element) : node.InsertBefore(at.position_, element);
    return;
  }
  const Listpack::Position neighbor = after ? node.Next(at.position_) : node.Previous(at.position_);
  if (neighbor == Listpack::kNone) return InsertBesideNode(at.node_, element, side);
  Cursor last_of_first_half = at;
  if (!after) last_of_first_half.position_ = neighbor;
  SplitAfter(last_of_first_half);
  if (IsLarge(element)) return InsertNode(at.node_ + 1, element);
  if (after) {
    nodes_[at.node_ + 1].Prepend(element);
  } else {
    nodes_[at.node_].Append(element);
  }
  MergeAround(after ? at.node_ : at.node_ + 1);
}

void List::InsertBesideNode(size_t node, std::string_view element, End side) {
  if (side == End::kBack) {
    const bool next_fits = node + 1 < nodes_.size() && Fits(nodes_[node + 1], element);
    if (!next_fits) return InsertNode(node + 1, element);
    nodes_[node + 1].Prepend(element);
  } else {
    const bool previous_fits = node > 0 && Fits(nodes_[node - 1], element);
    if (!previous_fits) return InsertNode(node, element);
    nodes_[node - 1].Append(element);
  }
}

void List::InsertNode(size_t node, std::string_view element) {
  Listpack added;
  added.Append(element);
  nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(node), std::move(added));
}

void List::SplitAfter(const Cursor& at) {
  Listpack& node = nodes_[at.node_];
  size_t kept = 1;
  for (auto p = node.Previous(at.position_); p != Listpack::kNone; p = node.Previous(p)) ++kept;
  const size_t count = node.count();
  if (kept == count) return;
  Listpack tail = node;
  tail.EraseRange(0, kept);
  node.EraseRange(static_cast<int64_t>(kept), count - kept);
  nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(at.node_) + 1, std::move(tail));
}

void List::MergeAround(size_t node) {
  if (node >= 2 && TryMerge(node - 2)) --node;
  TryMerge(node + 1);
  if (node >= 1 && TryMerge(node - 1)) --node;
  TryMerge(node);
}

bool List::TryMerge(size_t node) {
  if (node + 1 >= nodes_.size()) return false;
  Listpack& first = nodes_[node];
  const Listpack& second = nodes_[node + 1];
  // Redis before 7.4 subtracts the header of a ziplist.
  const size_t header_bytes = has_plain_nodes_ ? Listpack::kEmptyBytes : kZiplistHeaderBytes;
  const size_t bytes = first.size_bytes() + second.size_bytes() - header_bytes;
  if (!LimitOf(node_limit_).Allows(bytes, first.count() + second.count())) return false;
  first.AppendAll(second);
  EraseNode(node + 1);
  return true;
}

void List::Erase(Cursor& at, bool backwards) {
  --size_;
  const size_t node = at.node_;
  if (nodes_[node].count() == 1) {
    EraseNode(node);
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
