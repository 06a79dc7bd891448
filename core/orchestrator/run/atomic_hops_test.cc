// Hardening::atomic_hops of the coordinator, on both backends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/run/artifacts.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/token_ids.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Kind = SignalOutcome::Kind;

constexpr const char* kChain = R"({"nodes":{
    "fetch":{"id":"fetch","type":"http","dependents":["save"]},
    "save":{"id":"save","type":"function"}}})";

// A run whose first node has been executed.
template <typename Backend>
class AtomicHopsTest : public tests::BackendTest<Backend> {
 protected:
  void SetUp() override {
    tests::BackendTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_ = std::make_unique<base::VirtualClock>(this->now());
  }

  static std::string SignalOf(std::string_view node, std::string ref = "") {
    CompletionSignal signal;
    signal.job_id = ChildTokenId(TokenIdForm::kHashed, {"run_1", std::string(node)}, {});
    signal.run_id = "run_1";
    signal.node_id = std::string(node);
    signal.result_ref = std::move(ref);
    return FormatSignal(signal).value();
  }
  // Starts a run of two nodes, and pushes the signal of the first.
  void Begin() {
    Coordinator coordinator(this->store(), *clock_, keys_);
    ASSERT_THAT(this->Run(coordinator.Start("run_1", kChain)), IsOk());
    this->Ask({"RPUSH", "completion_signals", SignalOf("fetch")});
  }
  CoordinatorOptions Atomic() {
    CoordinatorOptions options;
    options.hardening.atomic_hops = true;
    return options;
  }
  // The commands that one Poll sends for a signal, without those of a script's first use.
  std::vector<std::string> NamesOfAHop() {
    Begin();
    tests::InterceptedStore store(this->store());
    CoordinatorOptions options = Atomic();
    options.queue.block = absl::Seconds(5);
    Coordinator coordinator(store, *clock_, keys_, options);
    const auto outcome = this->Run(coordinator.Poll());
    EXPECT_TRUE(outcome.ok() && *outcome && (*outcome)->kind == Kind::kCommitted);
    std::vector<std::string> names;
    for (const std::string& line : store.log()) names.push_back(line.substr(0, line.find(' ')));
    std::erase(names, "EVAL");
    return names;
  }

  const Keys keys_;
  std::unique_ptr<base::VirtualClock> clock_;
};
TYPED_TEST_SUITE(AtomicHopsTest, tests::Backends, tests::BackendNames);

TYPED_TEST(AtomicHopsTest, AHopIsFourRoundTrips) {
  EXPECT_THAT(this->NamesOfAHop(),
              ElementsAre("BLMOVE", "GET", "SISMEMBER", "EVALSHA", "PUBLISH", "LREM"));
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.function"}), Reply::Integer(1));
}

// The streams are in other slots than the tagged keys of a run.
TYPED_TEST(AtomicHopsTest, ATaggedRunTakesTheStepsOneByOne) {
  const Keys tagged(store::KeyLayout::kCluster);
  tests::InterceptedStore store(this->store());
  Coordinator coordinator(store, *this->clock_, tagged, this->Atomic());
  ASSERT_THAT(this->Run(coordinator.Start("run_1", kChain)), IsOk());
  const size_t before = store.log().size();
  ASSERT_THAT(this->Run(coordinator.ProcessSignal(this->SignalOf("fetch"))), IsOk());
  const std::vector<std::string> sent(store.log().begin() + before, store.log().end());
  EXPECT_THAT(sent, Contains(StartsWith("XADD")));
}

// docs/systems/orchestrator.md H6.
TYPED_TEST(AtomicHopsTest, AHopPublishesOnceWhereverTheCoordinatorCrashes) {
  for (size_t crash = 0; crash < 8; ++crash) {
    this->Ask({"FLUSHALL"});
    this->Begin();
    tests::InterceptedStore broken(this->store());
    broken.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index < crash) return std::nullopt;
      return store::NotSentError("crashed");
    };
    Coordinator crashing(broken, *this->clock_, this->keys_, this->Atomic());
    (void)this->Run(crashing.Poll());
    Coordinator coordinator(this->store(), *this->clock_, this->keys_, this->Atomic());
    ASSERT_THAT(this->Run(coordinator.queue().Recover("coordinator")), IsOk());
    ASSERT_THAT(this->Run(coordinator.Poll()), IsOk());
    EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.function"}), Reply::Integer(1)) << crash;
    EXPECT_EQ(this->Value("counter:run_1"), "1") << crash;
  }
}

// Coordinators with and without the option can serve one queue.
TYPED_TEST(AtomicHopsTest, AHopContinuesWhatAnEarlierEmissionBegan) {
  this->Begin();
  tests::InterceptedStore broken(this->store());
  broken.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (broken.log().back().starts_with("XADD")) return store::NotSentError("crashed");
    return std::nullopt;
  };
  Coordinator steps(broken, *this->clock_, this->keys_);
  EXPECT_THAT(this->Run(steps.Poll()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(this->Value("counter:run_1"), "2");
  Coordinator atomic(this->store(), *this->clock_, this->keys_, this->Atomic());
  ASSERT_THAT(this->Run(atomic.queue().Recover("coordinator")), IsOk());
  const auto outcome = this->Run(atomic.Poll());
  ASSERT_TRUE(outcome.ok() && *outcome) << outcome.status();
  EXPECT_EQ((*outcome)->kind, Kind::kCommitted);
  EXPECT_THAT((*outcome)->tokens, SizeIs(1));
  EXPECT_EQ(this->Ask({"XLEN", "wf.tasks.function"}), Reply::Integer(1));
  EXPECT_EQ(this->Value("counter:run_1"), "1");
}

TYPED_TEST(AtomicHopsTest, AHopThatFailsOrIsRefusedChangesNothing) {
  this->Begin();
  Coordinator atomic(this->store(), *this->clock_, this->keys_, this->Atomic());
  const std::string text = this->SignalOf("fetch");
  this->Ask({"SET", "wf.tasks.function", "text"});
  EXPECT_THAT(this->Run(atomic.ProcessSignal(text)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  this->Ask({"DEL", "wf.tasks.function"});
  this->Ask({"SET", "counter:run_1", "-1", "KEEPTTL"});
  EXPECT_THAT(this->Run(atomic.ProcessSignal(text)),
              IsOkAndHolds(::testing::Field(&SignalOutcome::kind, Kind::kRefused)));
  EXPECT_EQ(this->Value("counter:run_1"), "-1");
  for (const char* key : {"applied:run_1", "context:run_1", "wf.tasks.function"}) {
    EXPECT_EQ(this->Ask({"EXISTS", key}), Reply::Integer(0)) << key;
  }
}

// The output is referred to by the next node, and not stored before the token is published.
TYPED_TEST(AtomicHopsTest, AHopResolvesTheOutputThatItStores) {
  MemoryArtifacts artifacts;
  CoordinatorOptions options = this->Atomic();
  options.artifacts = &artifacts;
  Coordinator atomic(this->store(), *this->clock_, this->keys_, options);
  constexpr const char* kBill = R"({"nodes":{
      "price":{"id":"price","type":"http","dependents":["bill"]},
      "bill":{"id":"bill","type":"function","config":{"amount":"$nodes.price.total"}}}})";
  ASSERT_THAT(this->Run(atomic.Start("run_1", kBill)), IsOk());
  const std::string ref = this->Run(artifacts.Put(R"({"total":42})")).value();
  ASSERT_THAT(this->Run(atomic.ProcessSignal(this->SignalOf("price", ref))), IsOk());
  const Reply entries = this->Ask({"XRANGE", "wf.tasks.function", "-", "+"});
  EXPECT_THAT(entries.DebugString(), ::testing::HasSubstr("42"));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
