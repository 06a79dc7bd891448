#include "redouble/core/studio/health/health_document.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/studio/registry/capabilities.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;

constexpr char kNow[] = "2026-01-01T12:00:00Z";

absl::Time Now() { return base::ParseRfc3339(kNow).value(); }
absl::Time Ago(int64_t seconds) { return Now() - absl::Seconds(seconds); }
absl::Time Before(int64_t seconds) { return Ago(seconds) - absl::Microseconds(1); }

// A service that offers these routes; nullopt: without capabilities.
ServiceRecord ServiceWith(std::optional<std::vector<std::string>> routes) {
  ServiceRecord record;
  record.service_id = "a";
  if (!routes) return record;
  record.capabilities = LegacyCapabilityDocument();
  record.capabilities.object()->Set("supported_routes",
                                    python::Array(routes->begin(), routes->end()));
  python::Object metadata = *record.capabilities.Find("service_metadata")->object();
  metadata.Set("compatibility", "capabilities_v1");
  record.capabilities.object()->Set("service_metadata", std::move(metadata));
  return record;
}

WorkerHeartbeat Worker(bool running, std::optional<absl::Time> heartbeat) {
  return {.worker_name = "w", .running = running, .last_heartbeat_at = heartbeat};
}

HealthDocument Materialized(const ServiceFacts& facts, const HealthDocument& stored) {
  return Materialize(facts, stored, Now(), HealthLimits());
}

struct CapabilityCase {
  const char* why;
  std::optional<absl::Time> stored_success;
  std::optional<absl::Time> last_seen;
  std::optional<std::string> error;
  CapabilityState state;
};

TEST(Materialize, ComputesTheCapabilityStateFromTheLastSuccess) {
  const CapabilityCase cases[] = {
      {"nothing known", {}, {}, {}, CapabilityState::kMissing},
      {"only a failure", {}, {}, "refused", CapabilityState::kError},
      {"a failure that says nothing", {}, {}, "", CapabilityState::kMissing},
      {"just now", Now(), {}, {}, CapabilityState::kFresh},
      {"180 s ago", Ago(180), {}, {}, CapabilityState::kFresh},
      {"just over the limit", Before(180), {}, {}, CapabilityState::kStale},
      {"181 s ago", Ago(181), {}, {}, CapabilityState::kStale},
      {"by the registry", {}, Ago(10), {}, CapabilityState::kFresh},
      {"by the registry, long ago", {}, Ago(500), {}, CapabilityState::kStale},
      {"its own success counts first", Ago(500), Ago(10), {}, CapabilityState::kStale},
      {"a success hides a later failure", Ago(10), {}, "refused", CapabilityState::kFresh},
      {"a failure behind a stale success", Ago(500), {}, "refused", CapabilityState::kStale},
      {"in the future", Now() + absl::Hours(1), {}, {}, CapabilityState::kFresh},
  };
  for (const CapabilityCase& one : cases) {
    ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
    facts.service.last_seen_at = one.last_seen;
    HealthDocument stored;
    stored.capability_status.last_successful_at = one.stored_success;
    stored.capability_status.error_detail = one.error;
    EXPECT_EQ(Materialized(facts, stored).capability_status.state, one.state) << one.why;
  }
}

TEST(Materialize, UsesTheLastSuccessAsCheckTimeIfThatIsMissing) {
  ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  facts.service.last_seen_at = Ago(10);
  HealthDocument stored;
  EXPECT_EQ(Materialized(facts, stored).capability_status.checked_at, Ago(10));
  stored.capability_status.checked_at = Ago(5);
  EXPECT_EQ(Materialized(facts, stored).capability_status.checked_at, Ago(5));
}

struct ActivityCase {
  const char* why;
  std::optional<std::string> status;
  std::optional<std::string> observation;
  FreshnessState state;
};

TEST(Materialize, ComputesFreshnessFromTheLaterTimestamp) {
  const auto text = [](absl::Time time) { return python::FormatIso(time); };
  const ActivityCase cases[] = {
      {"nothing known", {}, {}, FreshnessState::kMissing},
      {"no timestamps", "soon", "", FreshnessState::kMissing},
      {"300 s ago", text(Ago(300)), {}, FreshnessState::kFresh},
      {"just over the limit", text(Before(300)), {}, FreshnessState::kStale},
      {"301 s ago", {}, text(Ago(301)), FreshnessState::kStale},
      {"the later one counts", text(Ago(1000)), text(Ago(10)), FreshnessState::kFresh},
      {"whichever it is", text(Ago(10)), text(Ago(1000)), FreshnessState::kFresh},
      {"one that is none is nothing", "soon", text(Ago(10)), FreshnessState::kFresh},
      {"without an offset it is UTC", "2026-01-01T11:59:00", {}, FreshnessState::kFresh},
      {"in the future", text(Now() + absl::Hours(1)), {}, FreshnessState::kFresh},
  };
  for (const ActivityCase& one : cases) {
    ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
    facts.activity.latest_status_event_at = one.status;
    facts.activity.latest_observation_event_at = one.observation;
    const HealthDocument document = Materialized(facts, {});
    EXPECT_EQ(document.observation_freshness.state, one.state) << one.why;
  }
}

TEST(Materialize, ReadsActivityFromTheEventsOnly) {
  ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  facts.activity.latest_ingested_at = kNow;
  HealthDocument stored;
  stored.observation_freshness.state = FreshnessState::kFresh;
  stored.observation_freshness.latest_status_event_at = Now();
  const HealthDocument document = Materialized(facts, stored);
  EXPECT_EQ(document.observation_freshness.latest_status_event_at, std::nullopt);
  EXPECT_EQ(document.observation_freshness.latest_ingested_at, Now());
  EXPECT_EQ(document.observation_freshness.state, FreshnessState::kMissing)
      << "ingested_at does not count";
}

struct WorkerCase {
  const char* why;
  std::optional<std::vector<std::string>> routes;
  std::vector<WorkerHeartbeat> workers;
  std::optional<absl::Time> latest;
  WorkerState state;
};

TEST(Materialize, ComputesTheWorkerState) {
  const std::vector<std::string> offered = {"health.workers"};
  const WorkerCase cases[] = {
      {"nothing known of the service",
       std::nullopt,
       {Worker(true, Now())},
       Now(),
       WorkerState::kUnknown},
      {"not offered",
       std::vector<std::string>{"events.feed"},
       {Worker(true, Now())},
       Now(),
       WorkerState::kUnsupported},
      {"no workers", offered, {}, {}, WorkerState::kUnknown},
      {"one that runs", offered, {Worker(true, Now())}, Now(), WorkerState::kHealthy},
      {"one that does not",
       offered,
       {Worker(true, Now()), Worker(false, Now())},
       Now(),
       WorkerState::kUnhealthy},
      {"no heartbeat", offered, {Worker(true, {})}, {}, WorkerState::kStale},
      {"90 s ago", offered, {Worker(true, Ago(90))}, Ago(90), WorkerState::kHealthy},
      {"just over the limit", offered, {Worker(true, Before(90))}, Before(90), WorkerState::kStale},
      {"91 s ago", offered, {Worker(true, Ago(91))}, Ago(91), WorkerState::kStale},
      {"one live worker hides a dead one",
       offered,
       {Worker(true, Ago(9999)), Worker(true, Now())},
       Now(),
       WorkerState::kHealthy},
      {"one that stands still counts before staleness",
       offered,
       {Worker(false, Ago(9999))},
       Ago(9999),
       WorkerState::kUnhealthy},
  };
  for (const WorkerCase& one : cases) {
    const ServiceFacts facts = {.service = ServiceWith(one.routes), .activity = {}};
    HealthDocument stored;
    stored.worker_health.workers = one.workers;
    stored.worker_health.latest_heartbeat_at = one.latest;
    stored.worker_health.detail = "said something";
    const HealthDocument document = Materialized(facts, stored);
    EXPECT_EQ(document.worker_health.state, one.state) << one.why;
    const bool cleared = one.state == WorkerState::kUnsupported;
    EXPECT_EQ(document.worker_health.workers.empty(), cleared || one.workers.empty()) << one.why;
    EXPECT_EQ(document.worker_health.detail.has_value(), !cleared) << one.why;
  }
}

TEST(Materialize, WritesTheLatestHeartbeatInUtc) {
  const ServiceFacts facts = {.service = ServiceWith(std::vector<std::string>{"health.workers"}),
                              .activity = {}};
  HealthDocument stored;
  stored.worker_health.workers = {Worker(true, Ago(60))};
  stored.worker_health.latest_heartbeat_at = python::DateTime(Ago(60), absl::Hours(2));
  EXPECT_EQ(Materialized(facts, stored).worker_health.latest_heartbeat_at, Ago(60));
}

TEST(Materialize, ReadsInvalidCapabilitiesAsMissing) {
  ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  facts.service.capabilities = python::Object({{"supported_routes", "all"}});
  HealthDocument stored;
  stored.worker_health.workers = {Worker(true, Now())};
  EXPECT_EQ(Materialized(facts, stored).worker_health.state, WorkerState::kUnknown);
  facts.service.capabilities = python::Object();
  EXPECT_EQ(Materialized(facts, stored).worker_health.state, WorkerState::kUnknown);
}

// States of the parts, and the overall state that they give.
struct OverallCase {
  const char* why;
  ServiceStatus status = ServiceStatus::kHealthy;
  HttpState http = HttpState::kReachable;
  std::optional<int64_t> success_ago = 0;
  std::optional<std::string> error = std::nullopt;
  std::optional<int64_t> event_ago = 0;
  bool offers_workers = true;
  bool running = true;
  int64_t heartbeat_ago = 0;
  OverallState state = OverallState::kHealthy;
};

TEST(Materialize, ComputesTheOverallStateByTheFirstRuleThatApplies) {
  const OverallCase cases[] = {
      {.why = "all is well"},
      {.why = "without the route", .offers_workers = false},
      {.why = "disabled before all",
       .status = ServiceStatus::kDisabled,
       .http = HttpState::kUnreachable,
       .state = OverallState::kDisabled},
      {.why = "unreachable before stale",
       .http = HttpState::kUnreachable,
       .success_ago = 999,
       .state = OverallState::kUnreachable},
      {.why = "capability stale", .success_ago = 999, .state = OverallState::kStale},
      {.why = "observation stale", .event_ago = 999, .state = OverallState::kStale},
      {.why = "worker stale", .heartbeat_ago = 999, .state = OverallState::kStale},
      {.why = "stale before degraded",
       .event_ago = 999,
       .running = false,
       .state = OverallState::kStale},
      {.why = "a worker stands still", .running = false, .state = OverallState::kDegraded},
      {.why = "capability error",
       .success_ago = std::nullopt,
       .error = "refused",
       .state = OverallState::kDegraded},
      {.why = "no event yet", .event_ago = std::nullopt, .state = OverallState::kUnknown},
      {.why = "never asked",
       .http = HttpState::kUnknown,
       .success_ago = std::nullopt,
       .state = OverallState::kUnknown},
      {.why = "not asked lately but well", .http = HttpState::kUnknown},
      {.why = "unavailable is no state of its own", .status = ServiceStatus::kUnavailable},
  };
  for (const OverallCase& one : cases) {
    ServiceFacts facts;
    facts.service = ServiceWith(one.offers_workers ? std::vector<std::string>{"health.workers"}
                                                   : std::vector<std::string>{});
    facts.service.status = one.status;
    if (one.event_ago) {
      facts.activity.latest_status_event_at = python::FormatIso(Ago(*one.event_ago));
    }
    HealthDocument stored;
    stored.http_status.state = one.http;
    if (one.success_ago) stored.capability_status.last_successful_at = Ago(*one.success_ago);
    stored.capability_status.error_detail = one.error;
    stored.worker_health.workers = {Worker(one.running, Ago(one.heartbeat_ago))};
    stored.worker_health.latest_heartbeat_at = Ago(one.heartbeat_ago);
    EXPECT_EQ(Materialized(facts, stored).overall_status, one.state) << one.why;
  }
}

TEST(Materialize, IsDegradedForAServiceThatWasNeverRefreshed) {
  const ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  const HealthDocument document = Materialize(facts, std::nullopt, Now(), HealthLimits());
  EXPECT_EQ(document.service_id, "a");
  EXPECT_EQ(document.overall_status, OverallState::kDegraded) << "its workers are unknown";
  EXPECT_EQ(document.http_status.state, HttpState::kUnknown);
}

TEST(Materialize, ClearsTheErrorOfAServiceThatIsReachable) {
  const ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  HealthDocument stored;
  stored.http_status.error_detail = "refused";
  stored.http_status.state = HttpState::kUnreachable;
  EXPECT_EQ(Materialized(facts, stored).http_status.error_detail, "refused");
  stored.http_status.state = HttpState::kReachable;
  EXPECT_EQ(Materialized(facts, stored).http_status.error_detail, std::nullopt);
}

TEST(Materialize, GoesByTheLimitsItIsGiven) {
  ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  facts.service.last_seen_at = Ago(10);
  const HealthLimits limits = {.capability_stale_after = absl::Seconds(9)};
  EXPECT_EQ(Materialize(facts, {}, Now(), limits).capability_status.state, CapabilityState::kStale);
}

HealthDocument FullDocument() {
  HealthDocument document;
  document.service_id = "a";
  document.registry_status = ServiceStatus::kHealthy;
  document.http_status = {HttpState::kReachable, Now(), std::nullopt};
  document.capability_status = {CapabilityState::kFresh, Now(), Now(), "once"};
  document.observation_freshness = {FreshnessState::kStale, Ago(400), Ago(500), Now()};
  document.worker_health.state = WorkerState::kUnhealthy;
  document.worker_health.reported_at = Now();
  document.worker_health.latest_heartbeat_at = Now();
  document.worker_health.workers = {Worker(false, Now()), Worker(true, std::nullopt)};
  document.worker_health.detail = "one stands still";
  document.last_checked_at = Now();
  document.overall_status = OverallState::kStale;
  return document;
}

TEST(HealthDocument, IsWrittenInTheOrderOfItsModelAndReadBack) {
  ASSERT_OK_AND_ASSIGN(const std::string json, python::PydanticJson(ToValue(FullDocument())));
  EXPECT_EQ(json,
            R"({"service_id":"a","registry_status":"healthy","http_status":{"state":"reachable",)"
            R"("checked_at":"2026-01-01T12:00:00Z","error_detail":null},"capability_status":)"
            R"({"state":"fresh","checked_at":"2026-01-01T12:00:00Z",)"
            R"("last_successful_at":"2026-01-01T12:00:00Z","error_detail":"once"},)"
            R"("observation_freshness":{"state":"stale",)"
            R"("latest_status_event_at":"2026-01-01T11:53:20Z",)"
            R"("latest_observation_event_at":"2026-01-01T11:51:40Z",)"
            R"("latest_ingested_at":"2026-01-01T12:00:00Z"},"worker_health":{"state":"unhealthy",)"
            R"("reported_at":"2026-01-01T12:00:00Z","latest_heartbeat_at":"2026-01-01T12:00:00Z",)"
            R"("workers":[{"worker_name":"w","running":false,)"
            R"("last_heartbeat_at":"2026-01-01T12:00:00Z"},{"worker_name":"w","running":true,)"
            R"("last_heartbeat_at":null}],"detail":"one stands still"},)"
            R"("last_checked_at":"2026-01-01T12:00:00Z","overall_status":"stale"})");
  EXPECT_THAT(ParseHealthDocument(json), IsOkAndHolds(FullDocument()));
}

TEST(HealthDocument, NeedsLittle) {
  const auto document =
      ParseHealthDocument(R"({"service_id": "a", "registry_status": "disabled"})");
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(document->registry_status, ServiceStatus::kDisabled);
  EXPECT_EQ(document->overall_status, OverallState::kUnknown);
}

TEST(HealthDocument, IsInvalidIfAnyPartIsInvalid) {
  const std::string_view begin = R"({"service_id": "a", "registry_status": "healthy", )";
  const std::string_view parts[] = {
      R"("http_status": [])",
      R"("http_status": {"state": "asleep"})",
      R"("http_status": {"state": 1})",
      R"("http_status": {"checked_at": "soon"})",
      R"("http_status": {"error_detail": {}})",
      R"("capability_status": {"state": "reachable"})",
      R"("capability_status": {"last_successful_at": true})",
      R"("capability_status": {"checked_at": ""})",
      R"("observation_freshness": {"state": "error"})",
      R"("observation_freshness": {"latest_ingested_at": "x"})",
      R"("worker_health": {"state": "fresh"})",
      R"("worker_health": {"workers": {}})",
      R"("worker_health": {"workers": [1]})",
      R"("worker_health": {"workers": [{"running": true}]})",
      R"("worker_health": {"workers": [{"worker_name": "w"}]})",
      R"("worker_health": {"workers": [{"worker_name": "w", "running": "maybe"}]})",
      R"("worker_health": {"workers": [{"worker_name": "w", "running": null}]})",
      R"("worker_health": {"workers": null})",
      R"("worker_health": null)",
      R"("http_status": null)",
      R"("http_status": {"state": null})",
      R"("overall_status": null)",
      R"("worker_health": {"detail": 1})",
      R"("last_checked_at": "2026-13-01")",
      R"("overall_status": "fine")",
  };
  for (const std::string_view part : parts) {
    const std::string json = std::string(begin) + std::string(part) + "}";
    EXPECT_EQ(python::ErrorType(ParseHealthDocument(json).status()), "ValidationError") << part;
  }
  for (const std::string_view json :
       {"", "{", "[]", "{}", R"({"service_id": "a"})", R"({"registry_status": "healthy"})",
        R"({"service_id": "a", "registry_status": "lost"})"}) {
    EXPECT_EQ(python::ErrorType(ParseHealthDocument(json).status()), "ValidationError") << json;
  }
}

TEST(WorkerReport, IsReadFromAServicesAnswer) {
  const auto report = ParseWorkerReport(
      R"({"reported_at": "2026-01-01T12:00:00Z", "workers": [{"worker_name": "w",)"
      R"( "running": true, "last_heartbeat_at": "2026-01-01T11:59:00+00:00"}]})");
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->reported_at, Now());
  ASSERT_EQ(report->workers.size(), 1u);
  EXPECT_EQ(report->workers[0], Worker(true, Ago(60)));
  EXPECT_TRUE(ParseWorkerReport(R"({"reported_at": "2026-01-01"})").value().workers.empty());
}

// pydantic accepts these values, and writes a date-time with the offset that it was given.
TEST(WorkerReport, KeepsOffsetsAndAcceptsNumbers) {
  ASSERT_OK_AND_ASSIGN(
      const WorkerReport report,
      ParseWorkerReport(
          R"({"reported_at": "2026-01-01T14:00:00+02:00", "workers": [{"worker_name": "w",)"
          R"( "running": 1, "last_heartbeat_at": 1767268740}, {"worker_name": "x",)"
          R"( "running": "off", "last_heartbeat_at": "2026-01-01T12:00:00"}]})"));
  EXPECT_EQ(report.reported_at, python::DateTime(Now(), absl::Hours(2)));
  ASSERT_EQ(report.workers.size(), 2u);
  EXPECT_EQ(report.workers[0], Worker(true, Ago(60)));
  EXPECT_FALSE(report.workers[1].running);

  HealthDocument document;
  document.worker_health.reported_at = report.reported_at;
  document.worker_health.workers = report.workers;
  ASSERT_OK_AND_ASSIGN(const std::string json, python::PydanticJson(ToValue(document)));
  EXPECT_NE(json.find(R"("reported_at":"2026-01-01T14:00:00+02:00")"), json.npos) << json;
  EXPECT_NE(json.find(R"("last_heartbeat_at":"2026-01-01T11:59:00Z")"), json.npos) << json;
  EXPECT_NE(json.find(R"("last_heartbeat_at":"2026-01-01T12:00:00"})"), json.npos) << json;
  EXPECT_THAT(ParseHealthDocument(json), IsOkAndHolds(document));
}

TEST(Materialize, WritesInstantsInUtc) {
  ServiceFacts facts = {.service = ServiceWith(std::nullopt), .activity = {}};
  facts.activity.latest_status_event_at = "2026-01-01T13:59:00+02:00";
  facts.activity.latest_observation_event_at = "2026-01-01T11:58:00";
  const ObservationFreshness freshness = Materialized(facts, {}).observation_freshness;
  EXPECT_EQ(freshness.state, FreshnessState::kFresh);
  EXPECT_EQ(freshness.latest_status_event_at, Ago(60));
  EXPECT_EQ(freshness.latest_observation_event_at, Ago(120));
}

TEST(Latest, IsTheLaterInstantInUtc) {
  const python::DateTime early(Ago(10), absl::Hours(5));
  const python::DateTime naive(Ago(5), std::nullopt);
  EXPECT_EQ(Latest(early, naive), Ago(5));
  EXPECT_EQ(Latest(early, Now()), Now());
  EXPECT_EQ(Latest(Now(), early), Now());
  EXPECT_EQ(Latest(std::nullopt, early), Ago(10));
  EXPECT_EQ(Latest(early, std::nullopt), Ago(10));
  EXPECT_EQ(Latest(std::nullopt, std::nullopt), std::nullopt);
}

TEST(WorkerReport, IsInvalidWithoutItsTimeOrWithInvalidWorkers) {
  for (const std::string_view json :
       {"", "[]", "{}", R"({"reported_at": null})", R"({"reported_at": "soon"})",
        R"({"reported_at": "2026-01-01", "workers": "w"})",
        R"({"reported_at": "2026-01-01", "workers": null})",
        R"({"reported_at": "2026-01-01", "workers": [{}]})",
        R"({"reported_at": "2026-01-01", "workers": [{"worker_name": "w", "running": true,)"
        R"( "last_heartbeat_at": "x"}]})"}) {
    EXPECT_EQ(python::ErrorType(ParseWorkerReport(json).status()), "ValidationError") << json;
  }
}

TEST(OverallState, HasANameForEach) {
  const OverallState states[] = {OverallState::kHealthy,  OverallState::kDegraded,
                                 OverallState::kStale,    OverallState::kUnreachable,
                                 OverallState::kDisabled, OverallState::kUnknown};
  const char* names[] = {"healthy", "degraded", "stale", "unreachable", "disabled", "unknown"};
  for (size_t i = 0; i < std::size(states); ++i) EXPECT_EQ(OverallStateName(states[i]), names[i]);
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
