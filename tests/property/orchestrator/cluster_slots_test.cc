// Runs every operation of the orchestrator on an engine that is a cluster node and refuses
// commands, scripts and transactions whose keys are in more than one slot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/scripts/script_texts.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/operations/orchestrator/orchestrator_operations.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using sim::Json;
using store::KeyLayout;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// An operation in a state in which it has an effect.
struct Row {
  std::string operation;
  std::string arguments;
  // With plain keys the cluster must refuse it: it is one step on several keys.
  bool is_one_step = false;
  bool has_tagged_form = true;  // False if its only key belongs to no run.
};

constexpr const char* kIr =
    R"({"nodes":{"A":{"id":"A","type":"function","dependents":["B","C"]},
        "B":{"id":"B","type":"http","dependents":["D"]},
        "C":{"id":"C","type":"agent","dependents":["D"]},
        "D":{"id":"D","type":"hitl","dependents":["E"]},
        "E":{"id":"E","type":"filter","loop":{"enabled":true,"max_iterations":2,"loop_back_to":"E",
             "break_path":["F"],"timeout_path":["F"]}},
        "F":{"id":"F","type":"transform"}},"entry_nodes":["A"]})";
// The approval of D's token, in which two tokens joined.
constexpr const char* kDecided = R"({"run_id":"r","approval_id":"456"})";
constexpr const char* kPatch =
    R"({"run_id":"r","operations":[{"op":"add","path":"/nodes/-",
        "value":{"id":"G","type":"function"}},
        {"op":"add","path":"/edges/-","value":{"from":"F","to":"G"}}]})";

std::string Start(const std::string& run) { return Json{{"run_id", run}, {"ir", kIr}}.dump(); }
std::string Work(const std::string& type) { return Json{{"type", type}}.dump(); }

// The operations in the order in which they run: the life of a run, then all others.
std::vector<Row> Rows() {
  return {
      {"start_run", Start("r"), true},
      {"work", Work("function")},
      {"process_signal", "{}", true},
      {"patch_run", kPatch, true},
      {"work", Work("http")},
      {"process_signal", "{}", true},
      {"work", Work("agent")},
      {"process_signal", "{}", true},
      {"request_approval", R"({"approval_id":"456","timeout_s":90000})", true},
      {"decide_overdue", R"({"run_id":"r"})"},
      {"approve", kDecided, true},
      {"push_undelivered", R"({"run_id":"r"})"},
      {"process_signal", "{}", true},
      {"reject", kDecided},
      {"sweep_run", R"({"run_id":"r"})", true},
      {"apply_delta", R"({"run_id":"r","op":"seed","delta":0})", true},
      {"apply_delta_guarded", R"({"run_id":"r","op":"guarded","delta":0})", true},
      {"work", Work("filter")},
      {"process_signal", R"({"consumer":"c2"})", true},
      {"recover_signals", R"({"consumer":"c2"})"},
      {"reclaim", R"({"type":"filter","min_idle_ms":0})"},
      {"run_keys", R"({"run_id":"r"})"},
      {"queue_depths", "{}"},
      {"push_signal", R"({"run_id":"r","node_id":"A","job_id":"r/A"})"},
      {"fail_node",
       R"({"run_id":"r","node_id":"E","job_id":"t","error_type":"e","error_message":"m"})"},
      {"process_signal", "{}", true},
      {"process_signal", "{}", true},
      {"process_signal", "{}", true},
      {"approve", kDecided},
      {"get_cached_result", R"({"scope":"workflow","key":"k"})", false, false},
      {"put_cached_result", R"({"scope":"workflow","key":"k","ref":"cas://k"})", false, false},
      {"invalidate_cached_result", R"({"scope":"workflow","key":"k"})", false, false},
      {"publish_event", R"({"event":{"type":"node_completed","run_id":"r","node_id":"A"}})", false,
       false},
      {"start_run", Start("r"), true},
  };
}

// Records the refused requests and the scripts that were called.
class SlotStore final : public store::InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

  std::vector<std::string> crossed;
  std::set<std::string> scripts;  // Digests.
  int64_t requests = 0;

 private:
  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    ++requests;
    for (const store::Command& command : request.commands()) {
      if (command.name() == "EVALSHA" || command.name() == "evalsha") {
        scripts.insert(std::string(command.arguments()[0]));
      }
    }
    absl::StatusOr<store::Reply> reply = co_await Forward(request);
    if (reply.ok()) Look(*reply, request);
    co_return reply;
  }

  void Look(const store::Reply& reply, const store::Request& request) {
    if (reply.is_error() && reply.text().starts_with("CROSSSLOT")) {
      crossed.emplace_back(request.commands()[0].name());
    }
    if (!reply.is_array()) return;
    for (const store::Reply& element : reply.elements()) Look(element, request);
  }
};

class ClusterSlots : public ::testing::Test {
 protected:
  static memory::EngineOptions Options() {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    return options;
  }

  // Runs the operation. The test fails if the operation does not exist or rejects its arguments.
  void Do(const Row& row, KeyLayout layout) {
    const sim::Operation* const operation = operations_.Find(row.operation);
    ASSERT_NE(operation, nullptr) << row.operation;
    Json arguments = Json::parse(row.arguments);
    if (row.has_tagged_form) arguments["layout"] = store::KeyLayoutName(layout);
    const auto result =
        base::Run((*operation)(sim::OperationContext(store_, clock_, rng_), arguments));
    EXPECT_FALSE(sim::IsArgumentError(result.status())) << row.operation << result.status();
    if (layout == KeyLayout::kDocumented) return;
    EXPECT_THAT(result, IsOk()) << row.operation << ": " << result.status();
  }

  // A run with one node that completes.
  void Finish() {
    const Json ir = {{"nodes", {{"Z", {{"id", "Z"}, {"type", "aggregate"}}}}}};
    Do({"start_run", Json{{"run_id", "z"}, {"ir", ir}}.dump()}, KeyLayout::kCluster);
    Do({"work", Work("aggregate")}, KeyLayout::kCluster);
    Do({"process_signal", "{}"}, KeyLayout::kCluster);
  }

  // An approval that outlives its run.
  void Cancel() {
    const Json ir = {{"nodes", {{"H", {{"id", "H"}, {"type", "hitl"}}}}}};
    Do({"start_run", Json{{"run_id", "h"}, {"ir", ir}}.dump()}, KeyLayout::kCluster);
    Do({"request_approval", R"({"approval_id":"1"})"}, KeyLayout::kCluster);
    Send({"DEL", "counter:{h}"});
    Do({"approve", R"({"run_id":"h","approval_id":"1"})"}, KeyLayout::kCluster);
  }

  // Sends one command.
  void Send(std::vector<std::string> words) {
    ASSERT_THAT(base::Run(Execute(std::move(words))), IsOk());
  }
  base::Task<absl::StatusOr<store::Reply>> Execute(std::vector<std::string> words) {
    store::Command command = store::Command::Named(words.front());
    command.AddAll(std::span<const std::string>(words).subspan(1));
    co_return co_await session_->Execute(command);
  }

  const sim::OperationTable operations_ = scenarios::OrchestratorOperations();
  base::VirtualClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  memory::Engine engine_{clock_, Options()};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  SlotStore store_{*session_};
  base::Rng rng_{1};
};

TEST_F(ClusterSlots, NoOperationCrossesThemWhenItsKeysAreTagged) {
  for (const Row& row : Rows()) {
    const int64_t before = store_.requests;
    Do(row, KeyLayout::kCluster);
    EXPECT_GT(store_.requests, before) << row.operation << " sends nothing";
    EXPECT_THAT(store_.crossed, IsEmpty()) << row.operation;
  }
}

// The rows contain every operation and every script, except the scripts for the two ends of a run,
// which are tested below.
TEST_F(ClusterSlots, AreAskedOfEveryOperationAndEveryScript) {
  std::set<std::string> names;
  for (const Row& row : Rows()) {
    names.insert(row.operation);
    Do(row, KeyLayout::kCluster);
  }
  EXPECT_THAT(names, UnorderedElementsAreArray(operations_.Names()));
  Finish();
  Cancel();
  std::set<std::string> digests;
  for (const std::string_view text :
       {kApplyDeltaText, kApplyDeltaGuardedText, kCancelApprovalText, kEmitTokensText,
        kExtendRunText, kFailRunText, kFinishRunText, kHitlDecideText, kHitlPauseText,
        kJoinArriveText, kJoinQuiesceText, kPatchIrText, kSortedMembersText, kStartRunText}) {
    digests.insert(base::Sha1Hex(text));
  }
  EXPECT_THAT(store_.scripts, UnorderedElementsAreArray(digests));
  EXPECT_THAT(store_.crossed, IsEmpty());
}

// Shows that the tags matter: the same steps with plain keys are refused.
TEST_F(ClusterSlots, AreCrossedByEveryStepOfSeveralKeysThatAreNotTagged) {
  for (const Row& row : Rows()) {
    if (!row.is_one_step) continue;
    store_.crossed.clear();
    Send({"SET", "ir:r", kIr});
    Send({"SET", "counter:r", "2"});
    Send({"RPUSH", "completion_signals", R"({"run_id":"r","node_id":"A","job_id":"r/A"})"});
    Send({"XADD", "wf.tasks.hitl", "*", "token",
          R"({"id":"t","run_id":"r","from_node":"","to_node":"D","payload_ref":"","hop":0,)"
          R"("created_at":"2025-10-15T10:00:00Z"})"});
    Do(row, KeyLayout::kDocumented);
    EXPECT_FALSE(store_.crossed.empty()) << row.operation;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
