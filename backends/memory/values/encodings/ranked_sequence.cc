#include "redouble/backends/memory/values/encodings/ranked_sequence.h"

#include <bit>

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t LowestBit(size_t index) { return index & (~index + 1); }

}  // namespace

uint32_t RankedSequence::At(size_t rank) const {
  assert(rank < size_);
  const auto [leaf, offset] = PlaceOf(rank);
  return leaves_[leaf][offset];
}

void RankedSequence::Replace(size_t rank, uint32_t number) {
  assert(rank < size_);
  const auto [leaf, offset] = PlaceOf(rank);
  leaves_[leaf][offset] = number;
}

void RankedSequence::Insert(size_t rank, uint32_t number) {
  assert(rank <= size_);
  Place place = PlaceOf(rank);
  if (place.leaf == leaves_.size()) {
    // Appending fills leaves completely; only inserting in the middle splits them.
    if (leaves_.empty() || leaves_.back().size() == kLeafNumbers) {
      leaves_.emplace_back();
      RebuildTree();
    }
    place = {leaves_.size() - 1, leaves_.back().size()};
  } else if (leaves_[place.leaf].size() == kLeafNumbers) {
    SplitLeaf(place.leaf);
    place = PlaceOf(rank);
  }
  Leaf& leaf = leaves_[place.leaf];
  leaf.insert(leaf.begin() + static_cast<ptrdiff_t>(place.offset), number);
  AddToTree(place.leaf, 1);
  ++size_;
}

void RankedSequence::Erase(size_t rank) {
  assert(rank < size_);
  const auto [index, offset] = PlaceOf(rank);
  Leaf& leaf = leaves_[index];
  leaf.erase(leaf.begin() + static_cast<ptrdiff_t>(offset));
  AddToTree(index, -1);
  --size_;
  MergeIfSmall(index);
}

RankedSequence::Place RankedSequence::PlaceOf(size_t rank) const {
  size_t leaf = 0;
  for (size_t step = std::bit_floor(leaves_.size()); step > 0; step /= 2) {
    if (leaf + step > leaves_.size() || tree_[leaf + step] > rank) continue;
    leaf += step;
    rank -= tree_[leaf];
  }
  return {leaf, rank};
}

size_t RankedSequence::RankOfLeaf(size_t leaf) const {
  size_t rank = 0;
  for (size_t index = leaf; index > 0; index -= LowestBit(index)) rank += tree_[index];
  return rank;
}

void RankedSequence::AddToTree(size_t leaf, int64_t change) {
  for (size_t index = leaf + 1; index < tree_.size(); index += LowestBit(index)) {
    tree_[index] = static_cast<uint32_t>(tree_[index] + change);
  }
}

void RankedSequence::RebuildTree() {
  tree_.assign(leaves_.size() + 1, 0);
  for (size_t index = 1; index < tree_.size(); ++index) {
    tree_[index] += static_cast<uint32_t>(leaves_[index - 1].size());
    const size_t parent = index + LowestBit(index);
    if (parent < tree_.size()) tree_[parent] += tree_[index];
  }
}

void RankedSequence::SplitLeaf(size_t leaf) {
  const auto half = static_cast<ptrdiff_t>(leaves_[leaf].size() / 2);
  Leaf upper(leaves_[leaf].begin() + half, leaves_[leaf].end());
  leaves_[leaf].resize(static_cast<size_t>(half));
  leaves_.insert(leaves_.begin() + static_cast<ptrdiff_t>(leaf) + 1, std::move(upper));
  RebuildTree();
}

void RankedSequence::MergeIfSmall(size_t leaf) {
  const size_t left = leaves_[leaf].size();
  if (left >= kLeafNumbers / 4) return;
  const bool has_next = leaf + 1 < leaves_.size();
  if (left > 0 && (!has_next || left + leaves_[leaf + 1].size() > kLeafNumbers / 2)) return;
  if (left > 0) {
    Leaf& next = leaves_[leaf + 1];
    next.insert(next.begin(), leaves_[leaf].begin(), leaves_[leaf].end());
  }
  leaves_.erase(leaves_.begin() + static_cast<ptrdiff_t>(leaf));
  RebuildTree();
}

}  // namespace redouble::inline v0_1::memory
