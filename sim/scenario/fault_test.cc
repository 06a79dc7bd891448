#include "sim/scenario/fault.h"

#include "gtest/gtest.h"

namespace redouble::sim {
namespace {

TEST(FaultKinds, AreFoundByName) {
  for (const FaultKind& kind : FaultKinds()) EXPECT_EQ(FindFault(kind.name), &kind);
  EXPECT_EQ(FindFault("earthquake"), nullptr);
  EXPECT_EQ(FindFault(""), nullptr);
}

TEST(FaultKinds, BreakConnectionsWhenTheServerDies) {
  EXPECT_TRUE(FindFault("restart")->breaks_connections);
  EXPECT_FALSE(FindFault("flush")->breaks_connections);
}

}  // namespace
}  // namespace redouble::sim
