#include "redouble/backends/memory/keyspace/expiry_wheel.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using NodeId = ExpiryWheel::NodeId;

constexpr int64_t kNow = 1'778'335'382'000;

// Removes all nodes that are due at `time_ms`, in the wheel's order. Positions are node ids here.
std::vector<uint32_t> TakeDue(ExpiryWheel& wheel, std::map<uint32_t, NodeId>& nodes,
                              int64_t time_ms) {
  std::vector<uint32_t> due;
  while (const std::optional<uint32_t> position = wheel.FirstDue(time_ms)) {
    due.push_back(*position);
    wheel.Remove(nodes.at(*position));
    nodes.erase(*position);
  }
  return due;
}

TEST(ExpiryWheel, GivesWhatIsDueInTheOrderOfDeadlines) {
  ExpiryWheel wheel;
  wheel.FirstDue(kNow);
  std::map<uint32_t, NodeId> nodes;
  nodes[1] = wheel.Add(kNow + 300, 1);
  nodes[2] = wheel.Add(kNow + 100, 2);
  nodes[3] = wheel.Add(kNow + 200, 3);
  EXPECT_EQ(TakeDue(wheel, nodes, kNow + 99), std::vector<uint32_t>());
  EXPECT_EQ(TakeDue(wheel, nodes, kNow + 200), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(wheel.size(), 1u);
}

TEST(ExpiryWheel, KeepsTheOrderOfAddingAmongEqualDeadlines) {
  ExpiryWheel wheel;
  wheel.FirstDue(kNow);
  std::map<uint32_t, NodeId> nodes;
  const int64_t deadline_ms = kNow + 100'000'000;
  nodes[1] = wheel.Add(deadline_ms, 1);
  nodes[2] = wheel.Add(deadline_ms, 2);
  // Closer by now, so that the third is added on another level than the first two.
  EXPECT_EQ(TakeDue(wheel, nodes, deadline_ms - 3), std::vector<uint32_t>());
  nodes[3] = wheel.Add(deadline_ms, 3);
  EXPECT_EQ(TakeDue(wheel, nodes, deadline_ms), (std::vector<uint32_t>{1, 2, 3}));
}

TEST(ExpiryWheel, LeapsOverDecades) {
  ExpiryWheel wheel;
  std::map<uint32_t, NodeId> nodes;
  constexpr int64_t kYear = 365ll * 24 * 3600 * 1000;
  nodes[1] = wheel.Add(kNow + 50 * kYear, 1);
  nodes[2] = wheel.Add(kNow + 1, 2);
  nodes[3] = wheel.Add(std::numeric_limits<int64_t>::max(), 3);
  EXPECT_EQ(TakeDue(wheel, nodes, kNow + 60 * kYear), (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(TakeDue(wheel, nodes, std::numeric_limits<int64_t>::max() - 1),
            std::vector<uint32_t>());
  EXPECT_EQ(TakeDue(wheel, nodes, std::numeric_limits<int64_t>::max()), std::vector<uint32_t>({3}));
}

TEST(ExpiryWheel, CountsALateDeadlineAsDue) {
  ExpiryWheel wheel;
  std::map<uint32_t, NodeId> nodes;
  wheel.FirstDue(kNow);
  nodes[1] = wheel.Add(kNow - 1000, 1);
  EXPECT_EQ(wheel.deadline_ms(nodes[1]), kNow - 1000);
  EXPECT_EQ(TakeDue(wheel, nodes, kNow), std::vector<uint32_t>({1}));
}

TEST(ExpiryWheel, FollowsAnEntryThatMoves) {
  ExpiryWheel wheel;
  const NodeId node = wheel.Add(kNow, 1);
  wheel.SetPosition(node, 7);
  EXPECT_EQ(wheel.FirstDue(kNow), 7u);
}

TEST(ExpiryWheel, BoundsTheEarliestDeadline) {
  ExpiryWheel wheel;
  EXPECT_EQ(wheel.EarliestBound(), std::nullopt);
  wheel.FirstDue(kNow);
  wheel.Add(kNow + 1'000'000, 1);
  ASSERT_TRUE(wheel.EarliestBound().has_value());
  // Repeated calls for the bound arrive at the deadline.
  int64_t bound_ms = *wheel.EarliestBound();
  for (int rounds = 0; bound_ms < kNow + 1'000'000; ++rounds) {
    ASSERT_LT(rounds, 12);
    ASSERT_EQ(wheel.FirstDue(bound_ms), std::nullopt);
    bound_ms = *wheel.EarliestBound();
  }
  EXPECT_EQ(bound_ms, kNow + 1'000'000);
}

TEST(ExpiryWheel, NamesTheEarliestDeadline) {
  ExpiryWheel wheel;
  EXPECT_EQ(wheel.Earliest(), std::nullopt);
  wheel.FirstDue(kNow);
  wheel.Add(kNow + 1'000'001, 1);
  wheel.Add(kNow + 1'000'000, 2);
  EXPECT_EQ(wheel.Earliest(), kNow + 1'000'000);
  wheel.Add(kNow - 5, 3);
  EXPECT_EQ(wheel.Earliest(), kNow);
}

TEST(ExpiryWheel, ForgetsEverythingWhenCleared) {
  ExpiryWheel wheel;
  wheel.Add(kNow, 1);
  wheel.Clear();
  EXPECT_EQ(wheel.size(), 0u);
  EXPECT_EQ(wheel.FirstDue(kNow), std::nullopt);
}

// The model: deadlines in a multimap, which keeps the order of insertion of equal keys.
using Model = std::multimap<int64_t, uint32_t>;

std::vector<uint32_t> TakeDue(Model& model, int64_t time_ms) {
  std::vector<uint32_t> due;
  while (!model.empty() && model.begin()->first <= time_ms) {
    due.push_back(model.begin()->second);
    model.erase(model.begin());
  }
  return due;
}

// Steps: the operation, a magnitude (a power of two), and a random number.
RC_GTEST_PROP(ExpiryWheel, AgreesWithASortedMap,
              (const std::vector<std::tuple<uint8_t, uint8_t, uint16_t>>& steps)) {
  ExpiryWheel wheel;
  Model model;
  std::map<uint32_t, NodeId> nodes;
  int64_t now_ms = kNow;
  wheel.FirstDue(now_ms);
  uint32_t next = 0;
  for (const auto& [action, magnitude, draw] : steps) {
    // Few distinct distances, so that deadlines collide.
    const int64_t distance_ms = (int64_t{1} << (magnitude % 40)) + draw % 3;
    if (action % 4 <= 1) {
      nodes[next] = wheel.Add(now_ms + distance_ms, next);
      model.emplace(now_ms + distance_ms, next++);
    } else if (action % 4 == 2 && !nodes.empty()) {
      const auto removed = std::next(nodes.begin(), draw % nodes.size());
      std::erase_if(model, [&](const auto& row) { return row.second == removed->first; });
      wheel.Remove(removed->second);
      nodes.erase(removed);
    } else {
      now_ms += distance_ms;
      RC_ASSERT(TakeDue(wheel, nodes, now_ms) == TakeDue(model, now_ms));
    }
    RC_ASSERT(wheel.size() == model.size());
    RC_ASSERT(wheel.Earliest().has_value() == !model.empty());
    if (!model.empty()) {
      RC_ASSERT(*wheel.EarliestBound() <= model.begin()->first);
      RC_ASSERT(*wheel.Earliest() == model.begin()->first);
    }
  }
  const int64_t end_ms = now_ms + (int64_t{1} << 41);
  RC_ASSERT(TakeDue(wheel, nodes, end_ms) == TakeDue(model, end_ms));
}

TEST(ExpiryWheel, VisitsWhatItHasSortedInTheOrderInWhichItIsDue) {
  ExpiryWheel wheel;
  wheel.FirstDue(kNow);
  const auto first = [&](size_t count) {
    std::vector<uint32_t> positions;
    wheel.VisitFirst(count, [&](uint32_t position) { positions.push_back(position); });
    return positions;
  };
  EXPECT_EQ(first(3), std::vector<uint32_t>());
  wheel.Add(kNow + 2, 1);
  wheel.Add(kNow + 1, 2);
  wheel.Add(kNow + 1, 3);
  wheel.Add(kNow + 100'000, 4);
  ASSERT_EQ(wheel.FirstDue(kNow + 2), 2u);
  EXPECT_EQ(first(0), std::vector<uint32_t>());
  EXPECT_EQ(first(2), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(first(9), (std::vector<uint32_t>{2, 3, 1}));
}

TEST(ExpiryWheel, TellsWhichPlacesAreTaken) {
  ExpiryWheel wheel;
  const ExpiryWheel::NodeId first = wheel.Add(1000, 7);
  wheel.Add(2000, 8);
  wheel.Remove(first);
  ASSERT_EQ(wheel.place_count(), 2u);
  EXPECT_EQ(wheel.PositionAt(0), std::nullopt);
  EXPECT_EQ(wheel.PositionAt(1), 8u);
  wheel.Add(3000, 9);
  EXPECT_EQ(wheel.PositionAt(0), 9u);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
