#include "redouble/sim/fault/fault.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/fault/fault_page.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Command;
using store::CommandId;

// A request that is never completed.
class Unsent final : public store::Request {
 public:
  explicit Unsent(std::span<const Command> commands, Kind kind = Kind::kPipeline)
      : Request(kind, commands) {}

 private:
  void OnComplete(absl::StatusOr<store::Reply>&&) override {}
};

// Returns true if a plan of that one rule fires for the command, sent by actor "a" at `now`.
bool Fires(const FaultRule& rule, Command command, absl::Time now = absl::UnixEpoch()) {
  FaultPlan plan({rule});
  RecordedDecisions quiet({});
  const Unsent request(std::span(&command, 1), store::Request::Kind::kCommand);
  return plan.Draw("a", request, now, quiet) != nullptr;
}

Command Incr(std::string_view key) { return Command(CommandId::kIncr, {key}); }

TEST(FaultTable, HasOneRowPerFaultAndUniqueNames) {
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

TEST(FaultTable, SaysWhereEachFaultCanBeInjected) {
  const auto names = [](FaultSite site) {
    std::vector<std::string_view> found;
    for (const FaultSpec* spec : FaultsOf(site)) found.push_back(spec->name);
    return found;
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(names(FaultSite::kWorld).size(), AllFaults().size());
  EXPECT_EQ(names(FaultSite::kScenario), (Names{"flush", "restart"}));
  EXPECT_EQ(names(FaultSite::kServer), (Names{"drop_request", "drop_reply", "error_reply"}));
  EXPECT_EQ(names(FaultSite::kStore), (Names{"drop_request", "drop_reply", "delay", "duplicate",
                                             "error_reply", "disconnect"}));
  EXPECT_EQ(FindFaultSpec("flush", FaultSite::kStore), nullptr);
  EXPECT_EQ(FindFaultSpec("flush", FaultSite::kScenario), &SpecOf(Fault::kFlush));
}

TEST(FaultTable, OnlyFaultsOfTheServerBreakAllConnections) {
  for (const FaultSpec& spec : AllFaults()) {
    if (spec.breaks_connections) {
      EXPECT_EQ(spec.scope, FaultScope::kServer) << spec.name;
    }
  }
  EXPECT_TRUE(SpecOf(Fault::kRestart).breaks_connections);
  EXPECT_FALSE(SpecOf(Fault::kFlush).breaks_connections);
}

TEST(FaultsPage, HasARowForEachFault) {
  const std::string page = FaultsPage();
  for (const FaultSpec& spec : AllFaults()) {
    EXPECT_NE(page.find("| `" + std::string(spec.name) + "` | "), std::string::npos) << spec.name;
  }
  EXPECT_NE(page.find("| `drop_reply` | request | The request is executed, but its reply is lost. "
                      "|  |  | yes (also `LOSE`) | yes |\n"),
            std::string::npos);
}

TEST(FaultRule, AppliesToEveryRequestByDefault) {
  EXPECT_TRUE(Fires({.fault = Fault::kDropReply}, Incr("k")));
}

TEST(FaultRule, CanNameAnActor) {
  EXPECT_TRUE(Fires({.fault = Fault::kDropReply, .actor = "a"}, Incr("k")));
  EXPECT_FALSE(Fires({.fault = Fault::kDropReply, .actor = "b"}, Incr("k")));
}

TEST(FaultRule, CanNameACommandInAnyCase) {
  EXPECT_TRUE(Fires({.fault = Fault::kDropReply, .command = "Incr"}, Incr("k")));
  EXPECT_FALSE(Fires({.fault = Fault::kDropReply, .command = "GET"}, Incr("k")));
}

TEST(FaultRule, CanNameKeysByAGlob) {
  const FaultRule rule{.fault = Fault::kDropReply, .key = "budget:*"};
  EXPECT_TRUE(Fires(rule, Incr("budget:7")));
  EXPECT_FALSE(Fires(rule, Incr("other:7")));
  EXPECT_TRUE(Fires(rule, Command(CommandId::kMGet, {"other:7", "budget:7"})));
  EXPECT_FALSE(Fires(rule, Command(CommandId::kPing)));
  EXPECT_FALSE(Fires(rule, Command::Named("NOSUCH", {})));
  EXPECT_FALSE(Fires(rule, Command(CommandId::kIncr)));  // Its key is missing.
}

TEST(FaultRule, CanHaveATimeWindow) {
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

// Marks with X which of the first eight requests the rule fires for.
std::string Pattern(const FaultRule& rule, DecisionSource& decisions) {
  FaultPlan plan({rule});
  const Command command = Incr("k");
  const Unsent request(std::span(&command, 1), store::Request::Kind::kCommand);
  std::string pattern;
  for (int i = 0; i < 8; ++i) {
    const bool fires = plan.Draw("a", request, absl::UnixEpoch(), decisions) != nullptr;
    pattern += fires ? 'X' : '.';
  }
  EXPECT_EQ(plan.injected(), std::count(pattern.begin(), pattern.end(), 'X'));
  return pattern;
}

TEST(FaultRule, CanApplyToTheNthMatchOnly) {
  RecordedDecisions quiet({});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .nth = 3}, quiet), "..X.....");
}

TEST(FaultRule, CanBeLimited) {
  RecordedDecisions quiet({});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .limit = 2}, quiet), "XX......");
}

TEST(FaultRule, AsksTheDecisionSourceIfItIsNotCertain) {
  RecordedDecisions recorded({0, 1, 0, 0, 1});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .probability = 0.5}, recorded), ".X..X...");
  RecordedDecisions never({1, 1, 1});
  EXPECT_EQ(Pattern({.fault = Fault::kDropReply, .probability = 0}, never), "........");
}

TEST(FaultPlan, InjectsTheFirstRuleThatFires) {
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

TEST(Swarm, DrawsSomeOfTheRulesAndScalesTheirProbability) {
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
}  // namespace redouble::inline v0_1::sim
