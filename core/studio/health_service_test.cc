#include "core/studio/health_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/python/iso_time.h"
#include "core/studio/search_index.h"
#include "tests/support/studio_test.h"

namespace redouble::studio {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename Backend>
class HealthServiceTest : public StudioBackendTest<Backend> {
 protected:
  struct Parts {
    Parts(store::Store& store, FixedCapabilities& capabilities, FixedWorkers& workers)
        : records(store),
          documents(store),
          index(documents, {}),
          registry(
              records,
              {.policy = *OutboundPolicy::Create(), .fetcher = &capabilities, .indexer = &index}),
          events(store),
          health_documents(store),
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
    RegistryStore records(this->store());
    ASSERT_TRUE(this->Run(records.Create(record)).ok());
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
TYPED_TEST_SUITE(HealthServiceTest, tests::Backends, tests::BackendNames);

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
  EXPECT_EQ(this->Get()->overall_status, OverallState::kDegraded);
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
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->http_status.state, HttpState::kReachable);
  EXPECT_EQ(document->capability_status.state, CapabilityState::kFresh);
  EXPECT_EQ(document->worker_health.state, WorkerState::kHealthy);
  EXPECT_EQ(document->worker_health.latest_heartbeat_at, this->now());
  EXPECT_EQ(document->overall_status, OverallState::kUnknown) << "no event was seen yet";
  EXPECT_EQ(document->registry_status, ServiceStatus::kRegistered) << "it marks nobody healthy";
  EXPECT_EQ(*this->Get(), *document);
  EXPECT_THAT(this->Members("studio:search:service:filter:health:unknown"), ElementsAre("a"));
  EXPECT_THAT(this->capabilities_.asked, ElementsAre("http://a.test"));
  EXPECT_EQ(this->Ttl("studio:health:a"), -1);
}

// Golden health_refresh_cycle: what was fresh goes stale by itself, by the second.
TYPED_TEST(HealthServiceTest, GoesStaleOneAfterTheOther) {
  this->Register();
  this->Answer();
  EventStore events(this->store());
  const EventEnvelope envelope = Event("e1", python::FormatIso(this->now()));
  ASSERT_TRUE(*this->Run(events.InsertEvent(envelope, this->now())));
  ASSERT_TRUE(this->Refresh().ok());
  const absl::Time start = this->now();
  EXPECT_EQ(this->Get()->overall_status, OverallState::kHealthy);
  this->AdvanceTo(start + absl::Seconds(90));
  EXPECT_EQ(this->Get()->worker_health.state, WorkerState::kHealthy);
  this->AdvanceTo(start + absl::Seconds(91));
  EXPECT_EQ(this->Get()->worker_health.state, WorkerState::kStale);
  EXPECT_EQ(this->Get()->overall_status, OverallState::kStale);
  this->AdvanceTo(start + absl::Seconds(180));
  EXPECT_EQ(this->Get()->capability_status.state, CapabilityState::kFresh);
  this->AdvanceTo(start + absl::Seconds(181));
  EXPECT_EQ(this->Get()->capability_status.state, CapabilityState::kStale);
  this->AdvanceTo(start + absl::Seconds(300));
  EXPECT_EQ(this->Get()->observation_freshness.state, FreshnessState::kFresh);
  this->AdvanceTo(start + absl::Seconds(301));
  EXPECT_EQ(this->Get()->observation_freshness.state, FreshnessState::kStale);
}

TYPED_TEST(HealthServiceTest, KeepsWhatItKnewOfAServiceThatDoesNotAnswer) {
  this->Register();
  this->Answer();
  ASSERT_TRUE(this->Refresh().ok());
  const absl::Time first = this->now();
  this->Advance(absl::Seconds(10));
  this->capabilities_.response = absl::DeadlineExceededError("timed out");
  this->workers_.body = absl::DeadlineExceededError("no workers");
  const auto document = this->Refresh();
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->http_status.state, HttpState::kUnreachable);
  EXPECT_EQ(document->http_status.error_detail, "timed out");
  EXPECT_EQ(document->capability_status.error_detail, "timed out");
  EXPECT_EQ(document->capability_status.last_successful_at, first);
  EXPECT_EQ(document->capability_status.checked_at, this->now());
  EXPECT_EQ(document->worker_health.detail, "no workers");
  EXPECT_THAT(document->worker_health.workers, SizeIs(1)) << "those of before";
  EXPECT_EQ(document->overall_status, OverallState::kUnreachable);
}

TYPED_TEST(HealthServiceTest, KeepsTheReasonWhenWorkersCannotBeRead) {
  this->Register();
  this->Answer();
  for (const std::string body : {"", "[]", "{}", R"({"reported_at": "soon"})"}) {
    this->workers_.body = body;
    const auto document = this->Refresh();
    ASSERT_TRUE(document.ok());
    EXPECT_TRUE(document->worker_health.detail.has_value()) << body;
    EXPECT_EQ(document->worker_health.state, WorkerState::kUnknown) << body;
  }
}

TYPED_TEST(HealthServiceTest, DoesNotAskForWorkersThatAreNotOffered) {
  this->Register();
  this->Answer("\"events.feed\"");
  const auto document = this->Refresh();
  EXPECT_EQ(document->worker_health.state, WorkerState::kUnsupported);
  EXPECT_THAT(this->workers_.asked, IsEmpty());
}

TYPED_TEST(HealthServiceTest, DoesNotAskADisabledService) {
  this->Register("a", ServiceStatus::kDisabled);
  this->Answer();
  const auto document = this->Refresh();
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->overall_status, OverallState::kDisabled);
  EXPECT_EQ(document->last_checked_at, this->now());
  EXPECT_THAT(this->capabilities_.asked, IsEmpty());
  EXPECT_THAT(this->Members("studio:search:service:filter:health:disabled"), ElementsAre("a"));
}

// H1: a service that is deleted while it is asked counts as unreachable, and gets back its health
// document and its place in the search.
TYPED_TEST(HealthServiceTest, BringsTheHealthOfADeletedServiceBack) {
  this->Register();
  this->Answer();
  this->capabilities_.on_fetch = [&] {
    RegistryStore records(this->store());
    EXPECT_TRUE(this->Run(records.Delete("a")).ok());
  };
  const auto document = this->Refresh();
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->http_status.state, HttpState::kUnreachable);
  EXPECT_THAT(*document->http_status.error_detail, HasSubstr("was not found"));
  EXPECT_TRUE(this->Exists("studio:health:a"));
  EXPECT_TRUE(this->Exists("studio:search:service:doc:a"));
  EXPECT_FALSE(this->Exists("studio:services:by-id:a"));
}

// H2: a refresh rewrites the whole record, and a patch that comes meanwhile is lost.
TYPED_TEST(HealthServiceTest, UndoesAPatchThatComesWhileItWrites) {
  this->Register();
  this->Answer();
  const python::Value patch = Json(R"({"name": "Patched"})");
  // Registry, three of the activity, the health document, registry; then the record is read to be
  // changed.
  const absl::Status status = this->RunWith(
      7,
      [&] {
        typename TestFixture::Parts parts(this->store(), this->capabilities_, this->workers_);
        EXPECT_TRUE(this->Run(parts.registry.UpdateService("a", patch)).ok());
      },
      [&](store::Store& store) { return this->Refresh(store).status(); });
  ASSERT_TRUE(status.ok());
  RegistryStore records(this->store());
  EXPECT_EQ((*this->Run(records.Get("a")))->name, "a");
}

TYPED_TEST(HealthServiceTest, TakesAHealthDocumentThatIsNoneForNone) {
  this->Register();
  for (const std::string_view text : {"{bad", "[]", "{}", R"({"service_id": "a"})"}) {
    this->Ask({"SET", "studio:health:a", text});
    EXPECT_EQ(this->Get()->http_status.state, HttpState::kUnknown) << text;
  }
  this->Ask({"DEL", "studio:health:a"});
  this->Ask({"LPUSH", "studio:health:a", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->Get().status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Refresh().status()), "WRONGTYPE");
}

TYPED_TEST(HealthServiceTest, KeepsHealthUnderItsPrefix) {
  HealthStore blank(this->store(), " ");
  HealthDocument document;
  document.service_id = "a";
  ASSERT_TRUE(this->Run(blank.SetHealth("a", document)).ok());
  HealthStore other(this->store(), "other");
  EXPECT_EQ(*this->Run(other.GetHealth("a")), std::nullopt);
  document.service_id = "\xff";
  EXPECT_FALSE(this->Run(other.SetHealth("a", document)).ok());
}

TYPED_TEST(HealthServiceTest, RefreshesAllAndReportsWhoFailed) {
  this->Register("a");
  this->Register("b");
  this->Answer();
  this->Ask({"LPUSH", "studio:health:b", "x"});
  const auto round = this->RefreshAll();
  ASSERT_TRUE(round.ok()) << round.status();
  EXPECT_THAT(round->refreshed, ElementsAre("a"));
  ASSERT_THAT(round->failed, SizeIs(1));
  EXPECT_EQ(round->failed[0].first, "b");
}

// L1: what escapes a round ends the loop of the original.
TYPED_TEST(HealthServiceTest, EndsARoundAtADisabledServiceAndAtACorruptRecord) {
  this->Register("a", ServiceStatus::kDisabled);
  this->Ask({"LPUSH", "studio:health:a", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->RefreshAll().status()), "WRONGTYPE");
  this->Ask({"SET", "studio:services:by-id:a", "{"});
  EXPECT_EQ(ErrorOf(this->RefreshAll().status()), "ValidationError");
}

// The failures of what is asked of the service itself are swallowed, the others passed on.
TYPED_TEST(HealthServiceTest, PassesTheFailuresOfReadingOn) {
  const size_t requests = this->ExpectFailuresPassedOn(
      [&] { this->Register(); },
      [&](store::Store& store) {
        typename TestFixture::Parts parts(store, this->capabilities_, this->workers_);
        return this->Run(parts.health.GetHealth("a", this->now())).status();
      });
  EXPECT_EQ(requests, 5u);
  const size_t disabled = this->ExpectFailuresPassedOn(
      [&] { this->Register("a", ServiceStatus::kDisabled); },
      [&](store::Store& store) { return this->Refresh(store).status(); });
  EXPECT_GT(disabled, 6u) << "the health document and the index";
}

}  // namespace
}  // namespace redouble::studio
