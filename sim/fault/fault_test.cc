#include "sim/fault/fault.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/store/command.h"
#include "gtest/gtest.h"
#include "sim/world/decisions.h"

namespace redouble::sim {
namespace {

using store::Command;
using store::CommandId;

// A request that nobody completes.
class Unsent final : public store::Request {
 public:
  explicit Unsent(std::span<const Command> commands, Kind kind = Kind::kPipeline)
      : Request(kind, commands) {}

 private:
  void OnComplete(absl::StatusOr<store::Reply>&&) override {}
};

// Whether a plan of that one rule fires for the command, sent by actor "a" at `now`.
bool Fires(const FaultRule& rule, Command command, absl::Time now = absl::UnixEpoch()) {
  FaultPlan plan({rule});
  RecordedDecisions quiet({});
  const Unsent request(std::span(&command, 1), store::Request::Kind::kCommand);
  return plan.Draw("a", request, now, quiet) != nullptr;
}

Command Incr(std::string_view key) { return Command(CommandId::kIncr, {key}); }

TEST(FaultTable, HasOneRowPerFaultAndNamesThemApart) {
  std::set<std::string_view> names;
  for (const FaultSpec& spec : AllFaults()) {
    EXPECT_EQ(&SpecOf(spec.fault), &spec);
    EXPECT_EQ(FindFaultSpec(spec.name), &spec);
    EXPECT_TRUE(spec.effect.ends_with("."));
    names.insert(spec.name);
  }
  EXPECT_EQ(names.size(), AllFaults().size());
  EXPECT_EQ(FindFaultSpec("earthquake"), nullptr);
}

TEST(FaultRule, FallsOnEveryRequestUnlessItSaysWhich) {
  EXPECT_TRUE(Fires({.fault = Fault::kDropReply}, Incr("k")));
}

TEST(FaultRule, MayNameAnActor) {
  EXPECT_TRUE(Fires({.fault = Fault::kDropReply, .actor = "a"}, Incr("k")));
  EXPECT_FALSE(Fires({.fault = Fault::kDropReply, .actor = "b"}, Incr("k")));
}

TEST(FaultRule, MayNameACommandInAnyCase) {
  EXPECT_TRUE(Fires({.fault = Fault::kDropReply, .command = "Incr"}, Incr("k")));
  EXPECT_FALSE(Fires({.fault = Fault::kDropReply, .command = "GET"}, Incr("k")));
}

TEST(FaultRule, MayNameKeysByAGlob) {
  const FaultRule rule{.fault = Fault::kDropReply, .key = "budget:*"};
  EXPECT_TRUE(Fires(rule, Incr("budget:7")));
  EXPECT_FALSE(Fires(rule, Incr("other:7")));
  EXPECT_TRUE(Fires(rule, Command(CommandId::kMGet, {"other:7", "budget:7"})));
  EXPECT_FALSE(Fires(rule, Command(CommandId::kPing)));
  EXPECT_FALSE(Fires(rule, Command::Named("NOSUCH", {})));
  EXPECT_FALSE(Fires(rule, Command(CommandId::kIncr)));  // Its key is missing.
}

TEST(FaultRule, MayHaveAWindow) {
  const absl::Time start = absl::FromUnixSeconds(100);
  const FaultRule rule{
      .fault = Fault::kDropReply, .from = start, .until = start + absl::Seconds(10)};
  EXPECT_FALSE(Fires(rule, Incr("k"), start - absl::Microseconds(1)));
  EXPECT_TRUE(Fires(rule, Incr("k"), start));
  EXPECT_TRUE(Fires(rule, Incr("k"), start + absl::Microseconds(9'999'999)));
  EXPECT_FALSE(Fires(rule, Incr("k"), start + absl::Seconds(10)));
}

TEST(FaultRule, MatchesABatchByAnyOfItsCommands) {
  FaultPlan plan({{.fault = Fault::kDropReply, .command = "GET"}});
  RecordedDecisions quiet({});
  std::vector<Command> commands;
  commands.push_back(Incr("k"));
  commands.push_back(Command(CommandId::kGet, {"k"}));
  const Unsent request(commands);
  EXPECT_NE(plan.Draw("a", request, absl::UnixEpoch(), quiet), nullptr);
}

// Which of the first eight requests the rule falls on.
std::string Pattern(const FaultRule& rule, DecisionSource& decisions) {
  FaultPlan plan({rule});
  const Command command = Incr("k");
  const Unsent request(std::span(&command, 1), store::Request::Kind::kCommand);
  std::string pattern;
  for (int i = 0; i < 8; ++i) {
    const bool fires = plan.Draw("a", request, absl::UnixEpoch(), decisions) != nullptr;
    pattern += fires ? 'X' : '.';
  }
  EXPECT_EQ(plan.inflicted(), std::count(pattern.begin(), pattern.end(), 'X'));
  return pattern;
}

TEST(FaultRule, MayFallOnTheNthMatchAlone) {
  RecordedDecisions quiet({});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .nth = 3}, quiet), "..X.....");
}

TEST(FaultRule, MayBeLimited) {
  RecordedDecisions quiet({});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .limit = 2}, quiet), "XX......");
}

TEST(FaultRule, AsksTheDecisionsWhenItIsNotCertain) {
  RecordedDecisions recorded({0, 1, 0, 0, 1});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .probability = 0.5}, recorded), ".X..X...");
  RecordedDecisions never({1, 1, 1});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .probability = 0}, never), "........");
}

TEST(FaultPlan, InflictsTheFirstRuleThatFires) {
  FaultPlan plan({{.fault = Fault::kDropReply, .nth = 2}, {.fault = Fault::kDelay}});
  RecordedDecisions quiet({});
  const Command command = Incr("k");
  const Unsent request(std::span(&command, 1), store::Request::Kind::kCommand);
  EXPECT_EQ(plan.Draw("a", request, absl::UnixEpoch(), quiet)->fault, Fault::kDelay);
  EXPECT_EQ(plan.Draw("a", request, absl::UnixEpoch(), quiet)->fault, Fault::kDropReply);
  EXPECT_TRUE(plan.Has(Fault::kDelay));
  EXPECT_FALSE(plan.Has(Fault::kCrash));
  EXPECT_FALSE(plan.empty());
  EXPECT_TRUE(FaultPlan().empty());
}

TEST(Swarm, DrawsSomeOfTheRulesAndHowOftenTheyFall) {
  const std::vector<FaultRule> rules = {
      {.fault = Fault::kDropReply, .probability = 0.5},
      {.fault = Fault::kCrash, .nth = 3},
  };
  std::set<size_t> sizes;
  base::Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    const std::vector<FaultRule> drawn = DrawSwarm(rules, rng);
    sizes.insert(drawn.size());
    for (const FaultRule& rule : drawn) {
      if (rule.fault == Fault::kCrash) {
        EXPECT_EQ(rule.probability, 1);
        continue;
      }
      EXPECT_GE(rule.probability, 0.05);
      EXPECT_LE(rule.probability, 0.5);
    }
  }
  EXPECT_EQ(sizes, (std::set<size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace redouble::sim
