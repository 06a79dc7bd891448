#include "redouble/sim/operations/threescale/threescale_reporting_operations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/threescale/threescale_jobs.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;

const char* const kReport = R"({"class": "ReportJob", "args": ["2", {"0": {"app_id": "a",
    "usage": {"hits": "1"}, "timestamp": "2025-04-23", "log": {"code": "200"}}}, 1745430159]})";

TEST(ThreescaleJobs, RoundTrip) {
  for (const Json& json :
       {Json::parse(kReport),
        Json{{"class", "NotifyJob"},
             {"args", {"pkey", {{"transactions", "2"}}, "2025-04-23 17:42:00 UTC"}}}}) {
    const absl::StatusOr<threescale::Job> job = JobFromJson(json);
    ASSERT_TRUE(job.ok()) << job.status();
    Json written = JobToJson(*job);
    if (json["class"] == "ReportJob") written["args"][2] = json["args"][2];
    EXPECT_EQ(written, json);
  }
}

TEST(ThreescaleJobs, RefuseMalformedJobs) {
  for (const char* text :
       {"[]", "{}", R"({"class": "OtherJob", "args": []})", R"({"class": "ReportJob", "args": {}})",
        R"({"class": "ReportJob", "args": ["2"]})",
        R"({"class": "ReportJob", "args": ["2", {"0": 1}]})",
        R"({"class": "ReportJob", "args": ["2", {"0": {"usage": 1}}]})",
        R"({"class": "ReportJob", "args": ["2", {"0": {"usage": {"hits": []}}}]})",
        R"({"class": "NotifyJob", "args": ["pkey", {}]})",
        R"({"class": "NotifyJob", "args": ["pkey", {}, "never"]})",
        R"({"class": "NotifyJob", "args": ["pkey", 1, "2025-04-23"]})"}) {
    EXPECT_FALSE(JobFromJson(Json::parse(text)).ok()) << text;
  }
}

// The operations of one process, which keeps its jobs, as goldens run them.
class ReportingOperations : public ::testing::Test {
 protected:
  ReportingOperations() {
    Run("service.save", R"({"id": "2", "provider_key": "pkey"})");
    Run("application.save", R"({"service_id": "2", "id": "a", "state": "active"})");
    Run("metric.save", R"({"service_id": "2", "id": "6", "name": "hits"})");
  }

  sim::OperationResult Try(std::string_view name, std::string_view arguments) {
    const Json json = Json::parse(arguments);
    const sim::Operation* operation = table_.Find(name);
    if (operation == nullptr) return absl::NotFoundError(std::string(name));
    return base::Run((*operation)(sim::OperationContext(*session_, clock_, rng_), json));
  }
  Json Run(std::string_view name, std::string_view arguments) {
    const sim::OperationResult result = Try(name, arguments);
    EXPECT_TRUE(result.ok()) << name << ": " << result.status();
    return result.value_or(Json());
  }

  static ThreescaleSettings Kept() {
    ThreescaleSettings settings;
    settings.memory = ThreescaleSettings::Memory::kOfOneOperation;
    settings.events_hook = "http://system/events";
    return settings;
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1745430159)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  base::Rng rng_{1};
  std::shared_ptr<ThreescaleSession> process_ = std::make_shared<ThreescaleSession>(Kept());
  sim::OperationTable table_ = ThreescaleOperations([this] { return process_; });
};

constexpr const char* kHit =
    R"({"provider_key": "pkey", "service_id": "2",
        "transactions": {"0": {"app_id": "a", "usage": {"hits": "1"}}}})";

TEST_F(ReportingOperations, ProcessAReportUpToItsEvents) {
  EXPECT_EQ(Run("http.report", kHit), Json::parse(R"({"status": 202, "body": ""})"));
  EXPECT_EQ(process_->queue().size(), 1u);
  EXPECT_EQ(Run("worker.run_all_jobs", "{}"), "ok");
  EXPECT_EQ(Run("events.size", "{}"), 2);
  EXPECT_EQ(Run("hook_calls_so_far", "{}").size(), 1u);
  EXPECT_EQ(Run("events.delete", R"({"id": "1"})"), 1);
  EXPECT_EQ(Run("events.delete_range", R"({"to_id": 2})"), 1);
}

TEST_F(ReportingOperations, ReturnJobsInAScenario) {
  process_ = std::make_shared<ThreescaleSession>();
  const Json answer = Run("http.report", kHit);
  ASSERT_EQ(answer["jobs"].size(), 1u);
  EXPECT_EQ(Run("worker.run_all_jobs", Json{{"jobs", answer["jobs"]}}.dump()), "ok");
  EXPECT_EQ(Run("events.size", "{}"), 2);
}

TEST_F(ReportingOperations, RunTheJobsOfAnAnswer) {
  process_ = std::make_shared<ThreescaleSession>();
  const Json answer = Run("http.report", kHit);
  EXPECT_EQ(Run("worker.run_all_jobs", Json{{"answer", answer}}.dump()), "ok");
  EXPECT_EQ(Run("events.size", "{}"), 2);
  EXPECT_TRUE(
      sim::IsArgumentError(Try("worker.run_all_jobs", R"({"answer": {"status": 202}})").status()));
}

TEST_F(ReportingOperations, RefuseOtherJobsThanWereEnqueued) {
  Run("http.report", kHit);
  const Json other = Json{{"jobs", Json::array({Json::parse(kReport)})}};
  EXPECT_EQ(Try("worker.run_all_jobs", other.dump()).status().code(), absl::StatusCode::kInternal);
  Run("http.report", kHit);
  EXPECT_EQ(Try("worker.run_all_jobs", R"({"jobs": []})").status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(ReportingOperations, ReturnTheErrorOfARequest) {
  EXPECT_EQ(Run("http.report", R"({"provider_key": "pkey", "service_id": "2"})")["status"], 400);
  EXPECT_EQ(Run("http.report", R"({"params": {"provider_key": "pkey", "service_id": "9",
      "transactions": {"0": {"app_id": "a"}}}})")["status"],
            403);
  EXPECT_EQ(Run("http.report", R"({"provider_key": "pkey", "service_id": "2",
      "transactions": {"0": null}})")["status"],
            400);
  EXPECT_EQ(Run("http.report", R"({"provider_key": "pkey", "service_id": "2",
      "transactions": ["x"]})")["status"],
            400);
}

TEST_F(ReportingOperations, KeepTheTextOfNumbersInEvents) {
  EXPECT_EQ(Run("events.store", R"({"type": "alert", "object": {"a": 1.0, "b": 1e21, "c": [1, "x"],
      "d": null}})"),
            true);
  const auto members =
      base::Run(threescale::EventQueue(threescale::Process(*session_, clock_)).List());
  ASSERT_TRUE(members.ok());
  EXPECT_NE(members->front().find(R"("object":{"a":1.0,"b":1.0e+21,"c":[1,"x"],"d":null}})"),
            std::string::npos);
  EXPECT_FALSE(Try("events.store", R"({"type": "other", "object": {}})").ok());
}

TEST_F(ReportingOperations, PingOnceAndReportAHookThatRaises) {
  Run("events.store", R"({"type": "alert", "object": {}})");
  EXPECT_EQ(Try("events.ping_if_not_empty", R"({"hook": "raises"})").status().message(), "boom");
  EXPECT_EQ(Run("events.ping_if_not_empty", "{}"), "nil");
  Run("redis.del", R"({"key": "events/ping"})");
  EXPECT_EQ(Run("events.ping_if_not_empty", "{}"), true);
}

TEST_F(ReportingOperations, KeepErrorsMarksAndNotifications) {
  Run("worker.run_all_jobs", R"({"jobs": [{"class": "ReportJob", "args": ["2", {"0":
      {"app_id": "nobody", "usage": {"hits": "1"}}}]}]})");
  EXPECT_EQ(Run("errors.count", R"({"service_id": "2"})"), 1);
  EXPECT_EQ(Run("errors.list", R"({"service_id": "2"})")[0]["code"], "application_not_found");
  EXPECT_EQ(Run("errors.delete", R"({"service_id": "2"})"), "ok");
  EXPECT_EQ(Run("stats.mark_service_to_be_deleted", R"({"service_id": "2"})"), 1);
  EXPECT_EQ(Run("stats.delete!", "{}"), "ok");
  EXPECT_EQ(Run("redis.set", R"({"key": "stats/{service:3}/metric:6/eternity", "value": "0"})"),
            "OK");
  EXPECT_EQ(Run("stats.delete_zeros", "{}"), 1);
  EXPECT_EQ(Run("notify", R"({"provider_key": "pkey", "transactions": 1, "master_service_id": "1",
      "notification_batch": 1})"),
            "ok");
  EXPECT_EQ(process_->queue().size(), 1u);
}

TEST_F(ReportingOperations, RefuseUnknownArguments) {
  for (const std::string& name : table_.Names()) {
    EXPECT_TRUE(sim::IsArgumentError(Try(name, R"({"nobody": 1})").status())) << name;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
