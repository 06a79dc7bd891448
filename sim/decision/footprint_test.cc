#include "redouble/sim/decision/footprint.h"

#include <string_view>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

using State = memory::AccessObserver::State;

Footprint Reading(std::string_view key) {
  Footprint footprint;
  footprint.OnRead(key);
  return footprint;
}

Footprint Writing(std::string_view key) {
  Footprint footprint;
  footprint.OnWrite(key);
  return footprint;
}

TEST(Footprint, TellsReadsFromWrites) {
  EXPECT_TRUE(Reading("a").IsIndependentOf(Reading("a")));
  EXPECT_FALSE(Reading("a").IsIndependentOf(Writing("a")));
  EXPECT_FALSE(Writing("a").IsIndependentOf(Reading("a")));
  EXPECT_FALSE(Writing("a").IsIndependentOf(Writing("a")));
  EXPECT_TRUE(Writing("a").IsIndependentOf(Writing("b")));
}

TEST(Footprint, TellsSharedStateApart) {
  Footprint draws;
  draws.OnWrite(State::kRandomNumbers);
  Footprint caches;
  caches.OnWrite(State::kScripts);
  Footprint calls;
  calls.OnRead(State::kScripts);
  EXPECT_FALSE(draws.IsIndependentOf(draws));
  EXPECT_TRUE(draws.IsIndependentOf(caches));
  EXPECT_FALSE(calls.IsIndependentOf(caches));
  EXPECT_TRUE(calls.IsIndependentOf(calls));
}

TEST(Footprint, OfEverythingDependsOnAllButTheEmptyOne) {
  Footprint all;
  all.OnAll();
  EXPECT_FALSE(all.IsIndependentOf(Reading("a")));
  EXPECT_FALSE(all.IsIndependentOf(all));
  EXPECT_TRUE(all.IsIndependentOf(Footprint()));
}

TEST(Footprint, MergesAllAccesses) {
  Footprint merged = Reading("a");
  merged.Merge(Writing("b"));
  EXPECT_FALSE(merged.IsIndependentOf(Writing("a")));
  EXPECT_FALSE(merged.IsIndependentOf(Reading("b")));
  Footprint all;
  all.OnAll();
  merged.Merge(all);
  EXPECT_FALSE(merged.IsIndependentOf(Reading("c")));
}

TEST(Footprint, KeepsTheOrderOfWhatAnInvariantSees) {
  Footprint invariant = Reading("a");
  invariant.Merge(Reading("b"));
  Footprint a = Writing("a");
  Footprint b = Writing("b");
  Footprint c = Writing("c");
  for (Footprint* turn : {&a, &b, &c}) turn->MarkIfVisibleTo(invariant);
  EXPECT_FALSE(a.IsIndependentOf(b));
  EXPECT_TRUE(a.IsIndependentOf(c));
}

TEST(Footprint, IsVisibleWithoutAnAccess) {
  Footprint a;
  Footprint b;
  EXPECT_TRUE(a.IsIndependentOf(b));
  a.MarkVisible();
  EXPECT_TRUE(a.IsIndependentOf(b));
  b.MarkVisible();
  EXPECT_FALSE(a.IsIndependentOf(b));
}

TEST(Footprint, ChangesWhatAnInvariantOverAllKeysSees) {
  Footprint invariant;
  invariant.OnAll();
  Footprint a = Writing("a");
  Footprint b = Writing("b");
  Footprint c = Reading("c");
  for (Footprint* turn : {&a, &b, &c}) turn->MarkIfVisibleTo(invariant);
  EXPECT_FALSE(a.IsIndependentOf(b));
  EXPECT_TRUE(a.IsIndependentOf(c));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
