#include "redouble/backends/memory/values/encodings/stream_node.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using Fields = std::vector<std::string_view>;

std::string TextOf(const StreamNode& node, const StreamNode::Entry& entry) {
  std::string text = entry.id.ToString();
  node.VisitFields(entry, [&](const ListpackValue& field, const ListpackValue& value) {
    text += " " + field.ToString() + "=" + value.ToString();
  });
  return entry.deleted ? "(" + text + ")" : text;
}

std::vector<std::string> Forwards(const StreamNode& node) {
  std::vector<std::string> entries;
  for (auto at = node.First(); at; at = node.Next(*at)) entries.push_back(TextOf(node, *at));
  return entries;
}

std::vector<std::string> Backwards(const StreamNode& node) {
  std::vector<std::string> entries;
  for (auto at = node.Last(); at; at = node.Previous(*at)) entries.push_back(TextOf(node, *at));
  return entries;
}

// A node with one entry for each list of fields; the ids are 5-1, 5-2, ...
StreamNode NodeOf(const std::vector<Fields>& entries) {
  StreamNode node({5, 1}, entries[0]);
  uint64_t seq = 1;
  for (const Fields& fields : entries) node.Append({5, seq++}, fields);
  return node;
}

TEST(StreamNode, HasNoEntriesAtFirst) {
  const Fields fields = {"a", "1"};
  const StreamNode node({5, 1}, fields);
  EXPECT_EQ(node.First(), std::nullopt);
  EXPECT_EQ(node.Last(), std::nullopt);
  EXPECT_EQ(node.live(), 0U);
}

TEST(StreamNode, GivesItsEntriesInBothDirections) {
  const StreamNode node =
      NodeOf({{"a", "1", "b", "2"}, {"a", "3", "b", "4"}, {"b", "5", "a", "6"}, {"a", "7"}});
  EXPECT_EQ(Forwards(node),
            (std::vector<std::string>{"5-1 a=1 b=2", "5-2 a=3 b=4", "5-3 b=5 a=6", "5-4 a=7"}));
  EXPECT_EQ(Backwards(node),
            (std::vector<std::string>{"5-4 a=7", "5-3 b=5 a=6", "5-2 a=3 b=4", "5-1 a=1 b=2"}));
}

TEST(StreamNode, WritesSameFieldsOnce) {
  const std::string long_name(50, 'n');
  const StreamNode same = NodeOf({{long_name, "1"}, {long_name, "2"}});
  const StreamNode other = NodeOf({{long_name, "1"}, {std::string(50, 'm'), "2"}});
  EXPECT_LT(same.size_bytes() + 50, other.size_bytes());
}

TEST(StreamNode, KeepsIdsWhoseSequenceIsBelowTheNodes) {
  const Fields fields = {"a", "1"};
  StreamNode node({5, 9}, fields);
  node.Append({5, 9}, fields);
  node.Append({6, 0}, fields);
  node.Append({UINT64_MAX, UINT64_MAX}, fields);
  EXPECT_EQ(Forwards(node),
            (std::vector<std::string>{"5-9 a=1", "6-0 a=1",
                                      "18446744073709551615-18446744073709551615 a=1"}));
}

TEST(StreamNode, FlagsWhatIsDeleted) {
  StreamNode node = NodeOf({{"a", "1"}, {"b", "2"}, {"a", "3"}});
  node.Delete(node.Next(*node.First()).value());
  EXPECT_EQ(Forwards(node), (std::vector<std::string>{"5-1 a=1", "(5-2 b=2)", "5-3 a=3"}));
  EXPECT_EQ(Backwards(node), (std::vector<std::string>{"5-3 a=3", "(5-2 b=2)", "5-1 a=1"}));
  EXPECT_EQ(node.live(), 2U);
  EXPECT_EQ(node.deleted(), 1U);
}

TEST(StreamNode, DeletesFromTheFrontByCount) {
  StreamNode node = NodeOf({{"a", "1"}, {"a", "2"}, {"a", "3"}});
  node.Delete(*node.First());
  EXPECT_EQ(node.DeleteFront(1, std::nullopt), 1U);
  EXPECT_EQ(Forwards(node), (std::vector<std::string>{"(5-1 a=1)", "(5-2 a=2)", "5-3 a=3"}));
}

TEST(StreamNode, DeletesFromTheFrontById) {
  StreamNode node = NodeOf({{"a", "1"}, {"a", "2"}, {"a", "3"}});
  EXPECT_EQ(node.DeleteFront(100, StreamId{5, 3}), 2U);
  EXPECT_EQ(node.live(), 1U);
  EXPECT_EQ(node.deleted(), 2U);
}

// A payload with a valid checksum may store an integer in more bytes than it needs. Rewriting such
// a counter or flag in place would move the elements after it.
TEST(StreamNode, LoadsIntegersOfAnyWidthInTheirShortestForm) {
  std::string elements;
  const auto add = [&](int value) {  // 16 bits, where 7 are enough.
    elements += {'\xf1', static_cast<char>(value), '\0', '\x03'};
  };
  const auto add_text = [&](char letter) { elements += {'\x81', letter, '\x02'}; };
  for (const int value : {2, 0, 1}) add(value);  // Live, deleted, fields.
  add_text('a');
  add(0);
  for (const int seq : {0, 1}) {
    for (const int value : {2, 0, seq}) add(value);
    add_text('v');
    add(4);
  }
  constexpr char kCount = 15;
  const auto size = static_cast<char>(elements.size() + 7);
  const std::string bytes = std::string{size, '\0', '\0', '\0', kCount, '\0'} + elements + '\xff';
  absl::StatusOr<Listpack> pack = Listpack::Parse(bytes);
  ASSERT_TRUE(pack.ok()) << pack.status();
  std::optional<StreamNode> node = StreamNode::Load({5, 1}, *std::move(pack));
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->listpack().bytes(), NodeOf({{"a", "v"}, {"a", "v"}}).listpack().bytes());
  EXPECT_EQ(node->DeleteFront(1, std::nullopt), 1U);
  EXPECT_EQ(Forwards(*node), (std::vector<std::string>{"(5-1 a=v)", "5-2 a=v"}));
}

TEST(StreamNode, CountsBeyondOneByte) {
  const Fields fields = {"a", "1"};
  StreamNode node({1, 1}, fields);
  for (uint64_t seq = 1; seq <= 300; ++seq) node.Append({1, seq}, fields);
  EXPECT_EQ(node.DeleteFront(200, std::nullopt), 200U);
  EXPECT_EQ(node.live(), 100U);
  EXPECT_EQ(node.deleted(), 200U);
  EXPECT_EQ(node.Last()->id, (StreamId{1, 300}));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
