#include "redouble/backends/memory/commands/keys/partial_sort.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

int Compare(int a, int b) { return (a > b) - (a < b); }

// Few distinct values, and enough of them for medians of three and of nine.
rc::Gen<std::vector<int>> Numbers() {
  return rc::gen::mapcat(rc::gen::element(1, 6, 7, 8, 40, 41, 200), [](int size) {
    return rc::gen::container<std::vector<int>>(static_cast<size_t>(size), rc::gen::inRange(0, 30));
  });
}

RC_GTEST_PROP(PartialSort, BringsWhatIsWantedToItsPlace, ()) {
  const std::vector<int> numbers = *Numbers();
  const auto first = *rc::gen::inRange<size_t>(0, numbers.size());
  const auto last = *rc::gen::inRange<size_t>(first, numbers.size());
  std::vector<int> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> items = numbers;
  PartialSort(std::span(items), first, last, Compare);
  for (size_t i = first; i <= last; ++i) RC_ASSERT(items[i] == sorted[i]);
  for (size_t i = 0; i < first; ++i) RC_ASSERT(items[i] <= items[first]);
  for (size_t i = last + 1; i < items.size(); ++i) RC_ASSERT(items[i] >= items[last]);
  std::sort(items.begin(), items.end());
  RC_ASSERT(items == sorted);
}

TEST(PartialSort, LeavesNothingAndOneElementAlone) {
  std::vector<int> none;
  PartialSort(std::span(none), 0, 0, Compare);
  std::vector<int> one = {7};
  PartialSort(std::span(one), 0, 0, Compare);
  EXPECT_EQ(one, std::vector<int>({7}));
}

TEST(PartialSort, ComparesOnlyAFewTimesForTheFirstOfMany) {
  constexpr int kItems = 100'000;
  std::vector<int> items;
  for (int i = 0; i < kItems; ++i) items.push_back(static_cast<int>(i * 7919LL % kItems));
  int64_t comparisons = 0;
  PartialSort(std::span(items), 0, 9, [&](int a, int b) {
    ++comparisons;
    return Compare(a, b);
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(items[static_cast<size_t>(i)], i);
  EXPECT_LT(comparisons, int64_t{5} * kItems);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
