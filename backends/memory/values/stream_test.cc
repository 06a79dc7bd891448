#include "redouble/backends/memory/values/stream.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using Fields = std::vector<std::string_view>;
using Ids = std::vector<StreamId>;

void Add(Stream& stream, StreamId id, const StreamNodeLimits& limits = {}) {
  const Fields fields = {"field", "value"};
  stream.Append(id, fields, limits);
}

Stream StreamOf(uint64_t count, const StreamNodeLimits& limits = {}) {
  Stream stream;
  for (uint64_t seq = 1; seq <= count; ++seq) Add(stream, {1, seq}, limits);
  return stream;
}

Ids IdsFrom(const Stream& stream, StreamId start) {
  Ids ids;
  for (Stream::Cursor at = stream.From(start); at.valid(); at.Next()) ids.push_back(at.id());
  return ids;
}

Ids IdsBackFrom(const Stream& stream, StreamId end) {
  Ids ids;
  for (Stream::Cursor at = stream.BackFrom(end); at.valid(); at.Previous()) ids.push_back(at.id());
  return ids;
}

TEST(Stream, IsEmptyAtFirstAndAValueNevertheless) {
  const Stream stream;
  EXPECT_EQ(stream.size(), 0U);
  EXPECT_FALSE(stream.empty());
  EXPECT_FALSE(stream.From(StreamId::Min()).valid());
  EXPECT_FALSE(stream.BackFrom(StreamId::Max()).valid());
  EXPECT_EQ(stream.RadixTreeNodes(), 1U);
}

TEST(Stream, CutsNodesAtTheLimitOfEntries) {
  const Stream stream = StreamOf(201);
  ASSERT_EQ(stream.node_count(), 3U);
  EXPECT_EQ(stream.node(0).live(), 100U);
  EXPECT_EQ(stream.node(2).live(), 1U);
}

TEST(Stream, CountsTombstonesTowardsTheLimitOfEntries) {
  Stream stream = StreamOf(2, {.max_entries = 2});
  ASSERT_TRUE(stream.Delete({1, 1}));
  Add(stream, {1, 3}, {.max_entries = 2});
  EXPECT_EQ(stream.node_count(), 2U);
}

TEST(Stream, CutsNodesAtTheLimitOfBytes) {
  Stream stream;
  const std::string value(2000, 'v');
  const Fields fields = {"f", value};
  for (uint64_t seq = 1; seq <= 4; ++seq) stream.Append({1, seq}, fields, {});
  // Two of these entries and their overhead take 4033 bytes; a third one does not fit.
  EXPECT_EQ(stream.node_count(), 2U);
}

TEST(Stream, PutsNoLimitWhereNoneIsSet) {
  const Stream stream = StreamOf(5000, {.max_bytes = 0, .max_entries = 0});
  EXPECT_EQ(stream.node_count(), 1U);
}

TEST(Stream, DropsANodeOfWhichEverythingIsDeleted) {
  Stream stream = StreamOf(4, {.max_entries = 2});
  ASSERT_TRUE(stream.Delete({1, 3}));
  ASSERT_TRUE(stream.Delete({1, 4}));
  EXPECT_EQ(stream.node_count(), 1U);
  EXPECT_EQ(IdsFrom(stream, StreamId::Min()), (Ids{{1, 1}, {1, 2}}));
}

TEST(Stream, RemembersWhatWasDeleted) {
  Stream stream = StreamOf(3);
  EXPECT_FALSE(stream.Delete({1, 9}));
  EXPECT_TRUE(stream.Delete({1, 2}));
  EXPECT_FALSE(stream.Delete({1, 2}));
  EXPECT_TRUE(stream.Delete({1, 1}));
  EXPECT_EQ(stream.max_deleted_id(), (StreamId{1, 2}));
  EXPECT_EQ(stream.first_id(), (StreamId{1, 3}));
  EXPECT_EQ(stream.entries_added(), 3U);
  EXPECT_EQ(stream.last_id(), (StreamId{1, 3}));
}

TEST(Stream, StartsAnewBehindItsLastId) {
  Stream stream = StreamOf(1);
  ASSERT_TRUE(stream.Delete({1, 1}));
  EXPECT_EQ(stream.first_id(), StreamId::Min());
  Add(stream, {1, 2});
  EXPECT_EQ(stream.first_id(), (StreamId{1, 2}));
}

TEST(Stream, TrimsToALengthExactly) {
  Stream stream = StreamOf(10, {.max_entries = 3});
  EXPECT_EQ(stream.Trim({.max_length = 2}), 8U);
  EXPECT_EQ(IdsFrom(stream, StreamId::Min()), (Ids{{1, 9}, {1, 10}}));
  EXPECT_EQ(stream.first_id(), (StreamId{1, 9}));
  // XTRIM does not change the greatest deleted id; only XDEL does.
  EXPECT_EQ(stream.max_deleted_id(), StreamId::Min());
}

TEST(Stream, TrimsWholeNodesWhenApproximate) {
  Stream stream = StreamOf(10, {.max_entries = 3});
  EXPECT_EQ(stream.Trim({.max_length = 5, .approximate = true}), 3U);
  EXPECT_EQ(stream.Trim({.max_length = 5, .approximate = true}), 0U);
}

TEST(Stream, TrimsNoMoreThanTheLimit) {
  Stream stream = StreamOf(10, {.max_entries = 3});
  EXPECT_EQ(stream.Trim({.max_length = 0, .approximate = true, .limit = 7}), 6U);
  EXPECT_EQ(stream.Trim({.max_length = 0, .approximate = true, .limit = 2}), 0U);
}

TEST(Stream, TrimsBelowAnId) {
  Stream stream = StreamOf(10, {.max_entries = 3});
  EXPECT_EQ(stream.Trim({.min_id = StreamId{1, 6}}), 5U);
  EXPECT_EQ(stream.first_id(), (StreamId{1, 6}));
  EXPECT_EQ(stream.Trim({.min_id = StreamId::Max()}), 5U);
  EXPECT_EQ(stream.first_id(), StreamId::Min());
  EXPECT_EQ(stream.node_count(), 0U);
}

TEST(Stream, KeepsANodeWhoseTombstoneIsNotBelowTheTrimmedId) {
  Stream stream = StreamOf(3);
  ASSERT_TRUE(stream.Delete({1, 3}));
  EXPECT_EQ(stream.Trim({.min_id = StreamId{1, 3}}), 2U);
  EXPECT_EQ(stream.node_count(), 1U);
  EXPECT_EQ(stream.size(), 0U);
  EXPECT_FALSE(stream.From(StreamId::Min()).valid());
  Add(stream, {2, 0});
  EXPECT_EQ(IdsBackFrom(stream, StreamId::Max()), (Ids{{2, 0}}));
}

TEST(Stream, ClonesEverythingAndSharesNothing) {
  Stream stream = StreamOf(3);
  ASSERT_TRUE(stream.AddGroup("g", {.last_delivered_id = {1, 2}}));
  const std::unique_ptr<Collection> collection = stream.Clone();
  auto& copy = static_cast<Stream&>(*collection);
  stream.Delete({1, 1});
  stream.RemoveGroup("g");
  EXPECT_EQ(copy.size(), 3U);
  EXPECT_EQ(copy.max_deleted_id(), StreamId::Min());
  ASSERT_NE(copy.FindGroup("g"), nullptr);
  EXPECT_EQ(copy.FindGroup("g")->position.last_delivered_id, (StreamId{1, 2}));
}

TEST(Stream, HasGroupsByName) {
  Stream stream;
  EXPECT_EQ(stream.FindGroup("g"), nullptr);
  EXPECT_FALSE(stream.RemoveGroup("g"));
  EXPECT_TRUE(stream.AddGroup("g", {}));
  EXPECT_FALSE(stream.AddGroup("g", {.last_delivered_id = {9, 9}}));
  EXPECT_EQ(stream.FindGroup("g")->position.last_delivered_id, StreamId::Min());
  EXPECT_EQ(stream.groups().size(), 1U);
  EXPECT_TRUE(stream.RemoveGroup("g"));
  EXPECT_TRUE(stream.groups().empty());
}

TEST(Stream, KnowsHowMuchWasReadWhileNothingIsMissing) {
  Stream stream = StreamOf(5);
  EXPECT_EQ(stream.EntriesReadAt({0, 0}), 0);
  EXPECT_EQ(stream.EntriesReadAt({1, 1}), 1);
  EXPECT_EQ(stream.EntriesReadAt({1, 5}), 5);
  // Between the first and the last entry Redis would have to count, and above the last id the
  // number is unknown.
  EXPECT_EQ(stream.EntriesReadAt({1, 3}), std::nullopt);
  EXPECT_EQ(stream.EntriesReadAt({2, 0}), std::nullopt);
}

TEST(Stream, LosesTheLagBehindATombstone) {
  Stream stream = StreamOf(5);
  StreamGroup group({.last_delivered_id = {0, 0}, .entries_read = 0});
  EXPECT_EQ(stream.Lag(group), 5);
  stream.Advance(group, {1, 1});
  EXPECT_EQ(group.position.entries_read, 1);
  EXPECT_EQ(stream.Lag(group), 4);
  stream.Delete({1, 3});
  EXPECT_EQ(stream.Lag(group), std::nullopt);
  stream.Advance(group, {1, 2});
  EXPECT_EQ(group.position.entries_read, std::nullopt);
  stream.Advance(group, {1, 5});
  EXPECT_EQ(stream.Lag(group), 0);
}

TEST(Stream, KeepsTheLagWhenWhatIsDeletedLiesInFront) {
  Stream stream = StreamOf(5);
  const StreamGroup group({.last_delivered_id = {0, 0}, .entries_read = 2});
  stream.Delete({1, 1});
  EXPECT_EQ(stream.Lag(group), 3);
}

TEST(Stream, KnowsMoreLagsByTheLaterRule) {
  constexpr auto kLater = Stream::LagRule::kLater;
  Stream stream = StreamOf(5);
  // XGROUP SETID ENTRIESREAD may set any number.
  const StreamGroup group({.last_delivered_id = {0, 0}, .entries_read = 3});
  stream.Delete({1, 1});
  EXPECT_EQ(stream.Lag(group), 2);
  EXPECT_EQ(stream.Lag(group, kLater), 4) << "nothing that remains was read";
  stream.Delete({1, 3});
  EXPECT_EQ(stream.Lag(group, kLater), std::nullopt) << "a tombstone follows";
  for (const uint64_t sequence : {2, 4, 5}) stream.Delete({1, sequence});
  EXPECT_EQ(stream.Lag(group), 2);
  EXPECT_EQ(stream.Lag(group, kLater), 0) << "the stream is empty";
}

TEST(Stream, CountsFromTheLastDeliveredEntryByTheLaterRule) {
  constexpr auto kLater = Stream::LagRule::kLater;
  Stream stream = StreamOf(5);
  stream.Delete({1, 3});
  constexpr StreamGroup::Position kRead = {.last_delivered_id = {1, 2}, .entries_read = 2};
  StreamGroup first(kRead);
  StreamGroup second(kRead);
  stream.Advance(first, {1, 4});
  stream.Advance(second, {1, 4}, kLater);
  EXPECT_EQ(first.position.entries_read, 3) << "no tombstone follows 1-4";
  EXPECT_EQ(second.position.entries_read, std::nullopt) << "1-3 follows 1-2";
}

TEST(Stream, CountsNothingBeforeADeletedEntryByTheRuleOfValkey) {
  constexpr auto kValkey81 = Stream::LagRule::kValkey81;
  Stream stream = StreamOf(5);
  for (const uint64_t sequence : {3, 1, 2}) stream.Delete({1, sequence});
  EXPECT_EQ(stream.EntriesReadAt({1, 1}), 3);
  EXPECT_EQ(stream.EntriesReadAt({1, 1}, kValkey81), std::nullopt);
  EXPECT_EQ(stream.EntriesReadAt({1, 3}, kValkey81), 3);
  EXPECT_EQ(stream.EntriesReadAt({0, 0}, kValkey81), 3) << "a group that has read nothing";
}

TEST(Stream, DoesNotMoveAGroupBackwards) {
  const Stream stream = StreamOf(5);
  StreamGroup group({.last_delivered_id = {1, 4}, .entries_read = 4});
  stream.Advance(group, {1, 2});
  EXPECT_EQ(group.position.last_delivered_id, (StreamId{1, 4}));
  EXPECT_EQ(group.position.entries_read, 4);
}

TEST(Stream, CountsTheRadixTreeAnewWhenNodesComeAndGo) {
  Stream stream = StreamOf(3, {.max_entries = 1});
  EXPECT_EQ(stream.RadixTreeNodes(), 5U);
  stream.Delete({1, 2});
  EXPECT_EQ(stream.RadixTreeNodes(), 4U);
  stream.Trim({.max_length = 1});
  EXPECT_EQ(stream.RadixTreeNodes(), 2U);
  stream.Trim({.max_length = 0});
  EXPECT_EQ(stream.RadixTreeNodes(), 1U);
}

// The model: ids and values in a map.
using Model = std::map<StreamId, std::string>;

std::string ValueAt(const Stream::Cursor& at) {
  std::string text;
  at.VisitFields([&](const ListpackValue& field, const ListpackValue& value) {
    text += field.ToString() + "=" + value.ToString() + ";";
  });
  return text;
}

// Adds an entry after the last one to both.
void AddAtRandom(Stream& stream, Model& model, const StreamNodeLimits& limits) {
  const StreamId last = stream.last_id();
  const auto step = static_cast<uint64_t>(*rc::gen::inRange(1, 4));
  const bool same_ms = *rc::gen::arbitrary<bool>();
  const StreamId id = same_ms ? StreamId{last.ms, last.seq + step} : StreamId{last.ms + step, 0};
  const std::string value = std::to_string(*rc::gen::inRange(-200, 200));
  const bool usual_field = *rc::gen::inRange(0, 4) != 0;
  const Fields fields = usual_field ? Fields{"f", value} : Fields{"f", value, "extra", "x"};
  stream.Append(id, fields, limits);
  model[id] = usual_field ? "f=" + value + ";" : "f=" + value + ";extra=x;";
}

void TrimAtRandom(Stream& stream, Model& model) {
  const bool by_length = *rc::gen::arbitrary<bool>();
  const auto amount = static_cast<uint64_t>(*rc::gen::inRange(0, 12));
  StreamTrim trim;
  if (by_length) {
    trim.max_length = amount;
  } else {
    trim.min_id = StreamId{amount, 1};
  }
  const auto outside = [&](const Model& entries) {
    return by_length ? entries.size() > amount
                     : !entries.empty() && entries.begin()->first < *trim.min_id;
  };
  size_t removed = 0;
  for (; outside(model); ++removed) model.erase(model.begin());
  RC_ASSERT(stream.Trim(trim) == removed);
}

void CheckAgainst(const Stream& stream, const Model& model) {
  RC_ASSERT(stream.size() == model.size());
  RC_ASSERT(stream.first_id() == (model.empty() ? StreamId::Min() : model.begin()->first));
  Model forwards;
  for (Stream::Cursor at = stream.From(StreamId::Min()); at.valid(); at.Next()) {
    forwards[at.id()] = ValueAt(at);
  }
  RC_ASSERT(forwards == model);
  Ids expected;
  for (const auto& [id, value] : model) expected.insert(expected.begin(), id);
  RC_ASSERT(IdsBackFrom(stream, StreamId::Max()) == expected);
  size_t live = 0;
  for (size_t i = 0; i < stream.node_count(); ++i) live += stream.node(i).live();
  RC_ASSERT(live == model.size());
}

RC_GTEST_PROP(Stream, AgreesWithAPlainMap, ()) {
  const StreamNodeLimits limits{
      .max_bytes = static_cast<size_t>(*rc::gen::element(0, 60, 4096)),
      .max_entries = static_cast<size_t>(*rc::gen::inRange(0, 5)),
  };
  Stream stream;
  Model model;
  const int steps = *rc::gen::inRange(0, 80);
  for (int step = 0; step < steps; ++step) {
    const int choice = *rc::gen::inRange(0, 10);
    if (choice < 6) {
      AddAtRandom(stream, model, limits);
    } else if (choice < 9) {
      const StreamId id{static_cast<uint64_t>(*rc::gen::inRange(0, 12)),
                        static_cast<uint64_t>(*rc::gen::inRange(0, 6))};
      RC_ASSERT(stream.Contains(id) == model.contains(id));
      RC_ASSERT(stream.Delete(id) == (model.erase(id) == 1));
    } else {
      TrimAtRandom(stream, model);
    }
  }
  CheckAgainst(stream, model);
}

RC_GTEST_PROP(Stream, FindsTheNeighboursOfAnyId, (uint64_t wanted)) {
  const StreamId id{0, wanted % 40};
  Stream stream;
  Model model;
  for (uint64_t seq = 1; seq < 30; seq += static_cast<uint64_t>(*rc::gen::inRange(1, 4))) {
    Add(stream, {0, seq}, {.max_entries = 3});
    model[{0, seq}] = "";
    if (*rc::gen::inRange(0, 4) != 0) continue;
    stream.Delete({0, seq});
    model.erase({0, seq});
  }
  const auto above = model.lower_bound(id);
  const Stream::Cursor from = stream.From(id);
  RC_ASSERT(from.valid() == (above != model.end()));
  if (from.valid()) RC_ASSERT(from.id() == above->first);
  const auto behind = model.upper_bound(id);
  const Stream::Cursor back = stream.BackFrom(id);
  RC_ASSERT(back.valid() == (behind != model.begin()));
  if (back.valid()) RC_ASSERT(back.id() == std::prev(behind)->first);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
