#include "redouble/backends/memory/values/stream_group.h"

#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

StreamGroup NewGroup() { return StreamGroup({.last_delivered_id = StreamId::Min()}); }

TEST(StreamGroup, DeliversToAConsumer) {
  StreamGroup group = NewGroup();
  StreamConsumer& ann = group.AddConsumer("ann", 100);
  group.Deliver({1, 1}, ann, 200);
  const StreamPending* pending = group.FindPending({1, 1});
  ASSERT_NE(pending, nullptr);
  EXPECT_EQ(pending->consumer, &ann);
  EXPECT_EQ(pending->delivered_ms, 200);
  EXPECT_EQ(pending->deliveries, 1);
  EXPECT_TRUE(ann.pending.contains({1, 1}));
}

TEST(StreamGroup, DeliversAnewWhatIsPendingWithAnother) {
  StreamGroup group = NewGroup();
  StreamConsumer& ann = group.AddConsumer("ann", 100);
  StreamConsumer& bob = group.AddConsumer("bob", 100);
  group.Deliver({1, 1}, ann, 200);
  group.FindPending({1, 1})->deliveries = 7;
  group.Deliver({1, 1}, bob, 300);
  EXPECT_TRUE(ann.pending.empty());
  EXPECT_TRUE(bob.pending.contains({1, 1}));
  EXPECT_EQ(group.FindPending({1, 1})->deliveries, 1);
  EXPECT_EQ(group.FindPending({1, 1})->delivered_ms, 300);
}

TEST(StreamGroup, KeepsDeliveriesWhenAnEntryIsAssigned) {
  StreamGroup group = NewGroup();
  StreamConsumer& ann = group.AddConsumer("ann", 100);
  StreamConsumer& bob = group.AddConsumer("bob", 100);
  group.Deliver({1, 1}, ann, 200);
  group.Assign({1, 1}, *group.FindPending({1, 1}), bob);
  EXPECT_TRUE(ann.pending.empty());
  EXPECT_EQ(group.FindPending({1, 1})->consumer, &bob);
  EXPECT_EQ(group.FindPending({1, 1})->delivered_ms, 200);
}

TEST(StreamGroup, AcknowledgesOnce) {
  StreamGroup group = NewGroup();
  StreamConsumer& ann = group.AddConsumer("ann", 100);
  group.Deliver({1, 1}, ann, 200);
  EXPECT_TRUE(group.Acknowledge({1, 1}));
  EXPECT_FALSE(group.Acknowledge({1, 1}));
  EXPECT_TRUE(ann.pending.empty());
}

TEST(StreamGroup, RemovesAConsumerWithItsPendingEntries) {
  StreamGroup group = NewGroup();
  StreamConsumer& ann = group.AddConsumer("ann", 100);
  StreamConsumer& bob = group.AddConsumer("bob", 100);
  group.Deliver({1, 1}, ann, 200);
  group.Deliver({1, 2}, bob, 200);
  EXPECT_EQ(group.RemoveConsumer("ann"), 1U);
  EXPECT_EQ(group.RemoveConsumer("ann"), std::nullopt);
  EXPECT_EQ(group.FindPending({1, 1}), nullptr);
  EXPECT_NE(group.FindPending({1, 2}), nullptr);
}

TEST(StreamGroup, ListsConsumersInTheOrderOfTheirBytes) {
  StreamGroup group = NewGroup();
  for (const char* name : {"b", "\xff", "a", "B"}) group.AddConsumer(name, 0);
  std::vector<std::string> names;
  for (const auto& [name, consumer] : group.consumers()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"B", "a", "b", "\xff"}));
}

TEST(StreamGroup, ClonesEverythingAndSharesNothing) {
  StreamGroup group({.last_delivered_id = {4, 4}, .entries_read = 9});
  group.Deliver({1, 1}, group.AddConsumer("ann", 100), 200);
  group.FindPending({1, 1})->deliveries = 3;
  StreamGroup copy = group.Clone();
  group.Acknowledge({1, 1});
  ASSERT_NE(copy.FindPending({1, 1}), nullptr);
  EXPECT_EQ(copy.FindPending({1, 1})->deliveries, 3);
  EXPECT_EQ(copy.FindPending({1, 1})->consumer, copy.FindConsumer("ann"));
  EXPECT_EQ(copy.FindConsumer("ann")->seen_ms, 100);
  EXPECT_EQ(copy.position.last_delivered_id, (StreamId{4, 4}));
  EXPECT_EQ(copy.position.entries_read, 9);
}

// An entry is always pending for exactly one consumer, which the model stores in a map.
RC_GTEST_PROP(StreamGroup, AgreesWithAMapOfOwners, ()) {
  StreamGroup group = NewGroup();
  std::map<StreamId, std::string> owners;
  const int steps = *rc::gen::inRange(0, 60);
  for (int step = 0; step < steps; ++step) {
    const StreamId id{1, static_cast<uint64_t>(*rc::gen::inRange(1, 8))};
    const std::string name(1, static_cast<char>('a' + *rc::gen::inRange(0, 3)));
    StreamConsumer* consumer = group.FindConsumer(name);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        if (consumer == nullptr) consumer = &group.AddConsumer(name, step);
        group.Deliver(id, *consumer, step);
        owners[id] = name;
        break;
      case 1:
        RC_ASSERT(group.Acknowledge(id) == (owners.erase(id) == 1));
        break;
      case 2:
        if (consumer != nullptr && group.FindPending(id) != nullptr) {
          group.Assign(id, *group.FindPending(id), *consumer);
          owners[id] = name;
        }
        break;
      default:
        group.RemoveConsumer(name);
        std::erase_if(owners, [&](const auto& owner) { return owner.second == name; });
    }
  }
  RC_ASSERT(group.pending().size() == owners.size());
  for (const auto& [id, name] : owners) {
    RC_ASSERT(group.FindPending(id)->consumer->name == name);
    RC_ASSERT(group.FindConsumer(name)->pending.contains(id));
  }
  size_t pending = 0;
  for (const auto& [name, consumer] : group.consumers()) pending += consumer->pending.size();
  RC_ASSERT(pending == owners.size());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
