// Every operation of the orchestrator against an engine that is a node of a cluster, and refuses a
// command, a script or a transaction whose keys are in more than one slot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/memory/engine.h"
#include "core/base/digest.h"
#include "core/base/rng.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/orchestrator/approvals.h"
#include "core/orchestrator/script_texts.h"
#include "core/store/wrappers/intercepting_store.h"
#include "scenarios/operations/orchestrator_operations.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/operation.h"

namespace redouble::orchestrator {
namespace {

using sim::Json;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// An operation at a moment at which it has something to do.
struct Row {
  std::string operation;
  std::string arguments;
  // With plain keys the cluster must refuse it: it has several keys and claims to be one step.
  bool is_one_step = false;
  bool has_tagged_form = true;  // Not where one key of no run is all there is.
};

constexpr const char* kIr =
    R"({"nodes":{"A":{"id":"A","type":"function","dependents":["B","C"]},
        "B":{"id":"B","type":"http","dependents":["D"]},
        "C":{"id":"C","type":"agent","dependents":["D"]},
        "D":{"id":"D","type":"hitl","dependents":["E"]},
        "E":{"id":"E","type":"filter","loop":{"enabled":true,"max_iterations":2,"loop_back_to":"E",
             "break_path":["F"],"timeout_path":["F"]}},
        "F":{"id":"F","type":"transform"}},"entry_nodes":["A"]})";
// The approval of D's token, which two tokens joined in.
constexpr const char* kDecided = R"({"run_id":"r","approval_id":"456"})";
constexpr const char* kPatch =
    R"({"run_id":"r","operations":[{"op":"add","path":"/nodes/-",
        "value":{"id":"G","type":"function"}},
        {"op":"add","path":"/edges/-","value":{"from":"F","to":"G"}}]})";

std::string Start(const std::string& run) { return Json{{"run_id", run}, {"ir", kIr}}.dump(); }
std::string Work(const std::string& type) { return Json{{"type", type}}.dump(); }

// The life of a run, and what else there is. In the order of the rows.
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

// Keeps what was refused, and which scripts were called.
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

  // Does the operation; the test fails when it is not one, or its arguments are none.
  void Do(const Row& row, bool hash_tagged) {
    const sim::Operation* const operation = operations_.Find(row.operation);
    ASSERT_NE(operation, nullptr) << row.operation;
    Json arguments = Json::parse(row.arguments);
    if (row.has_tagged_form) arguments["hash_tagged"] = hash_tagged;
    const auto result =
        base::Run((*operation)(sim::OperationContext(store_, clock_, rng_), arguments));
    EXPECT_FALSE(sim::IsArgumentError(result.status())) << row.operation << result.status();
    if (!hash_tagged) return;
    EXPECT_TRUE(result.ok()) << row.operation << ": " << result.status();
  }

  // A run of one node that ends well.
  void Finish() {
    const Json ir = {{"nodes", {{"Z", {{"id", "Z"}, {"type", "aggregate"}}}}}};
    Do({"start_run", Json{{"run_id", "z"}, {"ir", ir}}.dump()}, true);
    Do({"work", Work("aggregate")}, true);
    Do({"process_signal", "{}"}, true);
  }

  // An approval that outlives its run.
  void Cancel() {
    const Json ir = {{"nodes", {{"H", {{"id", "H"}, {"type", "hitl"}}}}}};
    Do({"start_run", Json{{"run_id", "h"}, {"ir", ir}}.dump()}, true);
    Do({"request_approval", R"({"approval_id":"1"})"}, true);
    Tell({"DEL", "counter:{h}"});
    Do({"approve", R"({"run_id":"h","approval_id":"1"})"}, true);
  }

  // One command beside the operations.
  void Tell(std::vector<std::string> words) {
    ASSERT_TRUE(base::Run(Execute(std::move(words))).ok());
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
    Do(row, /*hash_tagged=*/true);
    EXPECT_GT(store_.requests, before) << row.operation << " sends nothing";
    EXPECT_THAT(store_.crossed, IsEmpty()) << row.operation;
  }
}

// The rows have every operation, and these every script but those of the two ends of a run, which
// stand below.
TEST_F(ClusterSlots, AreAskedOfEveryOperationAndEveryScript) {
  std::set<std::string> names;
  for (const Row& row : Rows()) {
    names.insert(row.operation);
    Do(row, /*hash_tagged=*/true);
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

// Else the tags would prove nothing: the same steps with plain keys are refused.
TEST_F(ClusterSlots, AreCrossedByEveryStepOfSeveralKeysThatAreNotTagged) {
  for (const Row& row : Rows()) {
    if (!row.is_one_step) continue;
    store_.crossed.clear();
    Tell({"SET", "ir:r", kIr});
    Tell({"SET", "counter:r", "2"});
    Tell({"RPUSH", "completion_signals", R"({"run_id":"r","node_id":"A","job_id":"r/A"})"});
    Tell({"XADD", "wf.tasks.hitl", "*", "token",
          R"({"id":"t","run_id":"r","from_node":"","to_node":"D","payload_ref":"","hop":0,)"
          R"("created_at":"2025-10-15T10:00:00Z"})"});
    Do(row, /*hash_tagged=*/false);
    EXPECT_FALSE(store_.crossed.empty()) << row.operation;
  }
}

}  // namespace
}  // namespace redouble::orchestrator
