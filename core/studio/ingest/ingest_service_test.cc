#include "redouble/core/studio/ingest/ingest_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Feeds by base URL, newest first, cut into pages. Records the requests.
class PagedFeed final : public FeedSource {
 public:
  base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view base_url,
                                             FeedRequest request) override {
    asked.push_back(request.after.value_or("-"));
    limits.push_back(request.limit);
    if (failing_after && request.after == *failing_after) {
      co_return absl::UnavailableError("no feed");
    }
    const auto found = feeds.find(std::string(base_url));
    if (found == feeds.end()) co_return absl::UnavailableError("no such service");
    const std::vector<ServiceEvent>& events = found->second;
    const auto named = std::find_if(events.begin(), events.end(), [&](const ServiceEvent& event) {
      return event.cursor == request.after;
    });
    const auto first = named == events.end() ? events.begin() : named + 1;
    FeedPage page;
    page.items.assign(first, first + std::min<ptrdiff_t>(page_size, events.end() - first));
    if (first + static_cast<ptrdiff_t>(page.items.size()) != events.end()) {
      page.next_cursor = page.items.back().cursor;
    }
    co_return page;
  }

  std::map<std::string, std::vector<ServiceEvent>> feeds;
  ptrdiff_t page_size = 2;
  std::optional<std::optional<std::string>> failing_after;
  std::vector<std::string> asked;
  std::vector<int64_t> limits;
};

template <typename Backend>
class IngestServiceTest : public StudioBackendTest<Backend> {
 protected:
  // All services on one store.
  struct Parts {
    explicit Parts(store::Store& store, bool with_index = true)
        : records(store, StudioBackendTest<Backend>::Options(RegistryStoreOptions())),
          registry(records, {.policy = OutboundPolicy::Create().value()}),
          events(store, StudioBackendTest<Backend>::Options(EventStoreOptions())),
          documents(store, StudioBackendTest<Backend>::Options(SearchStoreOptions())),
          index(documents, {}),
          ingest(registry, events, with_index ? &index : nullptr) {}

    RegistryStore records;
    Registry registry;
    EventStore events;
    SearchStore documents;
    SearchIndex index;
    IngestService ingest;
  };

  void Register(const std::string& id, const std::string& url, bool pulled = true) {
    ServiceRecord record = Service(id, url);
    record.status = pulled ? ServiceStatus::kHealthy : ServiceStatus::kRegistered;
    record.capabilities = Json(CapabilitiesWith("\"events.feed\""));
    RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
    ASSERT_THAT(this->Run(records.Create(record)), IsOk());
  }
  absl::StatusOr<IngestReport> Ingest(const std::vector<EventEnvelope>& envelopes) {
    Parts parts(this->store());
    return this->Run(parts.ingest.IngestEvents(envelopes, this->now()));
  }
  absl::Status Sync(PullSyncOptions options = {}) {
    Parts parts(this->store());
    PullSync sync(parts.ingest, parts.events, feed_, options);
    const base::VirtualClock clock(this->now());
    return this->Run(sync.SyncService(Service("a", "http://a.test"), clock));
  }
  absl::Status SyncAll(SyncRound& round) {
    Parts parts(this->store());
    PullSync sync(parts.ingest, parts.events, feed_, {});
    const base::VirtualClock clock(this->now());
    absl::StatusOr<SyncRound> done = this->Run(sync.SyncAll(clock));
    if (done.ok()) round = *std::move(done);
    return done.status();
  }
  // Sets the feed of "http://a.test" to the events of these digits, newest first.
  void Feed(std::string_view digits) {
    std::vector<ServiceEvent>& events = feed_.feeds["http://a.test"];
    events.clear();
    for (const char digit : digits) {
      events.push_back(
          Event(std::string("e") + digit, std::string("2026-01-01T10:00:0") + digit + "Z").event);
    }
    feed_.asked.clear();
  }
  std::vector<std::string> StoredIds() {
    Parts parts(this->store());
    std::vector<std::string> ids;
    const EventPage page = this->Run(parts.events.ListServiceEvents("a")).value();
    for (const ControlPlaneEvent& event : page.items) {
      ids.push_back(*event.event.event_id);
    }
    return ids;
  }
  std::string Cursor() { return this->Value("studio:events:pull-cursor:a"); }

  PagedFeed feed_;
};
TYPED_TEST_SUITE(IngestServiceTest, tests::LayoutBackends, tests::BackendNames);

// The process of the first insert ended before it indexed the event.
TYPED_TEST(IngestServiceTest, IndexesADuplicateThatNoSearchFindsWhenHardened) {
  this->Register("a", "http://a.test");
  typename TestFixture::Parts parts(this->store());
  const EventEnvelope event = Event("e1", "2026-05-09T14:00:00Z");
  const absl::Time first = this->now();
  EXPECT_THAT(this->Run(parts.events.InsertEvent(event, first)), IsOkAndHolds(true));
  const std::string id = TaskDocumentId({"a", "t1"});
  const auto document = [&] { return this->Run(parts.documents.GetTaskDocument(id)).value(); };

  this->Advance(absl::Minutes(1));
  const std::span<const EventEnvelope> again(&event, 1);
  EXPECT_THAT(this->Run(parts.ingest.IngestEvents(again, this->now())), IsOk());
  EXPECT_FALSE(document().has_value()) << "as documented";
  IngestService ingest(parts.registry, parts.events, &parts.index, {.index_duplicates = true});
  const auto report = this->Run(ingest.IngestEvents(again, this->now()));
  EXPECT_EQ(report.value(), (IngestReport{.duplicate = 1}));
  ASSERT_TRUE(document().has_value());
  EXPECT_EQ(document()->status, "running");
  EXPECT_EQ(document()->latest_ingested_at, python::FormatIsoZ(first));
  EXPECT_EQ(document()->expires_at, python::FormatIsoZ(first + absl::Hours(24)));

  // An expired document does not come back.
  ASSERT_THAT(this->Run(parts.documents.DeleteTaskDocument(id)), IsOk());
  const auto late = this->Run(ingest.IngestEvents(again, first + absl::Hours(24)));
  EXPECT_EQ(late.value().duplicate, 1);
  EXPECT_FALSE(document().has_value());
}

TYPED_TEST(IngestServiceTest, KeepsANewerStatusWhenAnOldEventComesAgainAndItIsHardened) {
  this->Register("a", "http://a.test");
  typename TestFixture::Parts parts(this->store());
  IngestService ingest(parts.registry, parts.events, &parts.index, {.index_duplicates = true});
  const EventEnvelope old_event = Event("e1", "2026-05-09T14:00:00Z");
  EventEnvelope new_event = Event("e2", "2026-05-09T14:00:01Z");
  new_event.event.payload = Json(R"({"status": "completed"})");
  const auto ingest_one = [&](const EventEnvelope& event) {
    return this->Run(ingest.IngestEvents(std::span<const EventEnvelope>(&event, 1), this->now()));
  };
  ASSERT_THAT(ingest_one(new_event), IsOk());
  this->Advance(absl::Minutes(1));
  ASSERT_THAT(ingest_one(old_event), IsOk());
  const std::string id = TaskDocumentId({"a", "t1"});
  const auto before = this->Run(parts.documents.GetTaskDocument(id)).value().value();
  EXPECT_EQ(before.status, "running") << "as documented: E5";
  EXPECT_THAT(ingest_one(old_event), IsOk());
  EXPECT_EQ(this->Run(parts.documents.GetTaskDocument(id)).value().value().status, "running");
  EXPECT_THAT(ingest_one(new_event), IsOk());
  const auto after = this->Run(parts.documents.GetTaskDocument(id)).value().value();
  EXPECT_EQ(after.status, "completed");
  EXPECT_EQ(after.expires_at, before.expires_at) << "it does not go back";
  EXPECT_THAT(ingest_one(old_event), IsOk());
  EXPECT_EQ(this->Run(parts.documents.GetTaskDocument(id)).value().value().status, "completed");
}

// The service is deleted before each request of the ingest in turn.
TYPED_TEST(IngestServiceTest, IndexesNothingOfADeletedServiceWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  const EventEnvelope event = Event("e1", "2026-05-09T14:00:00Z");
  bool deleted = true;
  for (size_t steps = 0; deleted; ++steps) {
    ASSERT_LT(steps, 30u);
    this->Ask({"FLUSHALL"});
    this->Register("a", "http://a.test");
    deleted = false;
    tests::InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index != steps) return std::nullopt;
      deleted = true;
      typename TestFixture::Parts others(this->store());
      Registry registry(others.records,
                        {.policy = OutboundPolicy::Create().value(), .indexer = &others.index});
      EXPECT_THAT(this->Run(registry.DeleteService("a")), IsOk());
      return std::nullopt;
    };
    typename TestFixture::Parts parts(store);
    SearchStore documents(store, {.hardening = {.registered_services_only = true}});
    SearchIndex index(documents, {});
    IngestService ingest(parts.registry, parts.events, &index);
    ASSERT_THAT(
        this->Run(ingest.IngestEvents(std::span<const EventEnvelope>(&event, 1), this->now())),
        IsOk());
    const std::vector<std::string> tasks = this->Run(documents.TaskIds()).value();
    EXPECT_EQ(tasks.size(), deleted ? 0u : 1u) << steps;
  }
}

// From tests/data/golden/relayna/studio_events_ingest_service.json.
TYPED_TEST(IngestServiceTest, CountsInsertedDuplicateAndInvalidEvents) {
  this->Register("a", "http://a.test");
  EventEnvelope foreign = Event("e1", "2026-01-01T10:00:00Z");
  foreign.service_id = "nobody";
  const auto report =
      this->Ingest({Event("e1", "2026-01-01T10:00:01Z"), foreign,
                    Event("e1", "2026-01-01T10:00:09Z"), Event("e2", "2026-01-01T10:00:02Z")});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(*report, (IngestReport{.inserted = 2, .duplicate = 1, .invalid = 1}));
  EXPECT_THAT(this->Ingest({}), IsOkAndHolds(IngestReport()));
}

TYPED_TEST(IngestServiceTest, IndexesNewEventsOnly) {
  this->Register("a", "http://a.test");
  ASSERT_THAT(this->Ingest({Event("e1", "2026-01-01T10:00:01Z")}), IsOk());
  const std::string id = TaskDocumentId({"a", "t1"});
  ASSERT_TRUE(this->Exists("studio:search:task:doc:" + id));
  this->Ask({"DEL", "studio:search:task:doc:" + id});
  EXPECT_EQ(this->Ingest({Event("e1", "2026-01-01T10:00:01Z")}).value().duplicate, 1);
  EXPECT_FALSE(this->Exists("studio:search:task:doc:" + id)) << "E3";
}

TYPED_TEST(IngestServiceTest, WorksWithoutAnIndex) {
  this->Register("a", "http://a.test");
  typename TestFixture::Parts parts(this->store(), /*with_index=*/false);
  const std::vector<EventEnvelope> envelopes = {Event("e1", "2026-01-01T10:00:01Z")};
  EXPECT_EQ(this->Run(parts.ingest.IngestEvents(envelopes, this->now())).value().inserted, 1);
  EXPECT_THAT(this->Members("studio:search:task:all"), IsEmpty());
}

TYPED_TEST(IngestServiceTest, EndsAtTheFirstErrorWithWhatCameBeforeIt) {
  this->Register("a", "http://a.test");
  EventEnvelope bad = Event("e2", "2026-01-01T10:00:02Z");
  bad.event.component = "\xff";
  EXPECT_THAT(
      this->Ingest({Event("e1", "2026-01-01T10:00:01Z"), bad, Event("e3", "2026-01-01T10:00:03Z")}),
      Not(IsOk()));
  EXPECT_THAT(this->StoredIds(), ElementsAre("e1"));
  this->Ask({"SET", "studio:services:by-id:a", "{bad"});
  EXPECT_EQ(ErrorOf(this->Ingest({Event("e4", "2026-01-01T10:00:04Z")}).status()),
            "ValidationError");
}

TYPED_TEST(IngestServiceTest, FailsForAStatusThatIsNoText) {
  this->Register("a", "http://a.test");
  EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
  envelope.event.payload = Json(R"({"status": ["running"]})");
  EXPECT_THAT(this->Ingest({envelope}), Not(IsOk())) << "it is stored but not indexed (E3)";
  EXPECT_EQ(this->Ingest({envelope}).value().duplicate, 1);
}

TYPED_TEST(IngestServiceTest, ListsTheEventsOfRegisteredServicesOnly) {
  this->Register("a", "http://a.test");
  ASSERT_THAT(this->Ingest({Event("e1", "2026-01-01T10:00:01Z")}), IsOk());
  typename TestFixture::Parts parts(this->store());
  EXPECT_EQ(this->Run(parts.ingest.ListServiceEvents("a", {}, {})).value().items.size(), 1u);
  EXPECT_EQ(this->Run(parts.ingest.ListTaskEvents({"a", "t1"}, {})).value().items.size(), 1u);
  EXPECT_EQ(ErrorOf(this->Run(parts.ingest.ListServiceEvents("b", {}, {})).status()),
            "ServiceNotFoundError");
  EXPECT_EQ(ErrorOf(this->Run(parts.ingest.ListTaskEvents({"b", "t1"}, {})).status()),
            "ServiceNotFoundError");
}

TYPED_TEST(IngestServiceTest, PassesEveryFailureOn) {
  const auto setup = [&] { this->Register("a", "http://a.test"); };
  const std::vector<EventEnvelope> envelopes = {Event("e1", "2026-01-01T10:00:01Z")};
  const size_t requests = this->ExpectFailuresPassedOn(setup, [&](store::Store& store) {
    typename TestFixture::Parts parts(store);
    return this->Run(parts.ingest.IngestEvents(envelopes, this->now())).status();
  });
  EXPECT_EQ(requests, 14u) << "registry, five of the event, eight of the document";
}

TYPED_TEST(IngestServiceTest, PullsPageByPageDownToWhatItHasSeen) {
  this->Register("a", "http://a.test");
  this->Feed("321");
  ASSERT_THAT(this->Sync(), IsOk());
  EXPECT_THAT(this->feed_.asked, ElementsAre("-", "e2"));
  EXPECT_THAT(this->StoredIds(), ElementsAre("e3", "e2", "e1"));
  EXPECT_EQ(this->Cursor(), "e3");
  this->Feed("54321");
  ASSERT_THAT(this->Sync(), IsOk());
  EXPECT_THAT(this->feed_.asked, ElementsAre("-", "e4")) << "the second page meets e3";
  EXPECT_EQ(this->Cursor(), "e5");
  this->Feed("54321");
  ASSERT_THAT(this->Sync({.page_limit = 7}), IsOk());
  EXPECT_THAT(this->feed_.asked, ElementsAre("-"));
  EXPECT_EQ(this->feed_.limits.back(), 7);
}

// E7.
TYPED_TEST(IngestServiceTest, LeavesAGapAfterABacklogOfTooManyPages) {
  this->Register("a", "http://a.test");
  this->Feed("1");
  ASSERT_THAT(this->Sync(), IsOk());
  this->Feed("987654321");
  ASSERT_THAT(this->Sync({.max_pages = 2}), IsOk());
  EXPECT_THAT(this->StoredIds(), ElementsAre("e9", "e8", "e7", "e6", "e1"));
  EXPECT_EQ(this->Cursor(), "e9");
  this->Feed("987654321");
  ASSERT_THAT(this->Sync({.max_pages = 2}), IsOk());
  EXPECT_THAT(this->StoredIds(), ElementsAre("e9", "e8", "e7", "e6", "e1")) << "the gap stays";
}

TYPED_TEST(IngestServiceTest, LeavesTheCursorOfAFeedThatIsEmptyOrFails) {
  this->Register("a", "http://a.test");
  this->Feed("321");
  ASSERT_THAT(this->Sync(), IsOk());
  this->Feed("");
  EXPECT_THAT(this->Sync(), IsOk());
  EXPECT_EQ(this->Cursor(), "e3");
  this->Feed("987654321");
  this->feed_.failing_after = "e8";
  EXPECT_THAT(this->Sync(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(this->Cursor(), "e3") << "although e9 and e8 are inserted";
  this->feed_.failing_after.reset();
  EXPECT_THAT(this->Sync(), IsOk());
  EXPECT_EQ(this->StoredIds().size(), 9u);
}

// E5: of the events of one task on a page, the oldest is indexed last.
TYPED_TEST(IngestServiceTest, LeavesATaskWithTheOldestStatusOfItsPage) {
  this->Register("a", "http://a.test");
  this->Feed("21");
  auto& events = this->feed_.feeds["http://a.test"];
  events[0].payload = Json(R"({"status": "completed"})");
  ASSERT_THAT(this->Sync(), IsOk());
  typename TestFixture::Parts parts(this->store());
  ASSERT_OK_AND_ASSIGN(const auto document,
                       this->Run(parts.documents.GetTaskDocument(TaskDocumentId({"a", "t1"}))));
  EXPECT_EQ(document->status, "running");
  EXPECT_EQ(document->latest_event_at, "2026-01-01T10:00:02Z");
}

// E4.
TYPED_TEST(IngestServiceTest, TrimsTheNewestOfAPageThatIsLongerThanTheLists) {
  this->Register("a", "http://a.test");
  this->Feed("321");
  this->feed_.page_size = 3;
  typename TestFixture::Parts parts(this->store());
  EventStore events(this->store(), this->Options(EventStoreOptions{.history_maxlen = 2}));
  IngestService ingest(parts.registry, events, nullptr);
  PullSync sync(ingest, events, this->feed_, {});
  const base::VirtualClock clock(this->now());
  ASSERT_THAT(this->Run(sync.SyncService(Service("a", "http://a.test"), clock)), IsOk());
  EXPECT_THAT(this->StoredIds(), ElementsAre("e2", "e1"));
}

TYPED_TEST(IngestServiceTest, SyncsHealthyServicesThatOfferTheirFeed) {
  this->Register("a", "http://a.test");
  this->Register("b", "http://b.test", /*pulled=*/false);
  this->Register("c", "http://c.test");
  ServiceRecord legacy = Service("d", "http://d.test");
  legacy.status = ServiceStatus::kHealthy;
  legacy.capabilities = LegacyCapabilityDocument();
  ServiceRecord without = Service("e", "http://e.test");
  without.status = ServiceStatus::kHealthy;
  typename TestFixture::Parts parts(this->store());
  ASSERT_THAT(this->Run(parts.records.Create(legacy)), IsOk());
  ASSERT_THAT(this->Run(parts.records.Create(without)), IsOk());
  this->Feed("1");
  PullSync sync(parts.ingest, parts.events, this->feed_, {});
  const base::VirtualClock clock(this->now());
  const auto round = this->Run(sync.SyncAll(clock));
  ASSERT_THAT(round, IsOk());
  EXPECT_THAT(round->synced, ElementsAre("a"));
  ASSERT_EQ(round->failed.size(), 1u);
  EXPECT_EQ(round->failed[0].first, "c") << "an error of one feed does not end the round";
  this->Ask({"SET", "studio:services:by-id:b", "{"});
  EXPECT_EQ(ErrorOf(this->Run(sync.SyncAll(clock)).status()), "ValidationError");
}

TYPED_TEST(IngestServiceTest, PassesTheFailuresOfAPullOn) {
  const size_t requests = this->ExpectFailuresPassedOn(
      [&] { this->Register("a", "http://a.test"); },
      [&](store::Store& store) {
        this->Feed("1");
        typename TestFixture::Parts parts(store);
        PullSync sync(parts.ingest, parts.events, this->feed_, {});
        const base::VirtualClock clock(this->now());
        return this->Run(sync.SyncService(Service("a", "http://a.test"), clock));
      });
  EXPECT_EQ(requests, 16u);
}

struct BadPage {
  const char* why;
  const char* json;
};

TEST(FeedPage, IsReadFromAFeedsResponse) {
  const auto page =
      ParseFeedPage(R"({"count": 1, "items": [{"cursor": "c", "task_id": "t", "event_type": "x",)"
                    R"( "source_kind": "observation", "payload": {"a": 1}}], "next_cursor": "c"})");
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->items.size(), 1u);
  EXPECT_EQ(page->items[0].source_kind, SourceKind::kObservation);
  EXPECT_EQ(page->next_cursor, "c");
  EXPECT_TRUE(ParseFeedPage("{}").value().items.empty());
  EXPECT_EQ(ParseFeedPage(R"({"items": [], "next_cursor": null})").value().next_cursor,
            std::nullopt);
}

TEST(FeedPage, RejectsInvalidText) {
  const BadPage pages[] = {
      {"no JSON", "<html>"},
      {"nothing", ""},
      {"no object", "[]"},
      {"items that are no list", R"({"items": {}})"},
      {"an invalid item", R"({"items": [1]})"},
      {"an item without a task",
       R"({"items": [{"cursor": "c", "event_type": "x", "source_kind": "status"}]})"},
      {"a cursor that is no text", R"({"items": [], "next_cursor": 7})"},
  };
  for (const BadPage& bad : pages) {
    EXPECT_EQ(ErrorOf(ParseFeedPage(bad.json).status()), "ValidationError") << bad.why;
  }
}

// A record can hold a URL that the outbound policy refuses: another program, or another policy,
// wrote it.
TYPED_TEST(IngestServiceTest, DoesNotPullFromAUrlOutsideThePolicy) {
  this->Register("a", "http://169.254.169.254");
  this->feed_.feeds["http://169.254.169.254"] = {};
  SyncRound round;
  ASSERT_THAT(this->SyncAll(round), IsOk());
  EXPECT_THAT(round.synced, IsEmpty());
  ASSERT_EQ(round.failed.size(), 1u);
  EXPECT_EQ(ErrorOf(round.failed[0].second), "RuntimeError");
  EXPECT_EQ(round.failed[0].second.message(),
            "Service 'a' base_url 'http://169.254.169.254' is not in the trusted host/network "
            "allowlist.");
  EXPECT_THAT(this->feed_.asked, IsEmpty());
}

// A list that is null is not an empty one.
TEST(ParseFeedPage, RefusesItemsThatAreNull) {
  EXPECT_EQ(ErrorOf(ParseFeedPage(R"({"items": null})").status()), "ValidationError");
  EXPECT_TRUE(ParseFeedPage("{}").value().items.empty());
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
