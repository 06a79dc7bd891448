#include "redouble/sim/operations/studio/studio_operations.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/python/error.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;

Json Service() {
  return {{"service_id", "a"},  {"name", "Svc A"},  {"base_url", "http://a.test"},
          {"environment", "e"}, {"tags", {"core"}}, {"auth_mode", "none"}};
}

Json FeedItem(const std::string& id) {
  return {{"cursor", id},
          {"task_id", "t1"},
          {"event_type", "status.running"},
          {"source_kind", "status"},
          {"timestamp", "2026-01-01T10:00:00Z"},
          {"event_id", id},
          {"payload", {{"status", "running"}}}};
}

Json Envelope(const std::string& id) {
  return {{"service_id", "a"}, {"ingest_method", "pull"}, {"event", FeedItem(id)}};
}

Json Capabilities() {
  return {{"relayna_version", "1"},
          {"topology_kind", "simple"},
          {"supported_routes", {"events.feed", "health.workers"}},
          {"feature_flags", Json::array()},
          {"service_metadata",
           {{"capability_path", "/"},
            {"discovery_source", "live"},
            {"compatibility", "capabilities_v1"}}}};
}

class StudioOperationsTest : public ::testing::Test {
 protected:
  sim::OperationResult Call(std::string_view name, const Json& arguments) {
    const sim::Operation* operation = table_.Find(name);
    EXPECT_NE(operation, nullptr) << name;
    return base::Run((*operation)(sim::OperationContext(*session_, clock_, rng_), arguments));
  }
  // Returns the result, or null if the operation failed.
  Json Result(std::string_view name, const Json& arguments) {
    const sim::OperationResult result = Call(name, arguments);
    EXPECT_TRUE(result.ok()) << name << ": " << result.status();
    return result.value_or(Json());
  }
  std::string ErrorOf(std::string_view name, const Json& arguments) {
    const absl::Status status = Call(name, arguments).status();
    return python::ErrorType(status).value_or(std::string(status.message()));
  }

  const sim::OperationTable table_ = StudioOperations();
  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  base::Rng rng_{1};
};

TEST_F(StudioOperationsTest, RefuseUnknownArguments) {
  for (const std::string& name : table_.Names()) {
    EXPECT_TRUE(sim::IsArgumentError(Call(name, Json{{"no_such", 1}}).status())) << name;
  }
}

TEST_F(StudioOperationsTest, RefuseMissingArguments) {
  // The operations that need no argument, or that accept any argument of the service.
  const std::set<std::string> needless = {"registry.list_services",
                                          "registry.list",
                                          "registry.create_service",
                                          "ingest.sync_service",
                                          "ingest.sync_registered_services",
                                          "health.refresh_all_services",
                                          "search.build_prefix_tokens",
                                          "search.upsert_service_document",
                                          "search.search_tasks",
                                          "search.search_services",
                                          "search.prune_expired_task_documents",
                                          "search.initialize",
                                          "studio.list_services"};
  for (const std::string& name : table_.Names()) {
    const bool refused = sim::IsArgumentError(Call(name, Json::object()).status());
    EXPECT_EQ(refused, !needless.contains(name)) << name;
  }
}

TEST_F(StudioOperationsTest, CreateUpdateAndDeleteAService) {
  EXPECT_EQ(Result("registry.create_service", Service())["status"], "registered");
  EXPECT_EQ(ErrorOf("registry.create_service", Service()), "DuplicateServiceError");
  EXPECT_EQ(Result("registry.list_services", Json::object()).size(), 1u);
  EXPECT_EQ(Result("registry.get_service", {{"service_id", " a "}})["name"], "Svc A");
  EXPECT_EQ(Result("registry.update_service",
                   {{"service_id", "a"}, {"changes", {{"name", "New"}}}})["name"],
            "New");
  EXPECT_EQ(ErrorOf("registry.update_service",
                    {{"service_id", "a"}, {"changes", {{"status", "healthy"}}}}),
            "ValueError");
  EXPECT_EQ(ErrorOf("registry.refresh_service", {{"service_id", "a"}}), "CapabilityRefreshError")
      << "it does not answer unless it is told what";
  EXPECT_EQ(Result("registry.refresh_service",
                   {{"service_id", "a"}, {"capabilities", Capabilities()}})["status"],
            "healthy");
  EXPECT_EQ(Result("registry.delete_service", {{"service_id", "a"}}), Json());
  EXPECT_EQ(ErrorOf("registry.delete_service", {{"service_id", "a"}}), "ServiceNotFoundError");
}

TEST_F(StudioOperationsTest, StoreRecordsWithoutValidation) {
  Json record = Service();
  record["base_url"] = "http://evil.com";
  EXPECT_EQ(Result("registry.create", {{"record", record}})["base_url"], "http://evil.com");
  record["name"] = "New";
  EXPECT_EQ(Result("registry.update", {{"record", record}})["name"], "New");
  EXPECT_EQ(Result("registry.get", {{"service_id", "a"}})["name"], "New");
  EXPECT_EQ(Result("registry.get", {{"service_id", "b"}}), Json());
  EXPECT_EQ(Result("registry.list", Json::object()).size(), 1u);
  record["service_id"] = "b";
  EXPECT_EQ(ErrorOf("registry.update", {{"record", record}}), "ServiceNotFoundError");
  EXPECT_EQ(ErrorOf("registry.create", {{"record", record}}), "DuplicateServiceError");
  EXPECT_EQ(ErrorOf("registry.create", {{"record", {{"service_id", "c"}}}}), "ValidationError");
  EXPECT_EQ(Result("registry.delete", {{"service_id", "a"}}), Json());
}

TEST_F(StudioOperationsTest, NormalizeUrls) {
  EXPECT_EQ(Result("registry.normalize_base_url", {{"url", "HTTP://A.test/"}}), "http://a.test");
  EXPECT_EQ(ErrorOf("registry.normalize_base_url", {{"url", ""}}), "ValueError");
}

TEST_F(StudioOperationsTest, InsertAndListEvents) {
  EXPECT_EQ(Result("events.insert_event", {{"envelope", Envelope("e1")}}), true);
  EXPECT_EQ(Result("events.insert_event", {{"envelope", Envelope("e1")}}), false);
  EXPECT_EQ(
      Result("events.insert_event", {{"envelope", Envelope("e2")}, {"atomic_event_insert", true}}),
      true);
  EXPECT_EQ(ErrorOf("events.insert_event", {{"envelope", Json::object()}}), "ValidationError");
  const Json page = Result("events.list_service_events", {{"service_id", "a"}, {"limit", 1}});
  EXPECT_EQ(page["count"], 1);
  EXPECT_EQ(page["items"][0]["event_id"], "e2");
  EXPECT_EQ(page["next_cursor"], "a:status:e2");
  EXPECT_EQ(Result("events.list_task_events",
                   {{"service_id", "a"}, {"task_id", "t1"}, {"before", "a:status:e2"}})["count"],
            1);
  EXPECT_EQ(Result("events.list_service_events",
                   {{"service_id", "a"}, {"source_kind", "observation"}})["count"],
            0);
  EXPECT_TRUE(sim::IsArgumentError(
      Call("events.list_service_events", {{"service_id", "a"}, {"source_kind", "rumour"}})
          .status()));
  EXPECT_EQ(Result("events.get_service_activity_snapshot",
                   {{"service_id", "a"}})["latest_status_event_at"],
            "2026-01-01T10:00:00Z");
}

TEST_F(StudioOperationsTest, TakeTheOptionsOfTheStores) {
  EXPECT_EQ(Result("events.insert_event", {{"envelope", Envelope("e1")},
                                           {"event_prefix", "p"},
                                           {"ttl_seconds", nullptr},
                                           {"history_maxlen", 1},
                                           {"now", "2026-01-01T13:00:00Z"}}),
            true);
  const Json page =
      Result("events.list_service_events", {{"service_id", "a"}, {"event_prefix", "p"}});
  EXPECT_EQ(page["items"][0]["ingested_at"], "2026-01-01T13:00:00+00:00");
  EXPECT_EQ(Result("events.list_service_events", {{"service_id", "a"}})["count"], 0);
}

TEST_F(StudioOperationsTest, KeepPullCursors) {
  EXPECT_EQ(Result("events.get_pull_cursor", {{"service_id", "a"}}), Json());
  EXPECT_EQ(Result("events.set_pull_cursor", {{"service_id", "a"}, {"cursor", "e1"}}), Json());
  EXPECT_EQ(Result("events.get_pull_cursor", {{"service_id", "a"}}), "e1");
}

TEST_F(StudioOperationsTest, IngestAndPull) {
  Result("registry.create_service", Service());
  EXPECT_EQ(Result("ingest.ingest_events", {{"events", {Envelope("e1"), Envelope("e1")}}}),
            Json({{"inserted", 1}, {"duplicate", 1}, {"invalid", 0}}));
  EXPECT_EQ(ErrorOf("ingest.ingest_events", {{"events", {Json::object()}}}), "ValidationError");
  EXPECT_EQ(Result("ingest.list_service_events", {{"service_id", "a"}})["count"], 1);
  EXPECT_EQ(ErrorOf("ingest.list_task_events", {{"service_id", "b"}, {"task_id", "t1"}}),
            "ServiceNotFoundError");
  const Json feed = Json::array({FeedItem("e3"), FeedItem("e2")});
  EXPECT_EQ(
      Result("ingest.sync_service", {{"service_id", "a"}, {"feed", feed}, {"server_page_size", 1}}),
      Json());
  EXPECT_EQ(Result("events.get_pull_cursor", {{"service_id", "a"}}), "e3");
  EXPECT_EQ(ErrorOf("ingest.sync_service", {{"service_id", "b"}, {"feed", feed}}),
            "ServiceNotFoundError");
  EXPECT_EQ(ErrorOf("ingest.sync_service", {{"service", {{"name", "x"}}}}), "ValidationError");
  EXPECT_EQ(ErrorOf("ingest.sync_service",
                    {{"service", Service()}, {"feed", Json::array({Json::object()})}}),
            "ValidationError");
  Result("registry.refresh_service", {{"service_id", "a"}, {"capabilities", Capabilities()}});
  EXPECT_EQ(Result("ingest.sync_registered_services", {{"feed", feed}}),
            Json({{"synced", {"a"}}, {"failed", Json::object()}}));
  EXPECT_EQ(
      Result("ingest.sync_registered_services", {{"feed", Json::array({Json::object()})}})["failed"]
          .size(),
      1u);
}

TEST_F(StudioOperationsTest, CheckHealth) {
  Result("registry.create_service", Service());
  EXPECT_EQ(Result("health.get_health", {{"service_id", "a"}})["overall_status"], "degraded");
  const Json refreshed = Result(
      "health.refresh_health",
      {{"service_id", "a"}, {"capabilities", Capabilities()}, {"worker_error", "no workers"}});
  EXPECT_EQ(refreshed["http_status"]["state"], "reachable");
  EXPECT_EQ(refreshed["worker_health"]["detail"], "no workers");
  EXPECT_EQ(Result("health_store.get_health", {{"service_id", "a"}}), refreshed);
  EXPECT_EQ(Result("health_store.get_health", {{"service_id", "b"}}), Json());
  EXPECT_EQ(Result("health.refresh_all_services",
                   {{"capability_error", "refused"},
                    {"workers", {{"reported_at", "2026-01-01"}, {"workers", Json::array()}}}}),
            Json({{"refreshed", {"a"}}, {"failed", Json::object()}}));
  EXPECT_EQ(ErrorOf("health.get_health", {{"service_id", "b"}}), "ServiceNotFoundError");
}

TEST_F(StudioOperationsTest, IndexAndFind) {
  const Json event = {{"service_id", "a"},
                      {"ingest_method", "pull"},
                      {"ingested_at", "2026-01-01T12:00:00+00:00"},
                      {"dedupe_key", ""},
                      {"task_id", "t1"},
                      {"event_type", "status.running"},
                      {"source_kind", "status"},
                      {"payload", {{"status", "running"}}}};
  EXPECT_EQ(Result("search.upsert_task_document", {{"service", Service()}, {"event", event}}),
            Json());
  EXPECT_EQ(
      ErrorOf("search.upsert_task_document", {{"service", Service()}, {"event", Json::object()}}),
      "ValidationError");
  EXPECT_EQ(ErrorOf("search.upsert_task_document", {{"service", Json::object()}, {"event", event}}),
            "ValidationError");
  const Json document =
      Result("search.get_task_document", {{"service_id", "a"}, {"task_id", "t1"}});
  EXPECT_EQ(document["status"], "running");
  EXPECT_EQ(Result("search.set_task_document", {{"document", document}}), Json());
  EXPECT_EQ(ErrorOf("search.set_task_document", {{"document", Json::array()}}), "ValidationError");
  EXPECT_EQ(Result("search.search_tasks", {{"status", "running"}})["count"], 1);
  EXPECT_EQ(ErrorOf("search.search_tasks", Json::object()), "ValueError");
  const Json id = Result("search.task_document_id", {{"service_id", "a"}, {"task_id", "t1"}});
  EXPECT_EQ(Result("search.delete_task_document", {{"document_id", id}}), Json());
  EXPECT_EQ(Result("search.get_task_document", {{"document_id", id}}), Json());
  EXPECT_EQ(Result("search.build_prefix_tokens", {{"value", "ab"}}), Json({"a", "ab"}));
}

TEST_F(StudioOperationsTest, AnswerWithTheHealthOfServices) {
  const Json capabilities = {{"relayna_version", "1"},
                             {"topology_kind", "single"},
                             {"alias_config_summary", Json::object()},
                             {"service_metadata",
                              {{"capability_path", "/"},
                               {"discovery_source", "live"},
                               {"compatibility", "capabilities_v1"}}}};
  Result("registry.create_service", Service());
  const Json refreshed =
      Result("studio.refresh_service", {{"service_id", "a"}, {"capabilities", capabilities}});
  EXPECT_EQ(refreshed["status"], "healthy");
  EXPECT_EQ(refreshed["health"]["http_status"]["state"], "reachable");
  EXPECT_EQ(Result("studio.get_service", {{"service_id", "a"}}), refreshed);
  EXPECT_EQ(Result("studio.list_services", Json::object()), Json::array({refreshed}));
  EXPECT_EQ(ErrorOf("studio.refresh_service", {{"service_id", "a"}}), "CapabilityRefreshError");
  const Json health =
      Result("health.refresh_health", {{"service_id", "a"}, {"use_cached_capabilities", true}});
  EXPECT_EQ(health["http_status"]["state"], "reachable");
}

TEST_F(StudioOperationsTest, IndexServices) {
  EXPECT_EQ(ErrorOf("search.upsert_service_document", {{"service_id", "a"}}),
            "ServiceNotFoundError");
  EXPECT_EQ(Result("search.upsert_service_document",
                   {{"service", Service()}, {"health_status", "healthy"}}),
            Json());
  const Json page = Result("search.search_services", {{"query", "svc"}});
  EXPECT_EQ(page["items"][0]["matched_fields"], Json::array({"name"}));
  const Json document = Result("search.get_service_document", {{"service_id", "a"}});
  EXPECT_EQ(document["health_status"], "healthy");
  EXPECT_EQ(Result("search.set_service_document", {{"document", document}}), Json());
  EXPECT_EQ(ErrorOf("search.set_service_document", {{"document", {{"name", 1}}}}),
            "ValidationError");
  EXPECT_EQ(Result("search.delete_service_document", {{"service_id", "a"}}), Json());
  EXPECT_EQ(Result("search.delete_task_documents_for_service", {{"service_id", "a"}}), Json());
  EXPECT_EQ(Result("search.prune_expired_task_documents", Json::object()), 0);
  EXPECT_EQ(Result("search.initialize", Json::object()), Json());
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
