#include "redouble/sim/operations/orchestrator/orchestrator_operations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;
using sim::OperationResult;

class OrchestratorOperationsTest : public tests::BackendTest<tests::MemoryBackend> {
 protected:
  OperationResult Call(std::string_view name, const std::string& arguments) {
    const Json json = Json::parse(arguments);
    const sim::Operation* operation = table_.Find(name);
    EXPECT_NE(operation, nullptr) << name;
    return Run((*operation)(sim::OperationContext(store(), clock_, rng_), json));
  }
  Json Result(std::string_view name, const std::string& arguments) {
    const OperationResult result = Call(name, arguments);
    EXPECT_TRUE(result.ok()) << name << ": " << result.status();
    return result.ok() ? *result : Json("failed");
  }

  const sim::OperationTable table_ = OrchestratorOperations();
  base::VirtualClock clock_{tests::DefaultStart()};
  base::Rng rng_{1};
};

TEST_F(OrchestratorOperationsTest, RunAWorkflowToItsEnd) {
  EXPECT_EQ(Result("start_run", R"({"run_id":"r","ir":{"nodes":{
      "a":{"id":"a","type":"http","dependents":["h"]},
      "h":{"id":"h","type":"hitl","dependents":["b"]},"b":{"id":"b","type":"function"}}}})"),
            Json::parse(R"({"created":true,"tokens":1,"completed":false})"));
  EXPECT_EQ(Result("work", R"({"type":"http","result_ref":"cas://a","result_data":{"x":1}})"),
            Json::parse(R"({"executed":1,"failed":0,"skipped":0,"dead_lettered":0})"));
  EXPECT_EQ(Result("process_signal", "{}"),
            Json::parse(R"({"kind":"committed","node_id":"a","counter":1,"tokens":["r/a/h"],
                            "completed":false})"));
  EXPECT_EQ(Result("process_signal", "{}"), Json());
  EXPECT_EQ(Result("request_approval", R"({"approval_id":"456","timeout_s":60})"), Json("456"));
  EXPECT_EQ(Result("request_approval", "{}"), Json());
  EXPECT_EQ(Result("run_keys", R"({"run_id":"r"})").size(), 6u);
  EXPECT_EQ(Result("decide_overdue", R"({"run_id":"r"})"), Json(0));
  EXPECT_EQ(Result("approve", R"({"run_id":"r","approval_id":"456","comment":"c"})"),
            Json("decided"));
  EXPECT_EQ(Result("reject", R"({"run_id":"r","approval_id":"456"})"), Json("not_pending"));
  EXPECT_EQ(Result("push_undelivered", R"({"run_id":"r"})"), Json(1));
  EXPECT_EQ(Result("patch_run", R"({"run_id":"r","operations":[
      {"op":"add","path":"/nodes/b/config","value":{"x":1}}]})"),
            Json("patched"));
  EXPECT_EQ(Result("process_signal", R"({"reliable_pop":false})")["kind"], Json("committed"));
  EXPECT_EQ(Result("process_signal", R"({"consumer":"c2"})")["kind"], Json("duplicate"));
  EXPECT_EQ(Result("queue_depths", "{}")["streams"]["function"]["length"], Json(1));
  EXPECT_EQ(Result("sweep_run", R"({"run_id":"r"})"), Json(false));
  EXPECT_EQ(Result("fail_node", R"({"run_id":"r","node_id":"b","job_id":"approval_456/b",
      "error_type":"t","error_message":"m"})"),
            Json("ok"));
  EXPECT_EQ(Result("process_signal", "{}")["kind"], Json("run_failed"));
  EXPECT_EQ(Result("approve", R"({"run_id":"r","approval_id":"456"})"), Json("not_pending"));
  EXPECT_EQ(Result("patch_run", R"({"run_id":"r","operations":[]})"), Json("run_gone"));
}

TEST_F(OrchestratorOperationsTest, IncludeThePrimitives) {
  Ask({"SET", "counter:{r}", "1"});
  const std::string tagged = R"("layout":"cluster","run_id":"r")";
  EXPECT_EQ(Result("apply_delta_guarded", "{" + tagged + R"(,"op":"emit:t","delta":2})"),
            Json::parse("[1,3]"));
  EXPECT_EQ(Result("apply_delta_guarded", "{" + tagged + R"(,"op":"emit:t","delta":2})"),
            Json::parse("[0,3]"));
  EXPECT_EQ(Result("apply_delta", "{" + tagged + R"(,"op":"x","delta":-3})"), Json(0));
  EXPECT_EQ(Result("put_cached_result", R"({"scope":"w","key":"k","ref":"cas://x"})"), Json("ok"));
  EXPECT_EQ(Result("get_cached_result", R"({"scope":"w","key":"k"})"), Json("cas://x"));
  EXPECT_EQ(Result("invalidate_cached_result", R"({"scope":"w","key":"k"})"), Json(true));
  EXPECT_EQ(Result("get_cached_result", R"({"scope":"w","key":"k"})"), Json());
  EXPECT_EQ(Result("publish_event", R"({"event":{"type":"node_failed","run_id":"r"}})"), Json(0));
  EXPECT_EQ(Result("push_signal", R"({"run_id":"r","node_id":"n","result_ref":"x"})"), Json("ok"));
  EXPECT_EQ(Result("process_signal", "{}")["kind"], Json("run_gone"));
  EXPECT_EQ(Result("recover_signals", R"({"consumer":"c1"})"), Json(0));
  EXPECT_EQ(Result("reclaim", R"({"type":"http","min_idle_ms":0})")["executed"], Json(0));
}

TEST_F(OrchestratorOperationsTest, LeaveOutOneStepAtMost) {
  EXPECT_EQ(Result("process_signal", R"({"emit_first":false})"), Json());
  EXPECT_TRUE(sim::IsArgumentError(
      Call("process_signal", R"({"emit_first":false,"atomic_arrival":false})").status()));
}

TEST_F(OrchestratorOperationsTest, ApplyADeltaByThreeCommandsOneScriptOrTheGuardedOne) {
  const std::string delta = R"("run_id":"r","op":"x","delta":-3)";
  EXPECT_EQ(Result("apply_delta", "{" + delta + R"(,"guarded":true})"), Json::parse("[-1,0]"));
  EXPECT_EQ(Result("apply_delta", "{" + delta + R"(,"one_script":false})"), Json(-3));
  EXPECT_EQ(Result("apply_delta", "{" + delta + R"(,"one_script":false})"), Json(0));
  EXPECT_EQ(Result("apply_delta", "{" + delta + "}"), Json(0));
}

TEST_F(OrchestratorOperationsTest, RefuseUnknownArguments) {
  for (const std::string& name : table_.Names()) {
    const OperationResult result = Call(name, R"({"surprise":1})");
    EXPECT_TRUE(sim::IsArgumentError(result.status())) << name << ": " << result.status();
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
