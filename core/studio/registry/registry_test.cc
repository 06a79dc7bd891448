#include "redouble/core/studio/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRequest =
    R"({"service_id": " a ", "name": "Svc A", "base_url": "http://A.example.test/",)"
    R"( "environment": "prod", "tags": ["core", " core", ""], "auth_mode": "none"})";

// Records its calls; one of them can fail.
class RecordingIndexer final : public ServiceIndexer {
 public:
  base::Task<absl::Status> UpsertServiceDocument(
      const ServiceRecord& service, std::optional<std::string> health_status) override {
    co_return Note("upsert " + service.service_id + " " + health_status.value_or("-"));
  }
  base::Task<absl::Status> DeleteTaskDocumentsOfService(std::string_view service_id) override {
    co_return Note("delete tasks of " + std::string(service_id));
  }
  base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id) override {
    co_return Note("delete " + std::string(service_id));
  }

  std::vector<std::string> log;
  // The number of the call that fails.
  std::optional<size_t> failing;

 private:
  absl::Status Note(std::string what) {
    log.push_back(std::move(what));
    if (failing && log.size() == *failing + 1) return absl::UnavailableError("no index");
    return absl::OkStatus();
  }
};

template <typename Backend>
class RegistryTest : public StudioBackendTest<Backend> {
 protected:
  // Runs `operation` on a registry with the fetcher and the indexer of the fixture.
  template <typename Do>
  auto With(store::Store& store, Do operation) {
    RegistryStore records(store, this->Options(RegistryStoreOptions()));
    Registry registry(
        records,
        {.policy = OutboundPolicy::Create().value(), .fetcher = &fetcher_, .indexer = &indexer_});
    return this->Run(operation(registry));
  }
  template <typename Do>
  auto With(Do operation) {
    return With(this->store(), operation);
  }
  absl::StatusOr<ServiceRecord> Create(std::string_view request = kRequest) {
    const python::Value value = Json(request);
    return With([&](Registry& registry) { return registry.CreateService(value); });
  }
  absl::StatusOr<ServiceRecord> Update(std::string_view changes, std::string_view id = "a") {
    const python::Value value = Json(changes);
    return With([&](Registry& registry) { return registry.UpdateService(id, value); });
  }
  absl::StatusOr<ServiceRecord> Refresh(std::string_view id = "a") {
    return With([&](Registry& registry) { return registry.RefreshService(id, this->now()); });
  }

  FixedCapabilities fetcher_;
  RecordingIndexer indexer_;
};
TYPED_TEST_SUITE(RegistryTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RegistryTest, CreatesWhatTheRequestSaysAndIndexesIt) {
  const auto record = this->Create();
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->service_id, "a");
  EXPECT_EQ(record->base_url, "http://a.example.test");
  EXPECT_THAT(record->tags, ElementsAre("core"));
  EXPECT_EQ(record->status, ServiceStatus::kRegistered);
  EXPECT_THAT(this->indexer_.log, ElementsAre("upsert a -"));
}

TYPED_TEST(RegistryTest, RegistersAServiceWhateverStatusItSaysItHas) {
  const auto record = this->Create(
      R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
      R"( "auth_mode": "none", "status": "healthy", "last_seen_at": "2026-01-01T10:00:00Z",)"
      R"( "capabilities": {"x": 1}, "health": {"y": 2}})");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->status, ServiceStatus::kRegistered);
  EXPECT_EQ(record->last_seen_at, std::nullopt);
  EXPECT_TRUE(record->capabilities.is_null());
  EXPECT_TRUE(record->health.is_null());
}

struct BadRequest {
  const char* why;
  const char* request;
  const char* error;
};

constexpr BadRequest kBadRequests[] = {
    {"no object", "[]", "ValidationError"},
    {"nothing", "{}", "ValidationError"},
    {"a blank id",
     R"({"service_id": " ", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "ValidationError"},
    {"a blank of Unicode",
     R"({"service_id": "\u00a0\u2003", "name": "n", "base_url": "http://a.test",)"
     R"( "environment": "e", "auth_mode": "none"})",
     "ValidationError"},
    {"an id that is no text",
     R"({"service_id": 7, "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "ValidationError"},
    {"a blank name",
     R"({"service_id": "a", "name": "", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "ValidationError"},
    {"no environment",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "auth_mode": "none"})",
     "ValidationError"},
    {"no auth_mode",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e"})",
     "ValidationError"},
    {"tags that are no list",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none", "tags": "core"})",
     "ValidationError"},
    {"a tag that is no text",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none", "tags": [1]})",
     "ValidationError"},
    {"another scheme",
     R"({"service_id": "a", "name": "n", "base_url": "ftp://a.test", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "ValidationError"},
    {"user information",
     R"({"service_id": "a", "name": "n", "base_url": "http://u@a.test", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "ValidationError"},
    {"an invalid log config",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none", "log_config": {"base_url": "http://loki.test"}})",
     "ValidationError"},
    {"a host that may not be called",
     R"({"service_id": "a", "name": "n", "base_url": "http://evil.com", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "OutboundUrlPolicyError"},
    {"an address",
     R"({"service_id": "a", "name": "n", "base_url": "http://10.0.0.1", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "OutboundUrlPolicyError"},
    {"a host that only looks like one",
     R"({"service_id": "a", "name": "n", "base_url": "http://atest", "environment": "e",)"
     R"( "auth_mode": "none"})",
     "OutboundUrlPolicyError"},
    {"logs where Studio may not look",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none", "log_config": {"base_url": "http://evil.com",)"
     R"( "service_selector_labels": {"app": "a"}}})",
     "OutboundUrlPolicyError"},
    {"logs without labels",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none", "log_config": {"base_url": "http://logs.test"}})",
     "ValidationError"},
    {"traces where Studio may not look",
     R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
     R"( "auth_mode": "none", "trace_config": {"base_url": "http://evil.com"}})",
     "OutboundUrlPolicyError"},
};

TYPED_TEST(RegistryTest, RefusesABadRequestBeforeAnythingIsAsked) {
  for (const BadRequest& bad : kBadRequests) {
    tests::InterceptedStore watched(this->store());
    const python::Value request = Json(bad.request);
    const auto created =
        this->With(watched, [&](Registry& registry) { return registry.CreateService(request); });
    EXPECT_EQ(ErrorOf(created.status()), bad.error) << bad.why << ": " << created.status();
    EXPECT_EQ(watched.requests(), 0u) << bad.why;
  }
  EXPECT_THAT(this->indexer_.log, IsEmpty());
}

TYPED_TEST(RegistryTest, FindsAServiceByItsStrippedId) {
  ASSERT_THAT(this->Create(), IsOk());
  EXPECT_EQ(this->With([](Registry& registry) { return registry.GetService("\t a\n"); })->name,
            "Svc A");
  const auto missing = this->With([](Registry& registry) { return registry.GetService(" b "); });
  EXPECT_EQ(missing.status().message(), "Service ' b ' was not found.");
  EXPECT_EQ(this->With([](Registry& registry) { return registry.ListServices(); })->size(), 1u);
}

TYPED_TEST(RegistryTest, ChangesWhatAPatchNames) {
  ASSERT_THAT(this->Create(), IsOk());
  const auto record = this->Update(
      R"({"name": " New ", "base_url": "http://b.test/", "tags": ["x"], "status": "disabled",)"
      R"( "trace_config": {"base_url": "http://tempo.test"}})",
      " a ");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->name, "New");
  EXPECT_EQ(record->base_url, "http://b.test");
  EXPECT_EQ(record->status, ServiceStatus::kDisabled);
  EXPECT_EQ(*record->trace_config.Find("base_url")->text(), "http://tempo.test");
  EXPECT_EQ(record->environment, "prod") << "members that the request does not name stay";
  ASSERT_OK_AND_ASSIGN(const auto cleared,
                       this->Update(R"({"trace_config": null, "status": null, "tags": null})"));
  EXPECT_TRUE(cleared.trace_config.is_null());
  EXPECT_EQ(cleared.status, ServiceStatus::kDisabled) << "a null status changes nothing";
  EXPECT_THAT(cleared.tags, IsEmpty());
}

// The original does not validate labels that a patch leaves out, and cannot read the record that it
// then writes.
TYPED_TEST(RegistryTest, APatchWithoutLabelsMakesARecordThatCannotBeRead) {
  ASSERT_THAT(this->Create(), IsOk());
  EXPECT_THAT(this->Update(R"({"log_config": {"base_url": "http://logs.test"}})"), IsOk());
  const auto read = this->With([](Registry& registry) { return registry.GetService("a"); });
  EXPECT_EQ(ErrorOf(read.status()), "ValidationError");
}

TYPED_TEST(RegistryTest, RefusesABadPatch) {
  ASSERT_THAT(this->Create(), IsOk());
  const BadRequest patches[] = {
      {"empty", "{}", "ValidationError"},
      {"nothing that can be changed", R"({"service_id": "b", "capabilities": {}})",
       "ValidationError"},
      {"no object", "[1]", "ValidationError"},
      {"a blank name", R"({"name": "  "})", "ValidationError"},
      {"a name that is no text", R"({"name": 1})", "ValidationError"},
      {"a name that is null", R"({"name": null})", "ValidationError"},
      {"an invalid URL", R"({"base_url": "a.test"})", "ValidationError"},
      {"tags that are no list", R"({"tags": {}})", "ValidationError"},
      {"an unknown status", R"({"status": "lost"})", "ValidationError"},
      {"a metrics config without a namespace",
       R"({"metrics_config": {"base_url": "http://p.test",)"
       R"( "service_selector_labels": {"app": "a"}}})",
       "ValidationError"},
      {"healthy, which only a refresh sets", R"({"status": "healthy"})", "ValueError"},
      {"a host that may not be called", R"({"base_url": "http://evil.com"})",
       "OutboundUrlPolicyError"},
      {"metrics where Studio may not look",
       R"({"metrics_config": {"base_url": "http://evil.com", "namespace": "n",)"
       R"( "service_selector_labels": {"app": "a"}}})",
       "OutboundUrlPolicyError"},
  };
  for (const BadRequest& bad : patches) {
    const auto updated = this->Update(bad.request);
    EXPECT_EQ(ErrorOf(updated.status()), bad.error) << bad.why << ": " << updated.status();
  }
  EXPECT_EQ(ErrorOf(this->Update(R"({"name": "n"})", "none").status()), "ServiceNotFoundError");
  EXPECT_THAT(this->indexer_.log, ElementsAre("upsert a -")) << "only the creation was indexed";
}

TYPED_TEST(RegistryTest, DeletesTheServiceThenItsTasksThenItsDocument) {
  ASSERT_THAT(this->Create(), IsOk());
  this->Ask({"SET", "studio:health:a", "{}"});
  this->Ask({"SET", "studio:events:pull-cursor:a", "e1"});
  this->indexer_.log.clear();
  EXPECT_THAT(this->With([](Registry& registry) { return registry.DeleteService(" a "); }), IsOk());
  EXPECT_THAT(this->indexer_.log, ElementsAre("delete tasks of a", "delete a"));
  EXPECT_EQ(this->KeyCount(), 2) << "health and pull cursor stay (H1, E9)";
  const absl::Status again =
      this->With([](Registry& registry) { return registry.DeleteService("a"); });
  EXPECT_EQ(ErrorOf(again), "ServiceNotFoundError");
}

TYPED_TEST(RegistryTest, RefreshesWhatAServiceSaysOfItself) {
  ASSERT_THAT(this->Create(), IsOk());
  this->fetcher_.response = HttpResponse{200, CapabilitiesWith("\"events.feed\"")};
  const auto record = this->Refresh(" a ");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->status, ServiceStatus::kHealthy);
  EXPECT_EQ(record->last_seen_at, this->now());
  EXPECT_TRUE(SupportsRoute(record->capabilities, kEventsFeedRoute));
  EXPECT_THAT(this->fetcher_.asked, ElementsAre("http://a.example.test"));
}

TYPED_TEST(RegistryTest, LeavesADisabledServiceDisabled) {
  ASSERT_THAT(this->Create(), IsOk());
  ASSERT_THAT(this->Update(R"({"status": "disabled"})"), IsOk());
  this->fetcher_.response = HttpResponse{200, CapabilitiesWith("")};
  EXPECT_EQ(this->Refresh().value().status, ServiceStatus::kDisabled);
}

TYPED_TEST(RegistryTest, TreatsAServiceWithoutTheEndpointAsLegacy) {
  ASSERT_THAT(this->Create(), IsOk());
  for (const int status : {404, 405, 501}) {
    this->fetcher_.response = HttpResponse{status, "not json"};
    const auto record = this->Refresh();
    ASSERT_THAT(record, IsOk()) << status;
    EXPECT_EQ(record->capabilities, LegacyCapabilityDocument()) << status;
  }
}

struct BadAnswer {
  HttpResponse response;
  const char* message;
};

TYPED_TEST(RegistryTest, WritesNothingWhenAServiceCannotBeRefreshed) {
  ASSERT_THAT(this->Create(), IsOk());
  const std::string before = this->Value("studio:services:by-id:a");
  const BadAnswer answers[] = {
      {{500, "{}"}, "unexpected status 500"},
      {{302, "{}"}, "unexpected status 302"},
      {{200, ""}, "invalid JSON"},
      {{200, "{"}, "invalid JSON"},
      {{200, "[]"}, "an invalid capability document"},
      {{200, "{}"}, "an invalid capability document"},
      {{200, R"({"relayna_version": 1})"}, "an invalid capability document"},
      {{200, R"({"relayna_version": "1", "topology_kind": "k", "supported_routes": [1]})"},
       "an invalid capability document"},
  };
  for (const BadAnswer& bad : answers) {
    this->fetcher_.response = bad.response;
    const absl::Status status = this->Refresh().status();
    EXPECT_EQ(ErrorOf(status), "CapabilityRefreshError");
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message));
  }
  this->fetcher_.response = absl::DeadlineExceededError("timed out");
  EXPECT_EQ(this->Refresh().status().message(), "timed out");
  EXPECT_EQ(this->Value("studio:services:by-id:a"), before);
  EXPECT_EQ(ErrorOf(this->Refresh("none").status()), "ServiceNotFoundError");
}

TYPED_TEST(RegistryTest, DoesNotAskAServiceWhoseUrlIsNoLongerAllowed) {
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  ASSERT_THAT(this->Run(records.Create(Service("a", "http://evil.com"))), IsOk());
  const absl::Status status = this->Refresh().status();
  EXPECT_EQ(ErrorOf(status), "CapabilityRefreshError");
  EXPECT_THAT(std::string(status.message()), HasSubstr("Capability refresh target"));
  EXPECT_THAT(this->fetcher_.asked, IsEmpty());
}

TYPED_TEST(RegistryTest, CannotRefreshWithoutAFetcherAndWorksWithoutAnIndex) {
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  Registry registry(records, {.policy = OutboundPolicy::Create().value()});
  const python::Value request = Json(kRequest);
  ASSERT_THAT(this->Run(registry.CreateService(request)), IsOk());
  EXPECT_EQ(this->Run(registry.RefreshService("a", this->now())).status().message(),
            "There is no capability fetcher.");
  EXPECT_THAT(this->Run(registry.DeleteService("a")), IsOk());
}

// A service that is deleted during the fetch is not found when the result is stored.
TYPED_TEST(RegistryTest, FindsAServiceDeletedThatAnsweredMeanwhile) {
  ASSERT_THAT(this->Create(), IsOk());
  this->fetcher_.response = HttpResponse{200, CapabilitiesWith("")};
  this->fetcher_.on_fetch = [&] {
    RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
    EXPECT_THAT(this->Run(records.Delete("a")), IsOk());
  };
  EXPECT_EQ(ErrorOf(this->Refresh().status()), "ServiceNotFoundError");
  EXPECT_EQ(this->KeyCount(), 0);
}

// The record is written before the index, so an error of the index does not undo it.
TYPED_TEST(RegistryTest, ReturnsTheErrorOfTheIndexAfterItsOwnWrite) {
  this->indexer_.failing = 0;
  EXPECT_THAT(this->Create(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(this->Exists("studio:services:by-id:a"));
  this->indexer_.failing = 1;
  EXPECT_THAT(this->Update(R"({"name": "n"})"), StatusIs(absl::StatusCode::kUnavailable));
  this->indexer_.failing = 2;
  this->fetcher_.response = HttpResponse{200, CapabilitiesWith("")};
  EXPECT_THAT(this->Refresh(), StatusIs(absl::StatusCode::kUnavailable));
  this->indexer_.failing = 3;
  const auto remove = [](Registry& registry) { return registry.DeleteService("a"); };
  EXPECT_THAT(this->With(remove), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(this->indexer_.log.back(), "delete tasks of a")
      << "the service document is not deleted";
}

TYPED_TEST(RegistryTest, PassesEveryFailureOn) {
  const auto with_service = [&] { EXPECT_THAT(this->Create(), IsOk()); };
  const python::Value request = Json(kRequest);
  const python::Value changes = Json(R"({"name": "n"})");
  this->fetcher_.response = HttpResponse{200, CapabilitiesWith("")};
  EXPECT_EQ(this->ExpectFailuresPassedOn([] {},
                                         [&](store::Store& store) {
                                           const auto create = [&](Registry& r) {
                                             return r.CreateService(request);
                                           };
                                           return this->With(store, create).status();
                                         }),
            3u);
  EXPECT_EQ(this->ExpectFailuresPassedOn(with_service,
                                         [&](store::Store& store) {
                                           const auto update = [&](Registry& r) {
                                             return r.UpdateService("a", changes);
                                           };
                                           return this->With(store, update).status();
                                         }),
            6u);
  EXPECT_EQ(this->ExpectFailuresPassedOn(with_service,
                                         [&](store::Store& store) {
                                           const auto refresh = [&](Registry& r) {
                                             return r.RefreshService("a", this->now());
                                           };
                                           return this->With(store, refresh).status();
                                         }),
            7u);
  EXPECT_EQ(this->ExpectFailuresPassedOn(with_service,
                                         [&](store::Store& store) {
                                           const auto remove = [](Registry& r) {
                                             return r.DeleteService("a");
                                           };
                                           return this->With(store, remove);
                                         }),
            5u);
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
