// Measures the round trips of the table in docs/systems/orchestrator.md 4.20.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/app/engine.h"
#include "redouble/core/orchestrator/result_cache.h"
#include "redouble/core/orchestrator/run/signal_queue.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/round_trip_table.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using store::Reply;

constexpr const char* kChain = R"({"nodes":{
    "fetch":{"id":"fetch","type":"http","dependents":["save"]},
    "save":{"id":"save","type":"function"}}})";
constexpr const char* kSource = R"({"nodes":[{"id":"fetch","type":"http"}]})";
constexpr const char* kApproval = R"({"nodes":{"ask":{"id":"ask","type":"hitl"}}})";
constexpr const char* kPatch = R"([{"op":"add","path":"/nodes/-","value":{"id":"x","type":"http"}},
    {"op":"add","path":"/edges/-","value":{"from":"save","to":"x"}}])";

template <typename Backend>
class OrchestratorRoundTripsTest : public OrchestratorTest<Backend> {
 protected:
  void SetUp() override {
    OrchestratorTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    settings_.key_layout = this->layout();
    clock_ = std::make_unique<base::VirtualClock>(this->now());
    counted_ = std::make_unique<tests::InterceptedStore>(this->store());
  }

  // A new engine with the run "run_1" on an empty server.
  void Begin(const char* ir) {
    this->Ask({"FLUSHALL"});
    runs_ = std::make_unique<MemoryRunStore>();
    auto engine = Engine::Create(*counted_, *clock_, {*runs_, outputs_}, settings_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    const auto execute = [](const Token&) -> base::Task<absl::StatusOr<NodeResult>> {
      co_return NodeResult{.data_json = "{}"};
    };
    engine_->AddWorker("http", "w", execute);
    engine_->AddWorker("function", "w", execute);
    engine_->AddApprovalWorker("w");
    for (const auto& worker : engine_->workers()) {
      ASSERT_THAT(this->Run(worker->EnsureGroup()), IsOk());
    }
    ASSERT_THAT(this->Run(engine_->StartRun("run_1", ir)), IsOk());
  }
  // Prepares and runs an operation twice, so that the server knows the scripts, and counts the
  // second one.
  template <typename Prepare, typename Operation>
  void Measure(const std::string& name, const char* ir, Prepare prepare, Operation operation) {
    for (int i = 0; i < 2; ++i) {
      Begin(ir);
      if (this->HasFatalFailure()) return;
      prepare();
      if (this->HasFatalFailure()) return;
      const size_t before = counted_->requests();
      const absl::Status status = operation();
      ASSERT_THAT(status, IsOk()) << name;
      measured_[name] = static_cast<int>(counted_->requests() - before);
    }
  }
  template <typename Nothing, typename Worked, typename UntilLast>
  void MeasureAtomicHops(const char* ir, Nothing nothing, Worked worked, UntilLast until_last) {
    settings_.hardening.atomic_hops = true;
    Measure("execute a token, `atomic_hops`", ir, nothing, [&] { return Work(0); });
    Measure("process a signal with one successor, `atomic_hops`", ir, worked,
            [&] { return Coordinate(); });
    Measure("process the last signal of a run, `atomic_hops`", ir, until_last,
            [&] { return Coordinate(); });
  }
  void ExpectThoseOfThePage() {
    tests::RoundTripTable table("docs/systems/orchestrator.md");
    // In the cluster layout the option is without effect (hardening.h).
    constexpr std::string_view kOption = ", `atomic_hops`";
    for (auto& [name, count] : measured_) {
      if (!this->in_cluster_layout() || !name.ends_with(kOption)) continue;
      EXPECT_EQ(count, measured_.at(name.substr(0, name.size() - kOption.size()))) << name;
      count = table.Today().at(name);
    }
    table.ExpectToday(measured_);
  }
  // A worker and the coordinator, each once.
  void MeasureHops() {
    const auto hop = [this] {
      const absl::Status worked = Work(0);
      return worked.ok() ? Coordinate() : worked;
    };
    const auto nothing = [] {};
    Measure("one hop of a token", kChain, nothing, hop);
    settings_.worker_delete_acknowledged = true;
    Measure("one hop of a token, deleting its entry", kChain, nothing, hop);
    settings_.worker_delete_acknowledged = false;
  }
  // What operators and the parts of a service do to the run of kChain, and to one with an approval.
  void MeasureAdministration() {
    const auto nothing = [] {};
    Measure("compile and start a workflow", kChain, nothing,
            [&] { return this->Run(engine_->StartWorkflow("run_2", kSource)).status(); });
    Measure("create the consumer group of a worker", kChain, nothing,
            [&] { return this->Run(engine_->workers()[0]->EnsureGroup()); });
    Measure("sweep all runs, of which there is one", kChain, nothing,
            [&] { return this->Run(engine_->coordinator().SweepAll()).status(); });
    Measure("end a run as failed", kChain, nothing, [&] {
      return this->Run(engine_->coordinator().Abort("run_1", RunResult::Status::kFailed, {}))
          .status();
    });
    Measure("read the depths of three streams without a consumer", kChain, nothing,
            [&] { return this->Run(engine_->monitor().Depths()).status(); });
    Measure("find the keys of a run of two nodes", kChain, nothing,
            [&] { return this->Run(engine_->monitor().KeysOf("run_1")).status(); });
    const auto asked = [this] { ASSERT_THAT(Work(2), IsOk()); };
    Measure("find an approval", kApproval, asked,
            [&] { return this->Run(engine_->approvals().Find("run_1", "missing")).status(); });
    Measure("look for overdue approvals, of which none of one is", kApproval, asked,
            [&] { return this->Run(engine_->approvals().DecideOverdue("run_1")).status(); });
    Measure("push undelivered decisions when there are none", kApproval, asked,
            [&] { return this->Run(engine_->approvals().PushUndelivered("run_1")).status(); });
    Measure("give the lease of a service back", kChain, nothing, [&] {
      Service service(*counted_, *clock_, this->keys(),
                      {.coordinator = engine_->coordinator(), .approvals = engine_->approvals()});
      return this->Run(service.Resign()).status();
    });
    MeasureCache();
    MeasureSignals();
  }
  // The operations of SignalQueue, which the coordinator uses.
  void MeasureSignals() {
    const auto queue = [this] {
      return SignalQueue(*counted_, this->keys(), {.consumer = "other"}, settings_.hardening);
    };
    const auto worked = [this] { ASSERT_THAT(Work(0), IsOk()); };
    const auto take = [this, queue] {
      const auto text = this->Run(queue().Take());
      return text.ok() && *text ? **text : std::string("none");
    };
    std::string taken;
    const auto took = [&] {
      worked();
      taken = take();
    };
    const std::string name = "take a signal";
    Measure(name, kChain, worked, [&] { return this->Run(queue().TakeNow()).status(); });
    const int now = measured_.at(name);
    Measure(name, kChain, worked, [&] { return this->Run(queue().Take()).status(); });
    EXPECT_EQ(measured_.at(name), now);
    Measure("remove a taken signal", kChain, took, [&] { return this->Run(queue().Done(taken)); });
    const std::string recover = "recover the only signal of a coordinator";
    Measure(recover, kChain, took,
            [&] { return this->Run(queue().RecoverShard("other", 0)).status(); });
    const int shard = measured_.at(recover);
    Measure(recover, kChain, took, [&] { return this->Run(queue().Recover("other")).status(); });
    EXPECT_EQ(measured_.at(recover), shard);
  }
  void MeasureCache() {
    const CacheEntry entry = {"workflow", "k"};
    const std::string name = "read, write or delete a cached result";
    const auto nothing = [] {};
    Measure(name, kChain, nothing,
            [&] { return this->Run(ResultCache(*counted_).Get(entry)).status(); });
    const int read = measured_.at(name);
    Measure(name, kChain, nothing,
            [&] { return this->Run(ResultCache(*counted_).Put(entry, "cas://sha256:a")); });
    EXPECT_EQ(measured_.at(name), read);
    Measure(name, kChain, nothing,
            [&] { return this->Run(ResultCache(*counted_).Invalidate(entry)).status(); });
    EXPECT_EQ(measured_.at(name), read);
  }
  absl::Status Work(size_t worker) {
    return this->Run(engine_->workers()[worker]->Poll()).status();
  }
  absl::Status Coordinate() { return this->Run(engine_->coordinator().Poll()).status(); }
  std::string ApprovalId() {
    const Reply member = this->Ask({"SRANDMEMBER", "pending_approvals:run_1"});
    const std::string text = member.is_bulk() ? member.text() : "";
    const auto id = ParseApprovalMember(text);
    return std::string(id.value_or("none"));
  }

  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<tests::InterceptedStore> counted_;
  std::unique_ptr<MemoryRunStore> runs_;
  MemoryArtifacts outputs_;
  EngineSettings settings_;
  std::unique_ptr<Engine> engine_;
  tests::RoundTripTable::Counts measured_;
};
TYPED_TEST_SUITE(OrchestratorRoundTripsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(OrchestratorRoundTripsTest, AreThoseOfThePage) {
  const auto nothing = [] {};
  const auto worked = [this] { ASSERT_THAT(this->Work(0), IsOk()); };
  const auto until_last_signal = [this, worked] {
    worked();
    ASSERT_THAT(this->Coordinate(), IsOk());
    ASSERT_THAT(this->Work(1), IsOk());
  };
  const auto abandoned = [this] {
    this->Ask({"XREADGROUP", "GROUP", "workers", "crashed", "STREAMS", "wf.tasks.http", ">"});
    this->clock_->Advance(absl::Seconds(61));
    this->AdvanceTo(this->clock_->Now());
  };
  const auto asked = [this] { ASSERT_THAT(this->Work(2), IsOk()); };
  this->Measure("start a run", kChain, nothing,
                [&] { return this->Run(this->engine_->StartRun("run_2", kChain)).status(); });
  this->Measure("execute a token", kChain, nothing, [&] { return this->Work(0); });
  this->MeasureHops();
  this->Measure("reclaim a token", kChain, abandoned,
                [&] { return this->Run(this->engine_->workers()[0]->Reclaim()).status(); });
  this->Measure("process a signal with one successor", kChain, worked,
                [&] { return this->Coordinate(); });
  this->Measure("process the last signal of a run", kChain, until_last_signal,
                [&] { return this->Coordinate(); });
  this->Measure("request an approval, from token to acknowledgement", kApproval, nothing,
                [&] { return this->Work(2); });
  this->Measure("decide an approval", kApproval, asked, [&] {
    const std::string id = this->ApprovalId();
    return this->Run(this->engine_->approvals().Approve("run_1", id)).status();
  });
  this->Measure("patch a run", kChain, nothing,
                [&] { return this->Run(this->engine_->Patch("run_1", kPatch)).status(); });
  this->Measure("sweep a healthy run", kChain, nothing,
                [&] { return this->Run(this->engine_->coordinator().Sweep("run_1")).status(); });
  this->Measure("cancel a run", kChain, nothing,
                [&] { return this->Run(this->engine_->CancelRun("run_1")).status(); });
  this->Measure("read a run", kChain, nothing,
                [&] { return this->Run(this->engine_->GetRun("run_1")).status(); });
  this->Measure("load the context", kChain, nothing,
                [&] { return this->Run(this->engine_->LoadContext("run_1")).status(); });
  this->Measure("read the output of a node", kChain, nothing,
                [&] { return this->Run(this->engine_->NodeOutput("run_1", "fetch")).status(); });
  this->Measure(
      "a round of the service with one healthy run and no worker", kChain,
      [this] {
        this->Ask({"XGROUP", "DESTROY", "wf.tasks.http", "workers"});
      },
      [&] {
        Service service(
            *this->counted_, *this->clock_, this->keys(),
            {.coordinator = this->engine_->coordinator(), .approvals = this->engine_->approvals()});
        return this->Run(service.Tick()).status();
      });
  this->MeasureAdministration();
  this->MeasureAtomicHops(kChain, nothing, worked, until_last_signal);
  this->ExpectThoseOfThePage();
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
