#include "redouble/backends/memory/values/list.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using Strings = std::vector<std::string>;

Strings All(const List& list) {
  Strings elements;
  for (List::Cursor at = list.First(); at.valid(); at.Next()) {
    elements.push_back(at.value().ToString());
  }
  return elements;
}

Strings AllBackwards(const List& list) {
  Strings elements;
  for (List::Cursor at = list.Last(); at.valid(); at.Previous()) {
    elements.insert(elements.begin(), at.value().ToString());
  }
  return elements;
}

List Of(const Strings& elements) {
  List list;
  for (const std::string& element : elements) list.Push(List::End::kBack, element);
  return list;
}

// Long enough for several nodes.
Strings ManyElements(size_t count) {
  Strings elements;
  for (size_t i = 0; i < count; ++i) elements.push_back(std::to_string(i) + std::string(50, 'x'));
  return elements;
}

TEST(List, BeginsEmpty) {
  const List list;
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.First().valid());
  EXPECT_FALSE(list.Last().valid());
  EXPECT_EQ(list.encoding(), "quicklist");
}

TEST(List, PushesAndPopsAtBothEnds) {
  List list;
  list.Push(List::End::kBack, "b");
  list.Push(List::End::kFront, "a");
  list.Push(List::End::kBack, "42");
  EXPECT_EQ(All(list), (Strings{"a", "b", "42"}));
  EXPECT_EQ(list.Pop(List::End::kBack), "42");
  EXPECT_EQ(list.Pop(List::End::kFront), "a");
  EXPECT_EQ(list.Pop(List::End::kFront), "b");
  EXPECT_TRUE(list.empty());
}

TEST(List, TakesANodeWhateverItsSize) {
  EncodingLimits limits;
  limits.list_max_listpack_size = 2;
  List list(limits);
  list.AppendNode(Listpack());
  EXPECT_TRUE(list.empty()) << "an empty node is left out";
  for (const int count : {1, 3}) {
    Listpack node;
    for (int i = 0; i < count; ++i) node.Append(std::to_string(i));
    list.AppendNode(std::move(node));
  }
  EXPECT_EQ(list.size(), 4u);
  EXPECT_EQ(list.nodes().size(), 2u);
  list.Push(List::End::kBack, "x");
  list.Push(List::End::kFront, "y");
  EXPECT_EQ(All(list), (Strings{"y", "0", "0", "1", "2", "x"}));
  EXPECT_EQ(list.nodes().size(), 3u);
}

TEST(List, SpreadsOverNodesNoneOfThemEmpty) {
  const Strings elements = ManyElements(1000);
  List list = Of(elements);
  EXPECT_GT(list.nodes().size(), 5u);
  EXPECT_EQ(All(list), elements);
  EXPECT_EQ(AllBackwards(list), elements);
  while (!list.empty()) {
    list.Pop(list.size() % 2 == 0 ? List::End::kFront : List::End::kBack);
    for (const Listpack& node : list.nodes()) ASSERT_FALSE(node.empty());
  }
  EXPECT_TRUE(list.nodes().empty());
}

TEST(List, ReachesEveryIndex) {
  const Strings elements = ManyElements(700);
  const List list = Of(elements);
  for (size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(list.At(i).value().ToString(), elements[i]);
  }
}

TEST(List, InsertsAroundAnElementAndReplacesIt) {
  List list = Of({"a", "b", "c"});
  list.InsertBefore(list.At(0), "first");
  list.InsertAfter(list.Last(), "last");
  list.Replace(list.At(2), "B");
  EXPECT_EQ(All(list), (Strings{"first", "a", "B", "c", "last"}));
  EXPECT_EQ(list.size(), 5u);
}

TEST(List, ErasesTowardsEitherEnd) {
  List list = Of({"a", "b", "c", "d"});
  List::Cursor at = list.At(1);
  list.Erase(at);
  EXPECT_EQ(at.value().ToString(), "c");
  list.Erase(at, true);
  EXPECT_EQ(at.value().ToString(), "a");
  list.Erase(at, true);
  EXPECT_FALSE(at.valid());
  EXPECT_EQ(All(list), (Strings{"d"}));
  at = list.First();
  list.Erase(at);
  EXPECT_FALSE(at.valid());
  EXPECT_TRUE(list.empty());
}

TEST(List, ErasesWhileItWalksOverNodes) {
  for (const bool backwards : {false, true}) {
    List list = Of(ManyElements(600));
    List::Cursor at = backwards ? list.Last() : list.First();
    size_t erased = 0;
    for (; at.valid(); ++erased) list.Erase(at, backwards);
    EXPECT_EQ(erased, 600u);
    EXPECT_TRUE(list.empty());
  }
}

// The counts of the nodes' elements.
std::vector<size_t> NodeCounts(const List& list) {
  std::vector<size_t> counts;
  for (const Listpack& node : list.nodes()) counts.push_back(node.count());
  return counts;
}

TEST(List, KeepsItsNodesWithinTheLimit) {
  const auto pushed = [](int limit, size_t elements, size_t bytes) {
    EncodingLimits limits;
    limits.list_max_listpack_size = limit;
    List list(limits);
    for (size_t i = 0; i < elements; ++i) list.Push(List::End::kBack, std::string(bytes, 'e'));
    return list.nodes().size();
  };
  EXPECT_EQ(pushed(3, 7, 1), 3u);
  EXPECT_EQ(pushed(0, 3, 1), 3u);
  EXPECT_EQ(pushed(1'000'000, 100, 1000), 13u);
  EXPECT_EQ(pushed(-1, 100, 1000), 25u);
  EXPECT_EQ(pushed(-3, 100, 1000), 7u);
  EXPECT_EQ(pushed(-9, 100, 1000), 2u);
}

TEST(List, SplitsANodeOfTooManyElements) {
  EncodingLimits limits;
  limits.list_max_listpack_size = 2;
  List list(limits);
  for (const char* element : {"a", "b"}) list.Push(List::End::kBack, element);
  list.InsertAfter(list.First(), "x");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 2}));
}

// A list of two elements a node, with a, b, c, ... as far as `last`.
List OfPairs(char last) {
  EncodingLimits limits;
  limits.list_max_listpack_size = 2;
  List list(limits);
  for (char letter = 'a'; letter <= last; ++letter) {
    list.Push(List::End::kBack, std::string(1, letter));
  }
  return list;
}

TEST(List, InsertsBesideAFullNode) {
  List list = OfPairs('c');  // ab c
  list.InsertAfter(list.At(1), "x");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{2, 2})) << "the next node has room";
  list.InsertAfter(list.At(1), "y");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{2, 1, 2})) << "no node has room";
  list.InsertBefore(list.At(3), "z");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{2, 2, 2})) << "the previous node has room";
  list.InsertBefore(list.First(), "first");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 2, 2, 2}));
  EXPECT_EQ(All(list), (Strings{"first", "a", "b", "y", "z", "x", "c"}));
}

TEST(List, MergesNodesAroundASplit) {
  List list = OfPairs('f');  // ab cd ef
  for (const int index : {0, 4}) {
    List::Cursor at = list.At(static_cast<size_t>(index));
    list.Erase(at);  // b cd ef, then b cd e
  }
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 2, 1}));
  list.InsertAfter(list.At(1), "x");  // b c|xd e
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{2, 2, 1})) << "b and c are one node";
  EXPECT_EQ(All(list), (Strings{"b", "c", "x", "d", "e"}));
}

TEST(List, ReplacesInPlaceWhateverTheSize) {
  List list = Of({"a", "b", "c", "d"});
  const std::string large(9000, 'x');
  list.Replace(list.At(1), large);
  EXPECT_EQ(list.nodes().size(), 1u);
  EXPECT_EQ(All(list), (Strings{"a", large, "c", "d"}));
}

EncodingLimits LimitsOfRedis8() {
  EncodingLimits limits;
  limits.packed_lists = true;
  limits.plain_list_nodes = true;
  return limits;
}

// A quicklist.
List OfRedis8(const Strings& elements) {
  List list(LimitsOfRedis8());
  for (const std::string& element : elements) list.Push(List::End::kBack, element);
  return list;
}

TEST(List, KeepsLargeElementsInPlainNodes) {
  const std::string large(8193, 'x');
  List list = OfRedis8({"a", "b", "c"});
  list.Replace(list.At(1), large);
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 1, 1}));
  EXPECT_TRUE(list.IsPlain(list.nodes()[1]));
  EXPECT_FALSE(list.IsPlain(list.nodes()[0]));
  list.Replace(list.At(1), large + "y");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 1, 1}));
  list.Replace(list.At(1), "b");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 2})) << "the next node has room";
  list.InsertAfter(list.At(1), large);
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1, 1, 1, 1}));
  EXPECT_EQ(All(list), (Strings{"a", "b", large, "c"}));
}

TEST(List, ReplacesTheOnlyElementOfANodeByALargeOne) {
  const std::string large(8193, 'x');
  List list = OfRedis8({"a"});
  list.Replace(list.First(), large);
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{1}));
  EXPECT_EQ(All(list), (Strings{large}));
}

TEST(List, IsAListpackUntilTheElementsExceedTheLimit) {
  const EncodingLimits limits = LimitsOfRedis8();
  List list;
  list.Configure(limits);
  // The lengths of elements that are to be added count, not what they take in the listpack.
  const size_t most = 8192 - Listpack::kEmptyBytes;
  list.PrepareToAdd(2, most, limits);
  EXPECT_EQ(list.encoding(), "listpack");
  list.Push(List::End::kBack, std::string(most - 5, 'x'));
  list.Push(List::End::kFront, "12345");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{2})) << "a listpack is never split";
  list.PrepareToAdd(1, 1, limits);
  EXPECT_EQ(list.encoding(), "quicklist");
  list.Push(List::End::kBack, "y");
  EXPECT_EQ(NodeCounts(list), (std::vector<size_t>{2, 1}));
}

TEST(List, IsAListpackAgainAtHalfTheLimit) {
  EncodingLimits limits = LimitsOfRedis8();
  List list = OfRedis8({std::string(4085, 'x'), "a"});
  list.PackIfSmall(limits);
  EXPECT_EQ(list.encoding(), "quicklist");
  list.Pop(List::End::kBack);
  list.PackIfSmall(limits);
  EXPECT_EQ(list.encoding(), "listpack");
  limits.list_max_listpack_size = 3;
  list = OfRedis8({"a", "b"});
  list.PackIfSmall(limits);
  EXPECT_EQ(list.encoding(), "quicklist");
  list.Pop(List::End::kBack);
  list.PackIfSmall(limits);
  EXPECT_EQ(list.encoding(), "listpack");
}

TEST(List, IsAlwaysAQuicklistInRedis7) {
  List list = Of({"a"});
  list.PackIfSmall({});
  list.ChooseEncoding({});
  EXPECT_EQ(list.encoding(), "quicklist");
}

TEST(List, ChoosesTheEncodingOfALoadedList) {
  const EncodingLimits limits = LimitsOfRedis8();
  List list = OfRedis8({std::string(8000, 'x')});
  list.ChooseEncoding(limits);
  EXPECT_EQ(list.encoding(), "listpack");
  list.Push(List::End::kBack, std::string(8000, 'x'));
  list.ChooseEncoding(limits);
  EXPECT_EQ(list.encoding(), "quicklist") << "too large";
  list = OfRedis8({std::string(9000, 'x')});
  list.ChooseEncoding(limits);
  EXPECT_EQ(list.encoding(), "quicklist") << "a plain node";
}

TEST(List, ClonesItself) {
  List list = Of({"a", "b"});
  const std::unique_ptr<Collection> clone = list.Clone();
  list.Pop(List::End::kFront);
  EXPECT_EQ(All(static_cast<const List&>(*clone)), (Strings{"a", "b"}));
}

RC_GTEST_PROP(List, TrimsAsAVectorDoes, ()) {
  const auto count = *rc::gen::inRange<size_t>(1, 600);
  const Strings elements = ManyElements(count);
  const auto first = *rc::gen::inRange<size_t>(0, count);
  const auto last = *rc::gen::inRange<size_t>(first, count);
  List list = Of(elements);
  list.Trim(first, last);
  const auto begin = elements.begin();
  RC_ASSERT(All(list) == Strings(begin + static_cast<ptrdiff_t>(first),
                                 begin + static_cast<ptrdiff_t>(last) + 1));
  RC_ASSERT(list.size() == last - first + 1);
}

// An element between two sizes, so that nodes fill, split and empty.
std::string Element(int kind, size_t step) {
  return std::to_string(step) + std::string(static_cast<size_t>(kind) * 700, 'e');
}

RC_GTEST_PROP(List, AgreesWithADeque, ()) {
  List list;
  std::deque<std::string> model;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, size_t>>>(rc::gen::tuple(
      rc::gen::inRange(0, 8), rc::gen::inRange(0, 6), rc::gen::inRange<size_t>(0, 1000)));
  for (const auto& [action, kind, place] : steps) {
    const std::string element = Element(kind, place);
    if (model.empty() || action <= 1) {
      list.Push(action == 0 ? List::End::kFront : List::End::kBack, element);
      action == 0 ? model.push_front(element) : model.push_back(element);
      continue;
    }
    const size_t index = place % model.size();
    const auto at = model.begin() + static_cast<ptrdiff_t>(index);
    List::Cursor cursor = list.At(index);
    if (action == 2) {
      RC_ASSERT(list.Pop(List::End::kFront) == model.front());
      model.pop_front();
    } else if (action == 3) {
      list.Replace(cursor, element);
      *at = element;
    } else if (action == 4) {
      list.Erase(cursor);
      model.erase(at);
    } else if (action == 5) {
      list.InsertBefore(cursor, element);
      model.insert(at, element);
    } else {
      list.InsertAfter(cursor, element);
      model.insert(at + 1, element);
    }
  }
  RC_ASSERT(All(list) == Strings(model.begin(), model.end()));
  RC_ASSERT(AllBackwards(list) == Strings(model.begin(), model.end()));
  RC_ASSERT(list.size() == model.size());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
