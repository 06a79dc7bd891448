#include "redouble/core/studio/health/health_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

template <typename Backend>
class HealthServiceTest : public StudioBackendTest<Backend> {
 protected:
  struct Parts {
    Parts(store::Store& store, FixedCapabilities& capabilities, FixedWorkers& workers,
          Hardening hardening = Hardening())
        : records(store, StudioBackendTest<Backend>::Options(
                             RegistryStoreOptions{.hardening = hardening})),
          documents(store, StudioBackendTest<Backend>::Options(
                               SearchStoreOptions{.hardening = hardening})),
          index(documents, {}),
          registry(records, {.policy = OutboundPolicy::Create().value(),
                             .fetcher = &capabilities,
                             .indexer = &index}),
          events(store, StudioBackendTest<Backend>::Options(EventStoreOptions())),
          health_documents(store, StudioBackendTest<Backend>::Options(
                                      HealthStoreOptions{.hardening = hardening})),
          health({.registry = registry,
                  .events = events,
                  .documents = health_documents,
                  .workers = workers,
                  .indexer = &index,
                  .limits = {}}) {}

    RegistryStore records;
    SearchStore documents;
    SearchIndex index;
    Registry registry;
    EventStore events;
    HealthStore health_documents;
    HealthService health;
  };

  void Register(const std::string& id = "a", ServiceStatus status = ServiceStatus::kRegistered) {
    ServiceRecord record = Service(id, "http://" + id + ".test");
    record.status = status;
    RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
    ASSERT_THAT(this->Run(records.Create(record)), IsOk());
  }
  void Answer(std::string_view routes = "\"health.workers\"") {
    capabilities_.response = HttpResponse{200, CapabilitiesWith(routes)};
    workers_.body = R"({"reported_at": ")" + python::FormatIso(this->now()) +
                    R"(", "workers": [{"worker_name": "w", "running": true,)"
                    R"( "last_heartbeat_at": ")" +
                    python::FormatIso(this->now()) + R"("}]})";
  }
  absl::StatusOr<HealthDocument> Refresh(store::Store& store) {
    Parts parts(store, capabilities_, workers_);
    return this->Run(parts.health.RefreshHealth("a", this->now()));
  }
  absl::StatusOr<HealthDocument> Refresh() { return Refresh(this->store()); }
  absl::StatusOr<HealthDocument> Get() {
    Parts parts(this->store(), capabilities_, workers_);
    return this->Run(parts.health.GetHealth("a", this->now()));
  }
  absl::StatusOr<HealthRound> RefreshAll() {
    Parts parts(this->store(), capabilities_, workers_);
    return this->Run(parts.health.RefreshAll(this->now()));
  }

  FixedCapabilities capabilities_;
  FixedWorkers workers_;
};
TYPED_TEST_SUITE(HealthServiceTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(HealthServiceTest, ReadsWithoutWriting) {
  this->Register();
  const auto log = this->LogOf([&](store::Store& store) {
    typename TestFixture::Parts parts(store, this->capabilities_, this->workers_);
    return this->Run(parts.health.GetHealth(" a ", this->now())).status();
  });
  EXPECT_THAT(log, ElementsAre("GET studio:services:by-id:a", "GET studio:health:a",
                               "GET studio:events:service:a:latest-status-timestamp",
                               "GET studio:events:service:a:latest-observation-timestamp",
                               "GET studio:events:service:a:latest-ingested-timestamp"));
  EXPECT_EQ(this->Get().value().overall_status, OverallState::kDegraded);
  EXPECT_EQ(ErrorOf([&] {
              typename TestFixture::Parts parts(this->store(), this->capabilities_, this->workers_);
              return this->Run(parts.health.GetHealth("none", this->now())).status();
            }()),
            "ServiceNotFoundError");
}

TYPED_TEST(HealthServiceTest, WritesDownWhatAServiceSays) {
  this->Register();
  this->Answer();
  const auto document = this->Refresh();
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(document->http_status.state, HttpState::kReachable);
  EXPECT_EQ(document->capability_status.state, CapabilityState::kFresh);
  EXPECT_EQ(document->worker_health.state, WorkerState::kHealthy);
  EXPECT_EQ(document->worker_health.latest_heartbeat_at, this->now());
  EXPECT_EQ(document->overall_status, OverallState::kUnknown) << "no events yet";
  EXPECT_EQ(document->registry_status, ServiceStatus::kRegistered) << "the status stays";
  EXPECT_THAT(this->Get(), IsOkAndHolds(*document));
  EXPECT_THAT(this->Members("studio:search:service:filter:health:unknown"), ElementsAre("a"));
  EXPECT_THAT(this->capabilities_.asked, ElementsAre("http://a.test"));
  EXPECT_EQ(this->Ttl("studio:health:a"), -1);
}

// From tests/data/golden/relayna/health_refresh_cycle.json: the parts become stale by time alone,
// exact to the second.
TYPED_TEST(HealthServiceTest, GoesStaleOneAfterTheOther) {
  this->Register();
  this->Answer();
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  const EventEnvelope envelope = Event("e1", python::FormatIso(this->now()));
  ASSERT_THAT(this->Run(events.InsertEvent(envelope, this->now())), IsOkAndHolds(true));
  ASSERT_THAT(this->Refresh(), IsOk());
  const absl::Time start = this->now();
  EXPECT_EQ(this->Get().value().overall_status, OverallState::kHealthy);
  this->AdvanceTo(start + absl::Seconds(90));
  EXPECT_EQ(this->Get().value().worker_health.state, WorkerState::kHealthy);
  this->AdvanceTo(start + absl::Seconds(91));
  EXPECT_EQ(this->Get().value().worker_health.state, WorkerState::kStale);
  EXPECT_EQ(this->Get().value().overall_status, OverallState::kStale);
  this->AdvanceTo(start + absl::Seconds(180));
  EXPECT_EQ(this->Get().value().capability_status.state, CapabilityState::kFresh);
  this->AdvanceTo(start + absl::Seconds(181));
  EXPECT_EQ(this->Get().value().capability_status.state, CapabilityState::kStale);
  this->AdvanceTo(start + absl::Seconds(300));
  EXPECT_EQ(this->Get().value().observation_freshness.state, FreshnessState::kFresh);
  this->AdvanceTo(start + absl::Seconds(301));
  EXPECT_EQ(this->Get().value().observation_freshness.state, FreshnessState::kStale);
}

TYPED_TEST(HealthServiceTest, KeepsWhatItKnewOfAServiceThatDoesNotAnswer) {
  this->Register();
  this->Answer();
  ASSERT_THAT(this->Refresh(), IsOk());
  const absl::Time first = this->now();
  this->Advance(absl::Seconds(10));
  this->capabilities_.response = absl::DeadlineExceededError("timed out");
  this->workers_.body = absl::DeadlineExceededError("no workers");
  const auto document = this->Refresh();
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(document->http_status.state, HttpState::kUnreachable);
  EXPECT_EQ(document->http_status.error_detail, "timed out");
  EXPECT_EQ(document->capability_status.error_detail, "timed out");
  EXPECT_EQ(document->capability_status.last_successful_at, first);
  EXPECT_EQ(document->capability_status.checked_at, this->now());
  EXPECT_EQ(document->worker_health.detail, "no workers");
  EXPECT_THAT(document->worker_health.workers, SizeIs(1)) << "the workers of the last report";
  EXPECT_EQ(document->overall_status, OverallState::kUnreachable);
}

TYPED_TEST(HealthServiceTest, KeepsTheReasonWhenWorkersCannotBeRead) {
  this->Register();
  this->Answer();
  for (const std::string body : {"", "[]", "{}", R"({"reported_at": "soon"})"}) {
    this->workers_.body = body;
    const auto document = this->Refresh();
    ASSERT_THAT(document, IsOk());
    EXPECT_TRUE(document->worker_health.detail.has_value()) << body;
    EXPECT_EQ(document->worker_health.state, WorkerState::kUnknown) << body;
  }
}

TYPED_TEST(HealthServiceTest, DoesNotAskForWorkersThatAreNotOffered) {
  this->Register();
  this->Answer("\"events.feed\"");
  ASSERT_OK_AND_ASSIGN(const auto document, this->Refresh());
  EXPECT_EQ(document.worker_health.state, WorkerState::kUnsupported);
  EXPECT_THAT(this->workers_.asked, IsEmpty());
}

TYPED_TEST(HealthServiceTest, DoesNotAskADisabledService) {
  this->Register("a", ServiceStatus::kDisabled);
  this->Answer();
  const auto document = this->Refresh();
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(document->overall_status, OverallState::kDisabled);
  EXPECT_EQ(document->last_checked_at, this->now());
  EXPECT_THAT(this->capabilities_.asked, IsEmpty());
  EXPECT_THAT(this->Members("studio:search:service:filter:health:disabled"), ElementsAre("a"));
}

// After Registry::RefreshService, which has just asked.
TYPED_TEST(HealthServiceTest, TakesCachedCapabilitiesForAnAnswer) {
  this->Register();
  this->Answer();
  typename TestFixture::Parts parts(this->store(), this->capabilities_, this->workers_);
  const HealthRefreshOptions cached = {.use_cached_capabilities = true};
  ASSERT_OK_AND_ASSIGN(HealthDocument document,
                       this->Run(parts.health.RefreshHealth("a", this->now(), cached)));
  EXPECT_EQ(document.http_status.state, HttpState::kReachable);
  EXPECT_EQ(document.capability_status.last_successful_at, this->now()) << "never seen before";
  EXPECT_EQ(document.worker_health.state, WorkerState::kUnknown) << "no capabilities are cached";
  EXPECT_THAT(this->workers_.asked, IsEmpty());

  ASSERT_THAT(this->Run(parts.registry.RefreshService("a", this->now())), IsOk());
  const absl::Time seen = this->now();
  this->Advance(absl::Seconds(10));
  this->capabilities_.response = absl::DeadlineExceededError("timed out");
  ASSERT_THAT(this->Refresh(), IsOk());
  this->Advance(absl::Seconds(10));
  ASSERT_OK_AND_ASSIGN(document, this->Run(parts.health.RefreshHealth("a", this->now(), cached)));
  EXPECT_EQ(document.http_status.state, HttpState::kReachable) << "the failure is over";
  EXPECT_EQ(document.http_status.error_detail, std::nullopt);
  EXPECT_EQ(document.http_status.checked_at, this->now());
  EXPECT_EQ(document.capability_status.error_detail, std::nullopt);
  EXPECT_EQ(document.capability_status.checked_at, this->now());
  EXPECT_EQ(document.capability_status.last_successful_at, seen) << "as in the record";
  EXPECT_EQ(document.worker_health.state, WorkerState::kHealthy);
  EXPECT_THAT(this->capabilities_.asked, SizeIs(2)) << "by the refreshes without the option";
}

// 26: a round writes the states of a disabled service, and nothing else of it.
TYPED_TEST(HealthServiceTest, WritesOnlyTheStatesOfADisabledServiceInARound) {
  this->Register("a", ServiceStatus::kDisabled);
  this->Answer();
  const auto log = this->LogOf([&](store::Store& store) {
    typename TestFixture::Parts parts(store, this->capabilities_, this->workers_);
    const auto round = this->Run(parts.health.RefreshAll(this->now()));
    if (round.ok()) {
      EXPECT_THAT(round->refreshed, ElementsAre("a"));
    }
    return round.status();
  });
  ASSERT_EQ(log.size(), 8u) << ::testing::PrintToString(log);
  EXPECT_THAT(log.back(), HasSubstr("SET studio:health:a "));
  EXPECT_EQ(this->Get().value().overall_status, OverallState::kDisabled);
  EXPECT_EQ(this->Get().value().last_checked_at, std::nullopt);
  EXPECT_THAT(this->capabilities_.asked, IsEmpty());
  EXPECT_FALSE(this->Exists("studio:search:service:doc:a"));
  EXPECT_FALSE(this->Exists("studio:search:service:filter:health:disabled"));

  ASSERT_THAT(this->Refresh(), IsOk()) << "a refresh of the service alone does write them";
  const absl::Time checked = this->now();
  this->Advance(absl::Seconds(60));
  ASSERT_THAT(this->RefreshAll(), IsOk());
  EXPECT_EQ(this->Get().value().last_checked_at, checked);
}

// A record can hold a URL that the outbound policy refuses: another program, or another policy,
// wrote it.
TYPED_TEST(HealthServiceTest, DoesNotCallAUrlOutsideThePolicy) {
  ServiceRecord record = Service("a", "http://169.254.169.254");
  record.capabilities = Json(CapabilitiesWith("\"health.workers\""));
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  ASSERT_THAT(this->Run(records.Create(record)), IsOk());
  this->Answer();
  ASSERT_OK_AND_ASSIGN(const HealthDocument document, this->Refresh());
  EXPECT_THAT(this->capabilities_.asked, IsEmpty());
  EXPECT_THAT(this->workers_.asked, IsEmpty());
  EXPECT_EQ(document.http_status.state, HttpState::kUnreachable);
  EXPECT_EQ(document.worker_health.detail,
            "Service 'a' base_url 'http://169.254.169.254' is not in the trusted host/network "
            "allowlist.");
}

// H1: a service that is deleted while it is refreshed counts as unreachable, and its health
// document and its search document are written again.
TYPED_TEST(HealthServiceTest, BringsTheHealthOfADeletedServiceBack) {
  this->Register();
  this->Answer();
  this->capabilities_.on_fetch = [&] {
    RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
    EXPECT_THAT(this->Run(records.Delete("a")), IsOk());
  };
  const auto document = this->Refresh();
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(document->http_status.state, HttpState::kUnreachable);
  EXPECT_THAT(*document->http_status.error_detail, HasSubstr("was not found"));
  EXPECT_TRUE(this->Exists("studio:health:a"));
  EXPECT_TRUE(this->Exists("studio:search:service:doc:a"));
  EXPECT_FALSE(this->Exists("studio:services:by-id:a"));
}

// H2: a refresh rewrites the whole record, and a concurrent update is lost.
TYPED_TEST(HealthServiceTest, UndoesAPatchThatComesWhileItWrites) {
  this->Register();
  this->Answer();
  const python::Value patch = Json(R"({"name": "Patched"})");
  // Reads: the record, the latest timestamps, the health document, the record. The fifth request
  // reads the record to change it.
  const absl::Status status = this->RunWith(
      5,
      [&] {
        typename TestFixture::Parts parts(this->store(), this->capabilities_, this->workers_);
        EXPECT_THAT(this->Run(parts.registry.UpdateService("a", patch)), IsOk());
      },
      [&](store::Store& store) { return this->Refresh(store).status(); });
  ASSERT_THAT(status, IsOk());
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  EXPECT_EQ(this->Run(records.Get("a")).value()->name, "a");
}

TYPED_TEST(HealthServiceTest, ReadsAnInvalidHealthDocumentAsMissing) {
  this->Register();
  for (const std::string_view text : {"{bad", "[]", "{}", R"({"service_id": "a"})"}) {
    this->Ask({"SET", "studio:health:a", text});
    EXPECT_EQ(this->Get().value().http_status.state, HttpState::kUnknown) << text;
  }
  this->Ask({"DEL", "studio:health:a"});
  this->Ask({"LPUSH", "studio:health:a", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->Get().status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Refresh().status()), "WRONGTYPE");
}

// The service is deleted before each request of the refresh in turn.
TYPED_TEST(HealthServiceTest, WritesNothingForADeletedServiceWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  this->Answer();
  const Hardening hardening = {.atomic_registry = true, .registered_services_only = true};
  bool deleted = true;
  for (size_t steps = 0; deleted; ++steps) {
    ASSERT_LT(steps, 60u);
    this->Register();
    deleted = false;
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index != steps) return std::nullopt;
      deleted = true;
      typename TestFixture::Parts others(this->store(), this->capabilities_, this->workers_);
      EXPECT_THAT(this->Run(others.registry.DeleteService("a")), IsOk());
      return std::nullopt;
    };
    typename TestFixture::Parts parts(store, this->capabilities_, this->workers_, hardening);
    const auto health = this->Run(parts.health.RefreshHealth("a", this->now()));
    EXPECT_TRUE(health.ok() || ErrorOf(health.status()) == "ServiceNotFoundError")
        << health.status();
    if (!deleted) {
      EXPECT_THAT(health, IsOk());
      EXPECT_EQ(this->Ask({"EXISTS", "studio:health:a"}), store::Reply::Integer(1));
      continue;
    }
    EXPECT_EQ(this->Ask({"EXISTS", "studio:search:service:doc:a"}), store::Reply::Integer(0))
        << steps;
    EXPECT_EQ(this->Ask({"EXISTS", "studio:services:by-id:a"}), store::Reply::Integer(0)) << steps;
    this->Ask({"DEL", "studio:health:a"});
  }
}

TYPED_TEST(HealthServiceTest, RefusesHealthOfAMissingServiceWhenHardened) {
  HealthStore documents(
      this->store(),
      this->Options(HealthStoreOptions{.hardening = {.registered_services_only = true}}));
  HealthDocument document;
  document.service_id = "a";
  const absl::Status written = this->Run(documents.SetHealth("a", document));
  EXPECT_EQ(ErrorOf(written), this->in_cluster_layout() ? "OK" : "ServiceNotFoundError");
  this->Register();
  EXPECT_THAT(this->Run(documents.SetHealth("a", document)), IsOk());
  EXPECT_EQ(this->Run(documents.GetHealth("a")).value().value().service_id, "a");
}

TYPED_TEST(HealthServiceTest, KeepsHealthUnderItsPrefix) {
  HealthStore blank(this->store(), {.prefix = " "});
  HealthDocument document;
  document.service_id = "a";
  ASSERT_THAT(this->Run(blank.SetHealth("a", document)), IsOk());
  HealthStore other(this->store(), {.prefix = "other"});
  EXPECT_THAT(this->Run(other.GetHealth("a")), IsOkAndHolds(Eq(std::nullopt)));
  document.service_id = "\xff";
  EXPECT_THAT(this->Run(other.SetHealth("a", document)), Not(IsOk()));
}

TYPED_TEST(HealthServiceTest, RefreshesAllAndReportsWhoFailed) {
  this->Register("a");
  this->Register("b");
  this->Answer();
  this->Ask({"LPUSH", "studio:health:b", "x"});
  const auto round = this->RefreshAll();
  ASSERT_THAT(round, IsOk());
  EXPECT_THAT(round->refreshed, ElementsAre("a"));
  ASSERT_THAT(round->failed, SizeIs(1));
  EXPECT_EQ(round->failed[0].first, "b");
}

// L1: these errors end the loop of the original.
TYPED_TEST(HealthServiceTest, EndsARoundAtADisabledServiceAndAtACorruptRecord) {
  this->Register("a", ServiceStatus::kDisabled);
  this->Ask({"LPUSH", "studio:health:a", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->RefreshAll().status()), "WRONGTYPE");
  this->Ask({"SET", "studio:services:by-id:a", "{"});
  EXPECT_EQ(ErrorOf(this->RefreshAll().status()), "ValidationError");
}

// Errors of the calls to the service are stored in the document; all other errors are returned.
TYPED_TEST(HealthServiceTest, PassesTheFailuresOfReadingOn) {
  const size_t requests = this->ExpectFailuresPassedOn(
      [&] { this->Register(); },
      [&](store::Store& store) {
        typename TestFixture::Parts parts(store, this->capabilities_, this->workers_);
        return this->Run(parts.health.GetHealth("a", this->now())).status();
      });
  EXPECT_EQ(requests, 3u);
  const size_t disabled = this->ExpectFailuresPassedOn(
      [&] { this->Register("a", ServiceStatus::kDisabled); },
      [&](store::Store& store) { return this->Refresh(store).status(); });
  EXPECT_GT(disabled, 6u) << "the health document and the index";
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
