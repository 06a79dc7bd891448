// Goal: each client is visited once a second, few clients at each call, and no call visits many.
#include "redouble/sim/server/client_rounds.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

struct Visited {
  int64_t id;
};

class ClientRoundsTest : public testing::Test {
 protected:
  void Connect(int64_t count) {
    for (int64_t id = 1; id <= count; ++id) clients_.emplace(id, std::make_unique<Visited>(id));
  }
  std::vector<int64_t> Visit() {
    std::vector<int64_t> ids;
    rounds_.VisitNext<Visited>(clients_, absl::Milliseconds(100),
                               [&](Visited& client) { ids.push_back(client.id); });
    return ids;
  }

  std::map<int64_t, std::unique_ptr<Visited>> clients_;
  ClientRounds rounds_;
};

TEST_F(ClientRoundsTest, VisitsFewClientsAtOnce) {
  EXPECT_THAT(Visit(), ElementsAre());
  Connect(3);
  EXPECT_THAT(Visit(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Visit(), ElementsAre(1, 2, 3));
}

TEST_F(ClientRoundsTest, VisitsEachOfManyOnceASecond) {
  Connect(1003);
  std::vector<int> visits(1004);
  for (int call = 0; call < 10; ++call) {
    const std::vector<int64_t> ids = Visit();
    EXPECT_EQ(ids.size(), 101);
    for (const int64_t id : ids) ++visits[static_cast<size_t>(id)];
  }
  visits.erase(visits.begin());
  EXPECT_THAT(visits, Each(testing::AnyOf(1, 2)));
}

TEST_F(ClientRoundsTest, GoesOnBehindClientsThatHaveLeft) {
  Connect(8);
  EXPECT_THAT(Visit(), ElementsAre(1, 2, 3, 4, 5));
  clients_.erase(5);
  clients_.erase(6);
  EXPECT_THAT(Visit(), ElementsAre(7, 8, 1, 2, 3));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
