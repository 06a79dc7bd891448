#include "redouble/tests/property/orchestrator/protocol_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/testing/workflow_for_test.h"
#include "redouble/core/store/wrappers/intercepting_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using ::testing::Contains;
using ::testing::IsEmpty;

constexpr std::string_view kBranch = R"({"nodes":{
    "A":{"id":"A","type":"function","dependents":["B","C"],"branch":{"enabled":true,
         "type":"conditional","rules":[{"condition":{"type":"cel","expression":"output.n > 0"},
         "next_nodes":["B"]}],"default":["C"]}},
    "B":{"id":"B","type":"function"},"C":{"id":"C","type":"function"}},"entry_nodes":["A"]})";
constexpr std::string_view kChain = R"({"nodes":{
    "A":{"id":"A","type":"function","dependents":["B"]},
    "B":{"id":"B","type":"function"}},"entry_nodes":["A"]})";
constexpr std::string_view kApproval = R"({"nodes":{
    "approve":{"id":"approve","type":"hitl","dependents":["B"]},
    "B":{"id":"B","type":"function"}},"entry_nodes":["approve"]})";
constexpr std::string_view kJoin = R"({"nodes":{
    "A":{"id":"A","type":"function","dependents":["D"]},
    "B":{"id":"B","type":"http","dependents":["D"]},
    "D":{"id":"D","type":"function","dependencies":["A","B"]}},"entry_nodes":["A","B"]})";

std::string Entry(const std::string& node) {
  return ChildTokenId(TokenIdForm::kHashed, {"run_1", node}, {});
}

// Checks after every command that passes, and collects the violations.
class CheckingStore final : public store::InterceptingStore {
 public:
  CheckingStore(store::Store& inner, ProtocolWatch& watch)
      : InterceptingStore(inner), watch_(watch) {}

  Violations Take() { return std::exchange(seen_, {}); }

 private:
  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    absl::StatusOr<store::Reply> reply = co_await Forward(request);
    const Violations found = watch_.Check();
    seen_.insert(seen_.end(), found.begin(), found.end());
    co_return reply;
  }

  ProtocolWatch& watch_;
  Violations seen_;
};

// A watched run, and a client that sends commands that no coordinator would send.
class WatchedRun {
 public:
  explicit WatchedRun(std::string_view ir) {
    for (const char* id : {"run_1", "run_2"}) watch.Watch(id);
    for (const char* node : {"A", "B", "C", "D"}) workflow.Answer(node, OutputOf(node));
    workflow.Start("run_1", ir);
    EXPECT_THAT(Names(store.Take()), IsEmpty()) << "at the start";
  }

  // Sends one command and returns the invariants that it violates.
  std::set<std::string> Send(const std::vector<std::string>& words) {
    store::Command command = store::Command::Named(words[0]);
    command.AddAll(std::span<const std::string>(words).subspan(1));
    const auto reply = base::Run(Execute(std::move(command)));
    EXPECT_TRUE(reply.ok() && !reply->is_error()) << words[0];
    return Names(store.Take());
  }
  // Sends several commands at once, as a script.
  std::set<std::string> SendAtOnce(const std::string& commands) {
    std::string script;
    for (const auto& line : absl::StrSplit(commands, ';')) {
      script += "redis.call(";
      for (const auto& word : absl::StrSplit(line, ' ')) {
        if (script.back() != '(') script += ",";
        script += "'" + std::string(word.data(), word.size()) + "'";
      }
      script += ") ";
    }
    return Send({"EVAL", script, "0"});
  }
  // Runs one step of the worker and of the coordinator.
  void Advance() {
    workflow.TryStep();
    for (const Violation& violation : store.Take()) {
      ADD_FAILURE() << violation.invariant << ": " << violation.what;
    }
  }
  // Returns the invariants that are violated at the end.
  std::set<std::string> End() { return Names(watch.CheckAtEnd()); }

  static std::set<std::string> Names(const Violations& violations) {
    std::set<std::string> names;
    for (const Violation& violation : violations) names.insert(violation.invariant);
    return names;
  }

  base::VirtualClock clock{absl::FromUnixSeconds(1'800'000'000)};
  memory::Engine engine{clock, {}};
  std::unique_ptr<memory::Session> session = engine.Connect();
  ProtocolWatch watch{engine, clock, {}};
  CheckingStore store{*session, watch};
  WorkflowForTest workflow{store, clock, Keys(), Options()};

 private:
  static CoordinatorOptions Options() {
    CoordinatorOptions options;
    options.queue.consumer = "c1";
    return options;
  }
  base::Task<absl::StatusOr<store::Reply>> Execute(store::Command command) {
    co_return co_await store.Execute(command);
  }
};

TEST(ProtocolWatch, FindsNothingInACorrectRun) {
  for (const std::string_view ir : {kBranch, kChain, kJoin}) {
    WatchedRun run(ir);
    for (int i = 0; i < 5; ++i) run.Advance();
    EXPECT_TRUE(run.watch.IsGone("run_1"));
    EXPECT_THAT(run.End(), IsEmpty()) << ir;
  }
}

TEST(ProtocolWatch, I1FindsACounterThatIsNotTheTokens) {
  EXPECT_THAT(WatchedRun(kChain).Send({"INCR", "counter:run_1"}), Contains("I1"));
  WatchedRun parked(kJoin);
  parked.Advance();
  EXPECT_THAT(parked.Send({"SADD", "pending_tokens:run_1:D", "X"}), Contains("I1"));
}

TEST(ProtocolWatch, I2FindsANegativeCounterAndOneThatComesBack) {
  EXPECT_THAT(WatchedRun(kChain).Send({"SET", "counter:run_1", "-1", "KEEPTTL"}), Contains("I2"));
  WatchedRun run(kChain);
  for (int i = 0; i < 3; ++i) run.Advance();
  ASSERT_TRUE(run.watch.IsGone("run_1"));
  EXPECT_THAT(run.Send({"INCR", "counter:run_1"}), Contains("I2"));
}

TEST(ProtocolWatch, I3FindsAChangeWithoutItsOperationAndAnOperationOfNoToken) {
  EXPECT_THAT(WatchedRun(kChain).Send({"INCR", "counter:run_1"}), Contains("I3"));
  EXPECT_THAT(WatchedRun(kChain).Send({"SADD", "applied:run_1", "consume:" + Entry("A")}),
              Contains("I3"));
  EXPECT_THAT(WatchedRun(kChain).Send({"SADD", "applied:run_1", "emit:nobody"}), Contains("I3"));
}

TEST(ProtocolWatch, I4FindsAPrematureEndAndADuplicateAnnouncement) {
  EXPECT_THAT(WatchedRun(kChain).Send({"DEL", "counter:run_1"}), Contains("I4"));
  const std::string told = R"({"type":"workflow_completed","run_id":"run_1"})";
  EXPECT_THAT(WatchedRun(kChain).Send({"PUBLISH", "run:run_1", told}), Contains("I4"));
  WatchedRun run(kChain);
  for (int i = 0; i < 3; ++i) run.Advance();
  EXPECT_THAT(run.Send({"PUBLISH", "run:run_1", told}), Contains("I4"));
  run.watch.Claim("run_1");
  EXPECT_THAT(WatchedRun::Names(run.watch.Check()), Contains("I4"));
}

TEST(ProtocolWatch, I4FindsActivityAfterTheEnd) {
  WatchedRun run(kChain);
  run.SendAtOnce("SET counter:run_1 0 KEEPTTL");
  EXPECT_THAT(run.Send({"INCR", "counter:run_1"}), Contains("I4"));
}

TEST(ProtocolWatch, I5FindsARunThatEndsBeforeItsApproval) {
  WatchedRun run(kApproval);
  run.Advance();
  ASSERT_EQ(run.workflow.approval_ids().size(), 1);
  EXPECT_THAT(run.Send({"DEL", "counter:run_1", "ir:run_1", "applied:run_1"}), Contains("I5"));
}

TEST(ProtocolWatch, I6FindsASetThatDoesNotNameThePendingAndADecisionWithoutItsToken) {
  WatchedRun forgotten(kApproval);
  forgotten.Advance();
  const std::string id = forgotten.workflow.approval_ids().at(0);
  EXPECT_THAT(forgotten.Send({"SREM", "pending_approvals:run_1", "approval_" + id}),
              Contains("I6"));
  WatchedRun unpaid(kApproval);
  unpaid.Advance();
  EXPECT_THAT(unpaid.SendAtOnce("HSET approval:" + id + " status approved;SREM " +
                                "pending_approvals:run_1 approval_" + id),
              Contains("I6"));
  WatchedRun twice(kApproval);
  twice.Advance();
  ASSERT_THAT(base::Run(twice.workflow.approvals().Approve("run_1", id)), IsOk());
  EXPECT_THAT(WatchedRun::Names(twice.store.Take()), IsEmpty());
  EXPECT_THAT(twice.Send({"HSET", "approval:" + id, "status", "rejected"}), Contains("I6"));
}

TEST(ProtocolWatch, I7FindsAConsumptionBeforeTheEmissionOrThePublication) {
  const std::string consume = "SADD applied:run_1 consume:" + Entry("A") + ";DECR counter:run_1";
  EXPECT_THAT(WatchedRun(kChain).SendAtOnce(consume), Contains("I7"));
  WatchedRun unpublished(kChain);
  EXPECT_THAT(
      unpublished.SendAtOnce("SADD applied:run_1 emit:" + Entry("A") + " route:" + Entry("A") +
                             "|B/A/;INCR counter:run_1;EXPIRE applied:run_1 9"),
      IsEmpty());
  EXPECT_THAT(unpublished.SendAtOnce(consume), Contains("I7"));
}

TEST(ProtocolWatch, I8FindsANodeThatIsExecutedTwice) {
  // Two tokens of B with different ids, although the graph has one path to B.
  WatchedRun run(kChain);
  run.Advance();
  run.Advance();
  ASSERT_TRUE(run.watch.IsGone("run_1"));
  TokenLedger ledger("run_1");
  ledger.AddGraph(std::string(kChain));
  ledger.Begin();
  EXPECT_EQ(ledger.live(), 1);
  WatchedRun twice(
      R"({"nodes":{"A":{"id":"A","type":"function"},"B":{"id":"B","type":"function"}},
          "entry_nodes":["A","B"]})");
  const std::string token = ChildTokenId(TokenIdForm::kHashed, {Entry("B"), "A"}, {});
  twice.SendAtOnce("SADD applied:run_1 emit:" + Entry("B") + " route:" + Entry("B") +
                   "|A/B/;INCR counter:run_1;EXPIRE applied:run_1 9");
  const std::string text = R"({"id":")" + token +
                           R"(","run_id":"run_1","from_node":"B","to_node":"A","payload_ref":"",)" +
                           R"("hop":1,"created_at":"2025-10-15T10:00:00Z"})";
  EXPECT_THAT(twice.Send({"XADD", "wf.tasks.function", "*", "token", text}), IsEmpty());
  EXPECT_THAT(twice.SendAtOnce("SADD applied:run_1 consume:" + Entry("A") + ";DECR counter:run_1"),
              IsEmpty());
  EXPECT_THAT(twice.SendAtOnce("SADD applied:run_1 consume:" + token + ";DECR counter:run_1"),
              Contains("I8"));
}

TEST(ProtocolWatch, I8FindsAJoinThatIsNeverExecuted) {
  WatchedRun run(kJoin);
  run.Advance();
  run.SendAtOnce("SET counter:run_1 0 KEEPTTL");
  run.Send({"DEL", "counter:run_1", "ir:run_1", "applied:run_1", "context:run_1"});
  EXPECT_THAT(run.End(), Contains("I8"));
}

TEST(ProtocolWatch, I9FindsABranchThatTakesBothPaths) {
  EXPECT_THAT(WatchedRun(kBranch).SendAtOnce("SADD applied:run_1 emit:" + Entry("A") + " route:" +
                                             Entry("A") + "|B/A/,C/A/;INCRBY counter:run_1 2"),
              Contains("I9"));
}

TEST(ProtocolWatch, I10FindsKeysThatAreLeft) {
  WatchedRun run(kChain);
  for (int i = 0; i < 3; ++i) run.Advance();
  ASSERT_TRUE(run.watch.IsGone("run_1"));
  EXPECT_THAT(run.Send({"HSET", "context:run_1", "A:output", "late"}), Contains("I10"));
}

TEST(ProtocolWatch, I11FindsAKeyWithoutATtlOrWithOneThatIsTooLong) {
  EXPECT_THAT(WatchedRun(kChain).Send({"PERSIST", "counter:run_1"}), Contains("I11"));
  EXPECT_THAT(WatchedRun(kChain).Send({"EXPIRE", "ir:run_1", "9999999"}), Contains("I11"));
}

TEST(ProtocolWatch, I12FindsAPatchThatChangesMoreAndATokenThatIsMisrouted) {
  const std::string graph(kJoin);
  EXPECT_THAT(WatchedRun(kChain).Send({"SET", "ir:run_1", graph}), Contains("I12"));
  WatchedRun more(kChain);
  EXPECT_THAT(
      more.Send({"EVAL", "redis.call('SET',KEYS[1],ARGV[1],'KEEPTTL') redis.call('INCR',KEYS[2])",
                 "2", "ir:run_1", "counter:run_1", graph}),
      Contains("I12"));
  EXPECT_THAT(WatchedRun(kChain).SendAtOnce("SADD applied:run_1 emit:" + Entry("A") +
                                            " route:" + Entry("A") + "|A/A/;INCR counter:run_1"),
              Contains("I12"));
}

TEST(ProtocolWatch, I13FindsALostOperationAndALostOutput) {
  WatchedRun run(kChain);
  run.Advance();
  EXPECT_THAT(run.Send({"SREM", "applied:run_1", "emit:" + Entry("A")}), Contains("I13"));
  WatchedRun context(kJoin);
  context.Advance();
  EXPECT_THAT(context.Send({"HSET", "context:run_1", "A:output", "x", "B:output", "y"}), IsEmpty());
  EXPECT_THAT(context.Send({"HSET", "context:run_1", "A:output", "1", "B:output", "2"}),
              Contains("I13"));
  EXPECT_THAT(context.Send({"HDEL", "context:run_1", "A:output"}), Contains("I13"));
}

TEST(ProtocolWatch, I14FindsACommandThatReachesAnotherRun) {
  EXPECT_THAT(WatchedRun(kChain).Send({"DEL", "context:run_123"}), Contains("I14"));
  EXPECT_THAT(WatchedRun(kChain).SendAtOnce("EXPIRE ir:run_1 100;HSET context:run_2 A:output x"),
              Contains("I14"));
}

TEST(ProtocolWatch, I15FindsADifferentOutcome) {
  RunSummary calm;
  calm.ended = true;
  calm.executed = {{"A", 1}};
  calm.outputs = {{"A", "cas://a"}};
  EXPECT_THAT(WatchedRun::Names(CompareRuns(calm, calm)), IsEmpty());
  for (const auto& change : std::vector<std::function<void(RunSummary&)>>{
           [](RunSummary& run) { run.ended = false; }, [](RunSummary& run) { run.failed = true; },
           [](RunSummary& run) { run.executed["A"] = 2; },
           [](RunSummary& run) { run.outputs["A"] = "cas://b"; }}) {
    RunSummary other = calm;
    change(other);
    EXPECT_THAT(WatchedRun::Names(CompareRuns(other, calm)), Contains("I15"));
  }
}

TEST(ProtocolWatch, L1AndL5FindAnUnprocessedSignal) {
  WatchedRun run(kChain);
  run.Send({"RPUSH", "completion_signals",
            R"({"job_id":")" + Entry("A") + R"(","run_id":"run_1","node_id":"A"})"});
  EXPECT_THAT(run.End(), Contains("L5"));
  run.Send({"LPOP", "completion_signals"});
  EXPECT_THAT(run.End(), Contains("L1"));
}

TEST(ProtocolWatch, L2AndL3FindAnUnconsumedToken) {
  WatchedRun run(kChain);
  EXPECT_THAT(run.End(), Contains("L2"));
  EXPECT_THAT(run.End(), Contains("L3"));
}

TEST(ProtocolWatch, L4FindsAJoinThatFiredAndIsNotExecuted) {
  WatchedRun run(kJoin);
  run.SendAtOnce("SADD applied:run_1 fire:D:quiesce");
  EXPECT_THAT(run.End(), Contains("L4"));
}

TEST(ProtocolWatch, L6FindsAJoinThatStillWaits) {
  WatchedRun run(kJoin);
  run.Send({"SADD", "pending_tokens:run_1:D", "A"});
  EXPECT_THAT(run.End(), Contains("L6"));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
