// RankedSequence: numbers in an order that the caller defines, found by their rank.
//
// A sorted set stores the positions of its members here, in the order of their scores. The numbers
// are in leaves of up to 512, and a Fenwick tree over the sizes of the leaves converts a rank to a
// leaf and back: reaching a rank, inserting and erasing cost O(log n) and one short memmove. Adding
// or removing a leaf rebuilds the tree, once in hundreds of changes. A number costs about six
// bytes; a node of a balanced tree would cost forty.
//
//   RankedSequence order;
//   const size_t rank =
//       order.PartitionPoint([&](uint32_t other) { return key[other] < key[mine]; });
//   order.Insert(rank, mine);
//   uint32_t least = order.At(0);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_RANKED_SEQUENCE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_RANKED_SEQUENCE_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redouble::inline v0_1::memory {

class RankedSequence {
 public:
  static constexpr size_t kLeafNumbers = 512;

  size_t size() const { return size_; }

  // The number at `rank`, 0 <= rank < size().
  uint32_t At(size_t rank) const;
  // Replaces the number at `rank` by `number`.
  void Replace(size_t rank, uint32_t number);
  // Inserts `number` at `rank`, 0 <= rank <= size(); the ranks of the following numbers increase by
  // one.
  void Insert(size_t rank, uint32_t number);
  // Removes the number at `rank`.
  void Erase(size_t rank);

  // The number of elements for which `before` is true. They must be those of the lowest ranks.
  // O(log n) calls.
  template <typename Before>
  size_t PartitionPoint(Before before) const;

  // Calls `visit(number)` for `count` numbers from rank `first` on, upwards or downwards. All of
  // them must exist. `visit` must not change the sequence.
  template <typename Visit>
  void ForEach(size_t first, size_t count, bool downwards, Visit visit) const;

 private:
  using Leaf = std::vector<uint32_t>;
  struct Place {
    size_t leaf;
    size_t offset;
  };

  // The place of the number at `rank`; for size(), the place after the last number.
  Place PlaceOf(size_t rank) const;
  // The number of elements before a leaf.
  size_t RankOfLeaf(size_t leaf) const;
  void AddToTree(size_t leaf, int64_t change);
  void RebuildTree();
  void SplitLeaf(size_t leaf);
  void MergeIfSmall(size_t leaf);

  size_t size_ = 0;
  std::vector<Leaf> leaves_;    // No leaf is empty.
  std::vector<uint32_t> tree_;  // Fenwick tree over the leaves' sizes, from index 1.
};

template <typename Before>
size_t RankedSequence::PartitionPoint(Before before) const {
  // The last leaf whose first number is before the point: the point is in it or at its end.
  const auto next = std::partition_point(leaves_.begin(), leaves_.end(),
                                         [&](const Leaf& leaf) { return before(leaf.front()); });
  if (next == leaves_.begin()) return 0;
  const Leaf& leaf = *(next - 1);
  const auto point = std::partition_point(leaf.begin() + 1, leaf.end(), before);
  return RankOfLeaf(static_cast<size_t>(next - leaves_.begin()) - 1) +
         static_cast<size_t>(point - leaf.begin());
}

template <typename Visit>
void RankedSequence::ForEach(size_t first, size_t count, bool downwards, Visit visit) const {
  if (count == 0) return;
  assert(first < size_ && (downwards ? count <= first + 1 : count <= size_ - first));
  auto [leaf, offset] = PlaceOf(first);
  for (;; --count) {
    visit(leaves_[leaf][offset]);
    if (count == 1) return;
    if (downwards) {
      if (offset == 0) offset = leaves_[--leaf].size();
      --offset;
    } else if (++offset == leaves_[leaf].size()) {
      ++leaf;
      offset = 0;
    }
  }
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_RANKED_SEQUENCE_H_
