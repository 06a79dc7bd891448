// The reductions of the searches lose no outcome: on random small worlds, the searches with sleep
// sets, with source sets, with a bound on preemptions and divided into units reach the same
// outcomes as those through all orders.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/bounded.h"
#include "redouble/sim/explore/divided.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;
using store::Command;
using Words = std::vector<std::string>;

// A world: the commands of each actor, the faults, and whether an invariant is checked.
struct Plan {
  std::vector<std::vector<Words>> actors;
  std::vector<FaultRule> faults;
  bool checks_invariant = false;
  Events events = Events::kAtomic;
  // The actors send all their commands as one pipeline.
  bool is_pipelined = false;
  // There is a replica, and of each actor the second command is sent to it.
  bool has_replica = false;
  // There are two masters of a cluster; the first word of a command is the server that it is sent
  // to.
  bool is_cluster = false;
  int clock_moves = 0;
  absl::Duration timeout = absl::InfiniteDuration();
};

// The scripts that EVALSHA calls are kSetB and kGetFoo.
constexpr std::string_view kSetB = "return redis.call('SET','b','s')";
// The order of KEYS is that of adding, which the reduction does not keep.
constexpr std::string_view kSortedKeys =
    "local keys = redis.call('KEYS','*') table.sort(keys) return keys";
constexpr std::string_view kGetFoo = "return redis.call('GET','foo')";

// Commands whose dependencies cannot be read from their declared keys come first.
const std::vector<Words>& Vocabulary() {
  static const std::vector<Words> words = {
      {"EVAL", "return redis.call('INCR','a')", "0"},
      {"EVAL", "if redis.call('GET','a') then return redis.call('SET','b','s') end", "0"},
      {"EVAL", "return redis.call('GET','b')", "1", "a"},
      {"EVAL", "return redis.call('DBSIZE')", "1", "a"},
      {"EVAL", "return redis.call('PUBLISH','c','m')", "1", "a"},
      {"EVAL", std::string(kSetB), "0"},
      {"EVALSHA", "35378dde1eeb950f261890f61d34954e258939f1", "0"},
      {"EVALSHA", "8618bc55f51753b59e5542e11002556ec7d80ee0", "1", "a"},
      {"EVAL", std::string(kGetFoo), "1", "b"},
      {"SCRIPT", "FLUSH"},
      {"SORT", "s", "BY", "w_*"},
      {"SORT", "s", "BY", "nosort", "GET", "w_*", "STORE", "l"},
      {"SET", "w_1", "9"},
      {"SADD", "s", "1", "2"},
      {"SPOP", "s"},
      {"SRANDMEMBER", "t"},
      {"SADD", "t", "x", "y", "z"},
      {"EVAL", std::string(kSortedKeys), "0"},
      {"DBSIZE"},
      {"FLUSHALL"},
      {"SWAPDB", "0", "1"},
      {"SELECT", "1"},
      {"SUBSCRIBE", "c"},
      {"PUBLISH", "c", "m"},
      {"WATCH", "a"},
      {"MULTI"},
      {"EXEC"},
      {"BLPOP", "l", "1"},
      {"BLMOVE", "l", "m", "LEFT", "LEFT", "1"},
      {"XREAD", "BLOCK", "10", "STREAMS", "x", "0"},
      {"XADD", "x", "*", "f", "v"},
      {"RPUSH", "l", "1"},
      {"LPOP", "l"},
      {"LRANGE", "m", "0", "-1"},
      {"RPUSH", "m", "2"},
      {"SET", "a", "1"},
      {"SET", "b", "2", "PX", "5"},
      {"GET", "a"},
      {"GET", "b"},
      {"APPEND", "a", "1"},
      {"DEL", "a"},
      {"RENAME", "a", "b"},
      {"COPY", "b", "a"},
      {"EXPIRE", "a", "100"},
      {"PTTL", "a"},
      {"PERSIST", "a"},
      {"OBJECT", "ENCODING", "a"},
  };
  return words;
}

constexpr std::string_view kReplica = "replica";

FaultRule Rule(Fault fault, int64_t nth, double probability) {
  return {.fault = fault,
          .nth = nth,
          .probability = probability,
          .limit = 1,
          .duration = absl::Milliseconds(3),
          .server = std::string(kReplica)};
}

Plan DrawPlan() {
  Plan plan;
  plan.actors.resize(static_cast<size_t>(*rc::gen::inRange(2, 4)));
  const size_t most = plan.actors.size() == 2 ? 4 : 3;
  for (std::vector<Words>& commands : plan.actors) {
    const size_t count = *rc::gen::inRange<size_t>(1, most);
    commands = *rc::gen::container<std::vector<Words>>(count, rc::gen::elementOf(Vocabulary()));
  }
  plan.checks_invariant = *rc::gen::arbitrary<bool>();
  if (*rc::gen::inRange(0, 3) == 0) {
    const Fault fault =
        *rc::gen::element(Fault::kDropRequest, Fault::kDropReply, Fault::kDelay, Fault::kDuplicate,
                          Fault::kDisconnect, Fault::kCrash, Fault::kFlush, Fault::kEvict);
    const auto nth = *rc::gen::inRange<int64_t>(0, 3);
    plan.faults.push_back(Rule(fault, nth, /*probability=*/0.5));
  }
  return plan;
}

// A world with split events, or one whose clock moves early. It has more turns, so fewer commands.
Plan DrawSplitPlan() {
  Plan plan;
  plan.actors.resize(2);
  for (std::vector<Words>& commands : plan.actors) {
    const size_t count = *rc::gen::inRange<size_t>(1, 3);
    commands = *rc::gen::container<std::vector<Words>>(count, rc::gen::elementOf(Vocabulary()));
  }
  plan.checks_invariant = *rc::gen::inRange(0, 4) == 0;
  plan.events = *rc::gen::element(Events::kSplit, Events::kSplit, Events::kAtomic);
  plan.is_pipelined = *rc::gen::arbitrary<bool>();
  plan.clock_moves = *rc::gen::inRange(0, 2);
  if (*rc::gen::arbitrary<bool>()) plan.timeout = absl::Milliseconds(2);
  if (*rc::gen::arbitrary<bool>()) {
    const Fault fault =
        plan.events == Events::kAtomic
            ? *rc::gen::element(Fault::kDelay, Fault::kCrash, Fault::kDropReply)
            : *rc::gen::element(Fault::kGiveUp, Fault::kCrashInFlight, Fault::kDuplicate,
                                Fault::kPartitionRequests, Fault::kPartitionReplies, Fault::kDelay,
                                Fault::kDropReply, Fault::kDisconnect, Fault::kRestart);
    const auto nth = *rc::gen::inRange<int64_t>(0, 3);
    plan.faults.push_back(Rule(fault, nth, /*probability=*/0.5));
  }
  return plan;
}

// A world with a replica, whose steps are turns, too.
Plan DrawReplicatedPlan() {
  Plan plan;
  plan.has_replica = true;
  plan.actors.resize(2);
  for (std::vector<Words>& commands : plan.actors) {
    const size_t count = *rc::gen::inRange<size_t>(1, 3);
    for (size_t i = 0; i < count; ++i) {
      const bool waits = *rc::gen::inRange(0, 6) == 0;
      commands.push_back(waits ? Words{"WAIT", "1", "5"} : *rc::gen::elementOf(Vocabulary()));
    }
  }
  plan.events = *rc::gen::element(Events::kSplit, Events::kAtomic, Events::kAtomic);
  if (*rc::gen::inRange(0, 3) == 0) {
    const Fault fault = *rc::gen::element(Fault::kPromote, Fault::kFlush, Fault::kDisconnect);
    plan.faults.push_back(Rule(fault, *rc::gen::inRange<int64_t>(0, 3), /*probability=*/0.5));
  }
  return plan;
}

constexpr std::string_view kOther = "b";

// Two masters, of which `main` has the slot of {k}. The actors use its keys while the slot moves.
Plan DrawClusterPlan() {
  static const std::vector<Words> vocabulary = {
      {"GET", "{k}1"},
      {"SET", "{k}1", "1"},
      {"SET", "{k}2", "2"},
      {"DEL", "{k}1"},
      {"MGET", "{k}1", "{k}2"},
      {"ASKING"},
      {"CLUSTER", "SETSLOT", "7629", "MIGRATING", "@b"},
      {"CLUSTER", "SETSLOT", "7629", "IMPORTING", "@main"},
      {"CLUSTER", "SETSLOT", "7629", "STABLE"},
      {"CLUSTER", "SETSLOT", "7629", "NODE", "@b"},
      {"MIGRATE", "b", "6379", "{k}1", "0", "1000"},
      {"CLUSTER", "SLOTS"},
  };
  Plan plan;
  plan.is_cluster = true;
  plan.actors.resize(2);
  for (std::vector<Words>& commands : plan.actors) {
    const size_t count = *rc::gen::inRange<size_t>(1, 4);
    for (size_t i = 0; i < count; ++i) {
      Words words = *rc::gen::elementOf(vocabulary);
      words.insert(words.begin(), *rc::gen::element<std::string>(kMainServer, std::string(kOther)));
      commands.push_back(std::move(words));
    }
  }
  return plan;
}

std::string Text(const absl::StatusOr<store::Reply>& reply) {
  return reply.ok() ? reply->DebugString() : reply.status().ToString();
}

Command CommandOf(const Words& words) {
  Command command = Command::Named(words[0]);
  command.AddAll(std::span(words).subspan(1));
  return command;
}

Task<void> SendAll(Actor& actor, const std::vector<Words>& commands, std::string& replies) {
  for (const Words& words : commands) {
    const Command command = CommandOf(words);
    replies += Text(co_await actor.store().Execute(command)) + ";";
  }
}

Task<void> SendToBoth(Actor& actor, const std::vector<Words>& commands, std::string& replies) {
  const std::unique_ptr<store::Store> replica = actor.Connect(kReplica);
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command command = CommandOf(commands[i]);
    store::Store& receiver = i == 1 ? *replica : actor.store();
    replies += Text(co_await receiver.Execute(command)) + ";";
  }
}

Task<void> SendPipeline(Actor& actor, const std::vector<Words>& commands, std::string& replies) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const Words& words : commands) batch.Add(CommandOf(words));
  replies += Text(co_await actor.store().ExecuteRaw(batch)) + ";";
}

std::string Ask(World& world, const Words& words, std::string_view server = {}) {
  const std::unique_ptr<memory::Session> session = world.Connect(server);
  const Command command = CommandOf(words);
  const auto ask = [](store::Store& store, const Command& asked) -> Task<std::string> {
    co_return Text(co_await store.Execute(asked));
  };
  return base::Run(ask(*session, command));
}

// "@name" means the id of a node.
Words WithIds(World& world, std::span<const std::string> words) {
  Words named(words.begin(), words.end());
  for (std::string& word : named) {
    if (!word.starts_with('@')) continue;
    word = world.FindServer(word.substr(1))->engine().core().cluster()->address().id;
  }
  return named;
}

Task<void> SendToNodes(Actor& actor, const std::vector<Words>& commands, std::string& replies) {
  const std::unique_ptr<store::Store> other = actor.Connect(kOther);
  for (const Words& sent : commands) {
    const Words words = WithIds(actor.world(), std::span(sent).subspan(1));
    const Command command = CommandOf(words);
    store::Store& receiver = sent[0] == kOther ? *other : actor.store();
    replies += Text(co_await receiver.Execute(command)) + ";";
  }
}

// The replies of all actors and the data at the end; what was violated, if anything was.
std::string RunPlan(const Plan& plan, DecisionSource& decisions) {
  std::vector<std::string> replies(plan.actors.size());
  std::vector<ServerOptions> servers;
  if (plan.has_replica) {
    servers.push_back({.name = std::string(kReplica), .replica_of = std::string(kMainServer)});
  }
  if (plan.is_cluster) servers.push_back({.name = std::string(kOther)});
  World world({.servers = servers,
               .cluster = plan.is_cluster,
               .decisions = &decisions,
               .faults = plan.faults,
               .events = plan.events,
               .clock_moves = plan.clock_moves,
               .request_timeout = plan.timeout,
               .traced = false});
  for (size_t i = 0; i < plan.actors.size(); ++i) {
    world.Spawn("actor" + std::to_string(i), [&plan, &replies, i](Actor& actor) {
      if (plan.has_replica) return SendToBoth(actor, plan.actors[i], replies[i]);
      if (plan.is_cluster) return SendToNodes(actor, plan.actors[i], replies[i]);
      return plan.is_pipelined ? SendPipeline(actor, plan.actors[i], replies[i])
                               : SendAll(actor, plan.actors[i], replies[i]);
    });
  }
  if (plan.checks_invariant) {
    world.AddInvariant(
        "a comes first",
        [&world]() -> absl::Status {
          if (Ask(world, {"EXISTS", "b"}) == Ask(world, {"EXISTS", "a"})) return absl::OkStatus();
          if (Ask(world, {"EXISTS", "l"}) == "0") return absl::OkStatus();
          return absl::InternalError("l without a");
        },
        InvariantReads::kServerOnly);
  }
  const RunReport report = world.Run({.max_steps = 100});
  if (!report.violation.ok()) return report.violation.ToString();
  std::string outcome = std::to_string(static_cast<int>(report.end));
  for (const std::string& told : replies) outcome += "\n" + told;
  for (const std::unique_ptr<WorldServer>& server : world.servers()) {
    outcome += "\n" + Ask(world, {"DEBUG", "DIGEST"}, server->name());
    if (plan.is_cluster) outcome += Ask(world, {"CLUSTER", "SLOTS"}, server->name());
  }
  return outcome;
}

struct Search {
  std::set<std::string> outcomes;
  int64_t runs = 0;
};

// All outcomes of the plan; nullopt if it has more than `most` schedules.
template <typename Decisions>
std::optional<Search> RunAll(const Plan& plan, Decisions decisions, int64_t most) {
  Search search;
  do {
    if (++search.runs > most) return std::nullopt;
    std::string outcome = RunPlan(plan, decisions);
    if (!decisions.redundant()) search.outcomes.insert(std::move(outcome));
  } while (decisions.Next());
  return search;
}

using Reduction = ExhaustiveDecisions::Reduction;

constexpr int64_t kMost = 3000;
// A reduced search starts again when an invariant reads something new.
constexpr int64_t kMostRestarts = 10;

void CheckReductions(const Plan& plan) {
  const auto all = RunAll(plan, ExhaustiveDecisions(Reduction::kNone), kMost);
  RC_PRE(all.has_value());
  for (const Reduction reduction : {Reduction::kSleepSets, Reduction::kSourceSets}) {
    const auto reduced = RunAll(plan, ExhaustiveDecisions(reduction), kMost * kMostRestarts);
    RC_ASSERT(reduced.has_value());
    RC_ASSERT(reduced->outcomes == all->outcomes);
    RC_ASSERT(plan.checks_invariant || reduced->runs <= all->runs);
  }
}

RC_GTEST_PROP(Reduction, LosesNoOutcome, ()) { CheckReductions(DrawPlan()); }

RC_GTEST_PROP(Reduction, LosesNoOutcomeOfSplitEvents, ()) { CheckReductions(DrawSplitPlan()); }

RC_GTEST_PROP(Reduction, LosesNoOutcomeOfReplicas, ()) { CheckReductions(DrawReplicatedPlan()); }

RC_GTEST_PROP(Reduction, LosesNoOutcomeOfClusters, ()) { CheckReductions(DrawClusterPlan()); }

// `b` takes the slot and has news for `main`. A SETSLOT on `main` makes the news needless, so in
// the first run they are never heard: only a search that tries them earlier sees commands after
// them.
TEST(Reduction, LosesNoNewsThatATurnMakesNeedless) {
  const auto to = [](std::string_view server, Words words) {
    words.insert(words.begin(), std::string(server));
    return words;
  };
  const Words take = {"CLUSTER", "SETSLOT", "7629", "NODE", "@b"};
  const Words migrate = to(kMainServer, {"MIGRATE", "b", "6379", "{k}1", "0", "1000"});
  const std::vector<std::vector<Words>> worlds[] = {
      {{to(kMainServer, {"GET", "{k}1"}), to(kMainServer, take)}, {to(kOther, take)}},
      {{to(kOther, take), migrate, to(kMainServer, {"SET", "{k}2", "2"})},
       {migrate, migrate, to(kMainServer, take)}},
  };
  for (const std::vector<std::vector<Words>>& actors : worlds) {
    Plan plan;
    plan.is_cluster = true;
    plan.actors = actors;
    const auto all = RunAll(plan, ExhaustiveDecisions(Reduction::kNone), kMost);
    ASSERT_TRUE(all.has_value());
    for (const Reduction reduction : {Reduction::kSleepSets, Reduction::kSourceSets}) {
      const auto reduced = RunAll(plan, ExhaustiveDecisions(reduction), all->runs);
      ASSERT_TRUE(reduced.has_value());
      EXPECT_EQ(reduced->outcomes, all->outcomes);
    }
  }
}

// All outcomes of the plan by a divided search, with the units of each round run in the order that
// `order` makes of their numbers.
template <typename Order>
std::optional<Search> RunDivided(const Plan& plan, const DivisionOptions& division, int64_t most,
                                 const Order& order) {
  Search search;
  DividedSearch divided(std::numeric_limits<int>::max(), division);
  while (divided.units() > 0) {
    std::vector<std::string> texts(divided.units());
    for (size_t i = 0; i < texts.size(); ++i) {
      const size_t unit = order(i, texts.size());
      ExhaustiveDecisions decisions = divided.Begin(unit);
      for (int64_t run = 0; run < divided.runs() && !decisions.has_ended(); ++run) {
        if (++search.runs > most) return std::nullopt;
        std::string outcome = RunPlan(plan, decisions);
        if (!decisions.redundant()) search.outcomes.insert(std::move(outcome));
        decisions.Next();
      }
      texts[unit] = DividedSearch::ToText(decisions);
    }
    for (size_t unit = 0; unit < texts.size(); ++unit) divided.Add(unit, texts[unit]);
    divided.EndRound();
  }
  return search;
}

// A divided search loses no outcome, however small its units are.
void CheckDivision(const Plan& plan) {
  const auto all = RunAll(plan, ExhaustiveDecisions(Reduction::kNone), kMost);
  RC_PRE(all.has_value());
  const DivisionOptions division = {.units = *rc::gen::inRange<size_t>(2, 9),
                                    .first_runs = *rc::gen::inRange<int64_t>(1, 4),
                                    .runs = *rc::gen::inRange<int64_t>(1, 9),
                                    .kept_decisions = *rc::gen::inRange<size_t>(0, 3)};
  const auto forward = [](size_t i, size_t) { return i; };
  const auto divided = RunDivided(plan, division, kMost * kMostRestarts, forward);
  RC_ASSERT(divided.has_value());
  RC_ASSERT(divided->outcomes == all->outcomes);
  const auto backward = [](size_t i, size_t units) { return units - 1 - i; };
  const auto again = RunDivided(plan, division, kMost * kMostRestarts, backward);
  RC_ASSERT(again->outcomes == all->outcomes);
  RC_ASSERT(again->runs == divided->runs);
  // An option that the search in one piece lets sleep sleeps in all units, too.
  const auto whole = RunAll(plan, ExhaustiveDecisions(), kMost * kMostRestarts);
  RC_TAG(std::string(divided->runs > whole->runs ? "more runs" : "no more runs"));
  RC_ASSERT(plan.checks_invariant || divided->runs <= all->runs);
}

RC_GTEST_PROP(Division, LosesNoOutcome, ()) { CheckDivision(DrawPlan()); }

RC_GTEST_PROP(Division, LosesNoOutcomeOfSplitEvents, ()) { CheckDivision(DrawSplitPlan()); }

RC_GTEST_PROP(Division, LosesNoOutcomeOfReplicas, ()) { CheckDivision(DrawReplicatedPlan()); }

RC_GTEST_PROP(Division, LosesNoOutcomeOfClusters, ()) { CheckDivision(DrawClusterPlan()); }

// A daemon that the last turn of an actor lets go on may take turns before the end of another one.
TEST(Reduction, LosesNoEndOfARun) {
  const auto outcomes = [](auto decisions) {
    std::set<std::string> all;
    do {
      World world({.decisions = &decisions, .traced = false});
      world.Spawn(
          "daemon",
          [](Actor& actor) -> Task<void> {
            const Command take(store::CommandId::kBLMove, {"from", "to", "LEFT", "LEFT", "0"});
            (void)co_await actor.store().Execute(take);
            const Command push(store::CommandId::kRPush, {"taken", "1"});
            (void)co_await actor.store().Execute(push);
          },
          {.daemon = true});
      for (const char* name : {"other", "from"}) {
        world.Spawn(name, [name](Actor& actor) -> Task<void> {
          const Command push(store::CommandId::kRPush, {name, "1"});
          (void)co_await actor.store().Execute(push);
        });
      }
      world.Run();
      if (!decisions.redundant()) all.insert(Ask(world, {"DEBUG", "DIGEST"}));
    } while (decisions.Next());
    return all;
  };
  const std::set<std::string> all = outcomes(ExhaustiveDecisions(Reduction::kNone));
  EXPECT_EQ(outcomes(ExhaustiveDecisions(Reduction::kSleepSets)), all);
  EXPECT_EQ(outcomes(ExhaustiveDecisions(Reduction::kSourceSets)), all);
}

void CheckWithoutABound(const Plan& plan) {
  constexpr int kUnbounded = 100;
  const auto all = RunAll(plan, ExhaustiveDecisions(Reduction::kNone), kMost);
  RC_PRE(all.has_value());
  const auto bounded = RunAll(plan, BoundedDecisions(kUnbounded), kMost * kMostRestarts);
  RC_ASSERT(bounded.has_value());
  RC_ASSERT(bounded->outcomes == all->outcomes);
}

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeWithoutABound, ()) { CheckWithoutABound(DrawPlan()); }

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeOfSplitEventsWithoutABound, ()) {
  CheckWithoutABound(DrawSplitPlan());
}

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeOfReplicasWithoutABound, ()) {
  CheckWithoutABound(DrawReplicatedPlan());
}

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeOfClustersWithoutABound, ()) {
  CheckWithoutABound(DrawClusterPlan());
}

// Enumerates all schedules with up to `bound` preemptions and faults, without any reduction.
class PlainBoundedDecisions final : public DecisionSource {
 public:
  explicit PlainBoundedDecisions(int bound) : bound_(bound) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    const bool continues = options.front().actor == last_actor_;
    const size_t chosen = all_.ChooseNext(options);
    cost_ += continues && options[chosen].actor != last_actor_ ? 1 : 0;
    return chosen;
  }
  size_t Pick(size_t count) override { return all_.Pick(count); }
  bool Chance(double probability) override {
    const bool happens = all_.Chance(probability);
    cost_ += happens ? 1 : 0;
    return happens;
  }
  void OnTurn(const ScheduleOption& turn) override { last_actor_ = turn.actor; }
  void OnClockMove() override { last_actor_ = -1; }

  bool Next() {
    cost_ = 0;
    last_actor_ = -1;
    return all_.Next();
  }
  // A run over the bound does not count.
  bool redundant() const { return cost_ > bound_; }

 private:
  const int bound_;
  ExhaustiveDecisions all_{Reduction::kNone};
  int cost_ = 0;
  int last_actor_ = -1;
};

void CheckWithinABound(const Plan& plan) {
  const int bound = *rc::gen::inRange(0, 3);
  const auto plain = RunAll(plan, PlainBoundedDecisions(bound), kMost);
  RC_PRE(plain.has_value());
  const auto bounded = RunAll(plan, BoundedDecisions(bound), kMost * kMostRestarts);
  RC_ASSERT(bounded.has_value());
  RC_ASSERT(bounded->outcomes == plain->outcomes);
}

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeWithinABound, ()) { CheckWithinABound(DrawPlan()); }

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeOfSplitEventsWithinABound, ()) {
  CheckWithinABound(DrawSplitPlan());
}

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeOfReplicasWithinABound, ()) {
  CheckWithinABound(DrawReplicatedPlan());
}

RC_GTEST_PROP(BoundedDecisions, LoseNoOutcomeOfClustersWithinABound, ()) {
  CheckWithinABound(DrawClusterPlan());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
