// PartialSort: Redis's quicksort, which sorts only the wanted part of the elements.
//
//   PartialSort(std::span(hits), 0, 9, [](const Hit& a, const Hit& b) { return a.rank - b.rank; });
//
// Clients can observe the algorithm: SORT with BY and LIMIT, and GEORADIUS with COUNT, return
// elements of equal rank in the order that this sort produces. It is the quicksort of Bentley and
// McIlroy, "Engineering a Sort Function" (1993): few elements are sorted by insertion, the pivot is
// the median of three (of three medians from 41 elements on), elements equal to the pivot are
// collected at both ends and move to the middle after the partition. Only parts that overlap the
// wanted one are sorted further.
//
// Thread-safety: pure functions.
// Source: Redis 7.0.15, SORT and GEOSEARCH.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_PARTIAL_SORT_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_PARTIAL_SORT_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace redouble::inline v0_1::memory {

template <typename T, typename Compare>
class PartialSorter {
 public:
  PartialSorter(std::span<T> items, size_t first, size_t last, const Compare& compare)
      : items_(items), first_(first), last_(last), compare_(compare) {}

  // Sorts items_[begin, end), as far as it overlaps the wanted part.
  void Sort(size_t begin, size_t end) {
    while (end - begin >= kFewest) {
      const auto [less_end, greater_begin] = Partition(begin, end);
      if (less_end - begin > 1 && Wanted(begin, less_end)) Sort(begin, less_end);
      if (end - greater_begin <= 1 || !Wanted(greater_begin, end)) return;
      begin = greater_begin;
    }
    Insert(begin, end);
  }

 private:
  // Fewer than kFewest elements are sorted by insertion. From kMedianOfThree elements on, the pivot
  // is the median of three elements; from kMedianOfNine on, the median of three medians.
  static constexpr size_t kFewest = 7;
  static constexpr size_t kMedianOfThree = 8;
  static constexpr size_t kMedianOfNine = 41;

  int CompareAt(size_t a, size_t b) const { return compare_(items_[a], items_[b]); }
  void Swap(size_t a, size_t b) { std::swap(items_[a], items_[b]); }
  void SwapRanges(size_t a, size_t b, size_t count) {
    std::swap_ranges(items_.begin() + a, items_.begin() + a + count, items_.begin() + b);
  }
  bool Wanted(size_t begin, size_t end) const { return first_ < end && last_ >= begin; }

  void Insert(size_t begin, size_t end) {
    for (size_t next = begin + 1; next < end; ++next) {
      for (size_t at = next; at > begin && CompareAt(at - 1, at) > 0; --at) Swap(at, at - 1);
    }
  }

  size_t MedianOf(size_t a, size_t b, size_t c) const {
    if (CompareAt(a, b) < 0) {
      if (CompareAt(b, c) < 0) return b;
      return CompareAt(a, c) < 0 ? c : a;
    }
    if (CompareAt(b, c) > 0) return b;
    return CompareAt(a, c) < 0 ? a : c;
  }

  size_t Pivot(size_t begin, size_t end) const {
    const size_t count = end - begin;
    size_t middle = begin + count / 2;
    if (count < kMedianOfThree) return middle;
    size_t low = begin;
    size_t high = end - 1;
    if (count >= kMedianOfNine) {
      const size_t step = count / 8;
      low = MedianOf(low, low + step, low + 2 * step);
      middle = MedianOf(middle - step, middle, middle + step);
      high = MedianOf(high - 2 * step, high - step, high);
    }
    return MedianOf(low, middle, high);
  }

  struct Parts {
    size_t less_end;       // Elements before it are less than the pivot.
    size_t greater_begin;  // Elements from it on are greater; those between are equal.
  };

  Parts Partition(size_t begin, size_t end) {
    Swap(begin, Pivot(begin, end));
    // Equal to the pivot, which is at `begin`: [begin, equal_low) and (equal_high, end).
    size_t equal_low = begin + 1;
    size_t equal_high = end - 1;
    size_t low = equal_low;
    size_t high = equal_high;
    while (true) {
      for (; low <= high; ++low) {
        const int order = CompareAt(low, begin);
        if (order > 0) break;
        if (order == 0) Swap(equal_low++, low);
      }
      for (; low <= high; --high) {
        const int order = CompareAt(high, begin);
        if (order < 0) break;
        if (order == 0) Swap(high, equal_high--);
      }
      if (low > high) break;
      Swap(low++, high--);
    }
    const size_t less = low - equal_low;
    const size_t greater = equal_high - high;
    const size_t moved_low = std::min(equal_low - begin, less);
    SwapRanges(begin, low - moved_low, moved_low);
    const size_t moved_high = std::min(greater, end - 1 - equal_high);
    SwapRanges(low, end - moved_high, moved_high);
    return {begin + less, end - greater};
  }

  const std::span<T> items_;
  const size_t first_;
  const size_t last_;
  const Compare& compare_;
};

// Sorts the positions `first` to `last`, inclusive: they hold the elements that a full sort would
// put there. The elements before and after them are in unspecified order. `compare(a, b)` is
// negative, zero or positive.
template <typename T, typename Compare>
void PartialSort(std::span<T> items, size_t first, size_t last, const Compare& compare) {
  PartialSorter<T, Compare>(items, first, last, compare).Sort(0, items.size());
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_KEYS_PARTIAL_SORT_H_
