// Studio's stores and services together, on the engine and on live Redis.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/health/health_service.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/ingest/loops.h"
#include "redouble/core/studio/registry/registry.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::Eq;
using ::testing::Not;

// A feed that always fails, or always returns one page.
class OnePage final : public FeedSource {
 public:
  base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view, FeedRequest) override {
    co_return page;
  }
  absl::StatusOr<FeedPage> page = absl::UnavailableError("no feed");
};

template <typename Backend>
class StudioTest : public StudioBackendTest<Backend> {
 protected:
  std::vector<std::string> Ids(const EventPage& page) {
    std::vector<std::string> ids;
    for (const ControlPlaneEvent& event : page.items) ids.push_back(*event.event.event_id);
    return ids;
  }
  RegistryOptions NoPolicyQuestions() { return {.policy = OutboundPolicy::Create().value()}; }
};

TYPED_TEST_SUITE(StudioTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(StudioTest, LeavesTheSameRegistryWithAndWithoutHardening) {
  for (const bool hardened : {false, true}) {
    RegistryStore registry(
        this->store(),
        this->Options(RegistryStoreOptions{.hardening = {.atomic_registry = hardened}}));
    EXPECT_THAT(this->Run(registry.Create(Service("a", "http://a.test"))), IsOk());
    EXPECT_THAT(this->Run(registry.Create(Service("a", "http://b.test"))),
                StatusIs(absl::StatusCode::kAlreadyExists));
    EXPECT_THAT(this->Run(registry.Create(Service("b", "http://a.test"))),
                StatusIs(absl::StatusCode::kAlreadyExists));
    EXPECT_THAT(this->Run(registry.Create(Service("b", "http://b.test"))), IsOk());
    EXPECT_THAT(this->Run(registry.Update(Service("b", "http://a.test"))),
                StatusIs(absl::StatusCode::kAlreadyExists));
    EXPECT_THAT(this->Run(registry.Update(Service("b", "http://c.test"))), IsOk());
    EXPECT_EQ(this->Value("studio:services:by-env-url:prod:http://c.test"), "b");
    EXPECT_EQ(this->KeyCount(), 5);
    EXPECT_EQ(this->Run(registry.List()).value().size(), 2u);
    EXPECT_THAT(this->Run(registry.Update(Service("c", "http://d.test"))),
                StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(this->Run(registry.Delete("c")), StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(this->Run(registry.Delete("a")), IsOk());
    EXPECT_THAT(this->Run(registry.Delete("b")), IsOk());
    EXPECT_EQ(this->KeyCount(), 0) << "hardened: " << hardened;
  }
}

TYPED_TEST(StudioTest, FailsOnAnInvalidRecordAndOnAKeyOfTheWrongType) {
  RegistryStore registry(this->store(), this->Options(RegistryStoreOptions()));
  this->Ask({"SADD", "studio:services:all", "a"});
  EXPECT_TRUE(this->Run(registry.List()).value().empty()) << "an id without a record is skipped";
  this->Ask({"SET", "studio:services:by-id:a", "{bad"});
  EXPECT_EQ(python::ErrorType(this->Run(registry.Get("a")).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Run(registry.List()).status()), "ValidationError");
  this->Ask({"DEL", "studio:services:all"});
  this->Ask({"SET", "studio:services:all", "x"});
  const absl::Status created = this->Run(registry.Create(Service("b", "http://b.test")));
  EXPECT_EQ(store::ServerErrorCode(created), "WRONGTYPE");
  EXPECT_EQ(this->Value("studio:services:by-id:b"), "nil") << "rolled back";
  EXPECT_EQ(this->Value("studio:services:by-env-url:prod:http://b.test"), "nil");
}

TYPED_TEST(StudioTest, LeavesTheSameEventsWithAndWithoutHardening) {
  for (const bool hardened : {false, true}) {
    EventStore events(
        this->store(),
        this->Options(EventStoreOptions{.hardening = {.atomic_event_insert = hardened}}));
    const auto insert = [&](const char* id, const char* timestamp) {
      const EventEnvelope envelope = Event(id, timestamp);
      return this->Run(events.InsertEvent(envelope, this->now())).value();
    };
    EXPECT_TRUE(insert("e1", "2026-01-01T10:00:01Z"));
    EXPECT_TRUE(insert("e3", "2026-01-01T10:00:03Z"));
    EXPECT_TRUE(insert("e2", "2026-01-01T10:00:02Z"));
    EXPECT_FALSE(insert("e2", "2026-01-01T10:00:09Z"));
    EXPECT_TRUE(insert("bad", "yesterday"));
    EXPECT_EQ(this->Value("studio:events:task:a:t1:latest-timestamp"), "2026-01-01T10:00:03Z");
    ASSERT_OK_AND_ASSIGN(const EventPage page,
                         this->Run(events.ListTaskEvents({"a", "t1"}, {.limit = 2})));
    EXPECT_EQ(this->Ids(page), (std::vector<std::string>{"e3", "e2"}));
    EXPECT_TRUE(page.items[1].out_of_order);
    const EventPage rest =
        this->Run(events.ListTaskEvents({"a", "t1"}, {.before = page.next_cursor})).value();
    EXPECT_EQ(this->Ids(rest), (std::vector<std::string>{"e1", "bad"}));
    EXPECT_EQ(rest.next_cursor, std::nullopt);
    EXPECT_EQ(this->Ttl("studio:events:service:a:history"), 86400);
    EXPECT_EQ(this->Ttl("studio:events:event:a:status:e1"), 86400);
    EXPECT_EQ(this->KeyCount(), 9) << "hardened: " << hardened;
    this->Ask({"FLUSHDB"});
  }
}

TYPED_TEST(StudioTest, RefusesATtlThatRedisRefusesAndWritesNothing) {
  for (const bool hardened : {false, true}) {
    EventStore events(this->store(),
                      this->Options(EventStoreOptions{
                          .ttl_seconds = -1, .hardening = {.atomic_event_insert = hardened}}));
    const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
    EXPECT_THAT(this->Run(events.InsertEvent(envelope, this->now())), Not(IsOk()));
    EXPECT_EQ(this->KeyCount(), 0);
  }
}

// E2 caused by an error: the document exists, no list names it, and every retry is a duplicate.
TYPED_TEST(StudioTest, LosesAnEventWhoseTransactionFails) {
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  this->Ask({"SET", "studio:events:service:a:history", "x"});
  const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
  const absl::Status failed = this->Run(events.InsertEvent(envelope, this->now())).status();
  EXPECT_EQ(store::ServerErrorCode(failed), "WRONGTYPE");
  EXPECT_THAT(this->Run(events.InsertEvent(envelope, this->now())), IsOkAndHolds(false));
}

TYPED_TEST(StudioTest, FiltersEventsByTimeKindAndType) {
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  for (const char* id : {"1", "2", "3"}) {
    EventEnvelope envelope = Event(id, std::string("2026-01-01T10:00:0") + id + "Z");
    envelope.event.source_kind = *id == '2' ? SourceKind::kObservation : SourceKind::kStatus;
    EXPECT_THAT(this->Run(events.InsertEvent(envelope, this->now())), IsOkAndHolds(true));
  }
  EventFilter filter;
  filter.from = base::ParseRfc3339("2026-01-01T10:00:02Z").value();
  EXPECT_EQ(this->Ids(this->Run(events.ListServiceEvents("a", filter)).value()),
            (std::vector<std::string>{"3", "2"}));
  filter.source_kind = SourceKind::kStatus;
  EXPECT_EQ(this->Ids(this->Run(events.ListServiceEvents("a", filter)).value()),
            (std::vector<std::string>{"3"}));
  filter.to = base::ParseRfc3339("2026-01-01T10:00:02.999999Z").value();
  EXPECT_TRUE(this->Run(events.ListServiceEvents("a", filter)).value().items.empty());
}

TYPED_TEST(StudioTest, KeepsThePullCursorOfAFeedThatFails) {
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  Registry registry(records, this->NoPolicyQuestions());
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  SearchStore documents(this->store(), this->Options(SearchStoreOptions()));
  SearchIndex index(documents, {});
  IngestService ingest(registry, events, &index);
  OnePage feed;
  PullSync sync(ingest, events, feed, {});
  base::VirtualClock clock(this->now());
  const ServiceRecord service = Service("a", "http://a.test");
  EXPECT_THAT(this->Run(records.Create(service)), IsOk());
  EXPECT_THAT(this->Run(events.SetPullCursor("a", "old")), IsOk());
  EXPECT_THAT(this->Run(sync.SyncService(service, clock)), Not(IsOk()));
  feed.page = FeedPage();
  EXPECT_THAT(this->Run(sync.SyncService(service, clock)), IsOk());
  EXPECT_THAT(this->Run(events.GetPullCursor("a")), IsOkAndHolds("old"));
  feed.page->items = {Event("e1", "2026-01-01T10:00:01Z").event};
  EXPECT_THAT(this->Run(sync.SyncService(service, clock)), IsOk());
  EXPECT_THAT(this->Run(events.GetPullCursor("a")), IsOkAndHolds("e1"));
  const std::vector<EventEnvelope> again = {Event("e1", "2026-01-01T10:00:01Z")};
  EXPECT_EQ(this->Run(ingest.IngestEvents(again, this->now())).value().duplicate, 1);
  EXPECT_EQ(this->Run(index.SearchTasks({.status = "running"}, this->now())).value().items.size(),
            1u);
}

// L1: an invalid document ends the retention loop.
TYPED_TEST(StudioTest, EndsTheRetentionLoopAtACorruptDocument) {
  SearchStore documents(this->store(), this->Options(SearchStoreOptions()));
  SearchIndex index(documents, {});
  base::VirtualClock clock(this->now());
  this->Ask({"SADD", "studio:search:task:all", "gone", "x"});
  this->Ask({"SET", "studio:search:task:doc:x", "{bad"});
  RetentionLoop off(index, clock, std::nullopt);
  EXPECT_THAT(this->Run(off.Run()), IsOk());
  RetentionLoop loop(index, clock, kDefaultRetentionInterval);
  EXPECT_EQ(python::ErrorType(this->Run(loop.Run())), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Run(documents.GetTaskDocument("x")).status()),
            "ValidationError");
  EXPECT_EQ(this->Ask({"SMEMBERS", "studio:search:task:all"}).elements().size(), 1u)
      << "the id without a document was removed before";
}

TYPED_TEST(StudioTest, FillsAnEmptyIndexFromTheEventsThatAreThere) {
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  SearchStore documents(this->store(), this->Options(SearchStoreOptions()));
  SearchIndex index(documents, {});
  EXPECT_THAT(this->Run(records.Create(Service("a", "http://a.test"))), IsOk());
  const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
  EXPECT_THAT(this->Run(events.InsertEvent(envelope, this->now())), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(index.Initialize(records, events, this->now())), IsOk());
  ASSERT_OK_AND_ASSIGN(const TaskPage page,
                       this->Run(index.SearchTasks({.service_id = "a"}, this->now())));
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].last_seen_at, "2026-01-01T10:00:01Z");
  EXPECT_EQ(this->Run(index.SearchServices({.query = "a"})).value().items.size(), 1u);
}

TYPED_TEST(StudioTest, ReadsAnInvalidHealthDocumentAsMissing) {
  HealthStore health(this->store());
  this->Ask({"SET", "studio:health:a", R"({"service_id":"a","registry_status":"lost"})"});
  EXPECT_THAT(this->Run(health.GetHealth("a")), IsOkAndHolds(Eq(std::nullopt)));
  HealthDocument document;
  document.service_id = "a";
  EXPECT_THAT(this->Run(health.SetHealth("a", document)), IsOk());
  EXPECT_THAT(this->Run(health.GetHealth("a")), IsOkAndHolds(document));
  EXPECT_EQ(this->Ttl("studio:health:a"), -1);
  this->Ask({"DEL", "studio:health:a"});
  this->Ask({"SADD", "studio:health:a", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->Run(health.GetHealth("a")).status()), "WRONGTYPE");
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
