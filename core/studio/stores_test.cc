// Studio's stores and services, on the engine and on Redis.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/python/error.h"
#include "core/python/json.h"
#include "core/store/errors.h"
#include "core/studio/event_store.h"
#include "core/studio/health_service.h"
#include "core/studio/ingest_service.h"
#include "core/studio/loops.h"
#include "core/studio/registry.h"
#include "core/studio/search_index.h"
#include "tests/support/studio_test.h"

namespace redouble::studio {
namespace {

// A feed that always fails, or always gives one page.
class OnePage final : public FeedSource {
 public:
  base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view, FeedRequest) override {
    co_return page;
  }
  absl::StatusOr<FeedPage> page = absl::UnavailableError("no feed");
};

template <typename Backend>
class StudioTest : public tests::BackendTest<Backend> {
 protected:
  std::vector<std::string> Ids(const EventPage& page) {
    std::vector<std::string> ids;
    for (const ControlPlaneEvent& event : page.items) ids.push_back(*event.event.event_id);
    return ids;
  }
  RegistryOptions NoPolicyQuestions() { return {.policy = *OutboundPolicy::Create()}; }
};

TYPED_TEST_SUITE(StudioTest, tests::Backends, tests::BackendNames);

TYPED_TEST(StudioTest, LeavesTheSameRegistryWithAndWithoutHardening) {
  for (const bool hardened : {false, true}) {
    RegistryStore registry(this->store(), {.hardening = {.atomic_registry = hardened}});
    EXPECT_TRUE(this->Run(registry.Create(Service("a", "http://a.test"))).ok());
    EXPECT_TRUE(absl::IsAlreadyExists(this->Run(registry.Create(Service("a", "http://b.test")))));
    EXPECT_TRUE(absl::IsAlreadyExists(this->Run(registry.Create(Service("b", "http://a.test")))));
    EXPECT_TRUE(this->Run(registry.Create(Service("b", "http://b.test"))).ok());
    EXPECT_TRUE(absl::IsAlreadyExists(this->Run(registry.Update(Service("b", "http://a.test")))));
    EXPECT_TRUE(this->Run(registry.Update(Service("b", "http://c.test"))).ok());
    EXPECT_EQ(this->Value("studio:services:by-env-url:prod:http://c.test"), "b");
    EXPECT_EQ(this->KeyCount(), 5);
    EXPECT_EQ(this->Run(registry.List())->size(), 2u);
    EXPECT_TRUE(absl::IsNotFound(this->Run(registry.Update(Service("c", "http://d.test")))));
    EXPECT_TRUE(absl::IsNotFound(this->Run(registry.Delete("c"))));
    EXPECT_TRUE(this->Run(registry.Delete("a")).ok());
    EXPECT_TRUE(this->Run(registry.Delete("b")).ok());
    EXPECT_EQ(this->KeyCount(), 0) << "hardened: " << hardened;
  }
}

TYPED_TEST(StudioTest, FailsOnARecordThatIsNoneAndOnAKeyOfAnotherType) {
  RegistryStore registry(this->store());
  this->Ask({"SADD", "studio:services:all", "a"});
  EXPECT_TRUE(this->Run(registry.List())->empty()) << "an id without a record is skipped";
  this->Ask({"SET", "studio:services:by-id:a", "{bad"});
  EXPECT_EQ(python::ErrorType(this->Run(registry.Get("a")).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Run(registry.List()).status()), "ValidationError");
  this->Ask({"DEL", "studio:services:all"});
  this->Ask({"SET", "studio:services:all", "x"});
  const absl::Status created = this->Run(registry.Create(Service("b", "http://b.test")));
  EXPECT_EQ(store::ServerErrorCode(created), "WRONGTYPE");
  EXPECT_EQ(this->Value("studio:services:by-id:b"), "nil") << "taken back";
  EXPECT_EQ(this->Value("studio:services:by-env-url:prod:http://b.test"), "nil");
}

TYPED_TEST(StudioTest, LeavesTheSameEventsWithAndWithoutHardening) {
  for (const bool hardened : {false, true}) {
    EventStore events(this->store(), {.hardening = {.atomic_event_insert = hardened}});
    const auto insert = [&](const char* id, const char* timestamp) {
      const EventEnvelope envelope = Event(id, timestamp);
      return *this->Run(events.InsertEvent(envelope, this->now()));
    };
    EXPECT_TRUE(insert("e1", "2026-01-01T10:00:01Z"));
    EXPECT_TRUE(insert("e3", "2026-01-01T10:00:03Z"));
    EXPECT_TRUE(insert("e2", "2026-01-01T10:00:02Z"));
    EXPECT_FALSE(insert("e2", "2026-01-01T10:00:09Z"));
    EXPECT_TRUE(insert("bad", "yesterday"));
    EXPECT_EQ(this->Value("studio:events:task:a:t1:latest-timestamp"), "2026-01-01T10:00:03Z");
    const EventPage page = *this->Run(events.ListTaskEvents({"a", "t1"}, {.limit = 2}));
    EXPECT_EQ(this->Ids(page), (std::vector<std::string>{"e3", "e2"}));
    EXPECT_TRUE(page.items[1].out_of_order);
    const EventPage rest =
        *this->Run(events.ListTaskEvents({"a", "t1"}, {.before = page.next_cursor}));
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
                      {.ttl_seconds = -1, .hardening = {.atomic_event_insert = hardened}});
    const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
    EXPECT_FALSE(this->Run(events.InsertEvent(envelope, this->now())).ok());
    EXPECT_EQ(this->KeyCount(), 0);
  }
}

// E2 by an error: the document is there, no list names it, and it is a duplicate from then on.
TYPED_TEST(StudioTest, LosesAnEventWhoseTransactionFails) {
  EventStore events(this->store());
  this->Ask({"SET", "studio:events:service:a:history", "x"});
  const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
  const absl::Status failed = this->Run(events.InsertEvent(envelope, this->now())).status();
  EXPECT_EQ(store::ServerErrorCode(failed), "WRONGTYPE");
  EXPECT_FALSE(*this->Run(events.InsertEvent(envelope, this->now())));
}

TYPED_TEST(StudioTest, FiltersEventsByTimeKindAndType) {
  EventStore events(this->store());
  for (const char* id : {"1", "2", "3"}) {
    EventEnvelope envelope = Event(id, std::string("2026-01-01T10:00:0") + id + "Z");
    envelope.event.source_kind = *id == '2' ? SourceKind::kObservation : SourceKind::kStatus;
    EXPECT_TRUE(*this->Run(events.InsertEvent(envelope, this->now())));
  }
  EventFilter filter;
  filter.from = *base::ParseRfc3339("2026-01-01T10:00:02Z");
  EXPECT_EQ(this->Ids(*this->Run(events.ListServiceEvents("a", filter))),
            (std::vector<std::string>{"3", "2"}));
  filter.source_kind = SourceKind::kStatus;
  EXPECT_EQ(this->Ids(*this->Run(events.ListServiceEvents("a", filter))),
            (std::vector<std::string>{"3"}));
  filter.to = *base::ParseRfc3339("2026-01-01T10:00:02.999999Z");
  EXPECT_TRUE(this->Run(events.ListServiceEvents("a", filter))->items.empty());
}

TYPED_TEST(StudioTest, KeepsThePullCursorOfAFeedThatFails) {
  RegistryStore records(this->store());
  Registry registry(records, this->NoPolicyQuestions());
  EventStore events(this->store());
  SearchStore documents(this->store());
  SearchIndex index(documents, {});
  IngestService ingest(registry, events, &index);
  OnePage feed;
  PullSync sync(ingest, events, feed, {});
  base::VirtualClock clock(this->now());
  const ServiceRecord service = Service("a", "http://a.test");
  EXPECT_TRUE(this->Run(records.Create(service)).ok());
  EXPECT_TRUE(this->Run(events.SetPullCursor("a", "old")).ok());
  EXPECT_FALSE(this->Run(sync.SyncService(service, clock)).ok());
  feed.page = FeedPage();
  EXPECT_TRUE(this->Run(sync.SyncService(service, clock)).ok());
  EXPECT_EQ(*this->Run(events.GetPullCursor("a")), "old");
  feed.page->items = {Event("e1", "2026-01-01T10:00:01Z").event};
  EXPECT_TRUE(this->Run(sync.SyncService(service, clock)).ok());
  EXPECT_EQ(*this->Run(events.GetPullCursor("a")), "e1");
  const std::vector<EventEnvelope> again = {Event("e1", "2026-01-01T10:00:01Z")};
  EXPECT_EQ(this->Run(ingest.IngestEvents(again, this->now()))->duplicate, 1);
  EXPECT_EQ(this->Run(index.SearchTasks({.status = "running"}, this->now()))->items.size(), 1u);
}

// L1: the loop of retention ends at the first document that is none.
TYPED_TEST(StudioTest, EndsTheRetentionLoopAtACorruptDocument) {
  SearchStore documents(this->store());
  SearchIndex index(documents, {});
  base::VirtualClock clock(this->now());
  this->Ask({"SADD", "studio:search:task:all", "gone", "x"});
  this->Ask({"SET", "studio:search:task:doc:x", "{bad"});
  RetentionLoop off(index, clock, std::nullopt);
  EXPECT_TRUE(this->Run(off.Run()).ok());
  RetentionLoop loop(index, clock, kDefaultRetentionInterval);
  EXPECT_EQ(python::ErrorType(this->Run(loop.Run())), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Run(documents.GetTaskDocument("x")).status()),
            "ValidationError");
  EXPECT_EQ(this->Ask({"SMEMBERS", "studio:search:task:all"}).elements().size(), 1u)
      << "the id without a document was forgotten before";
}

TYPED_TEST(StudioTest, FillsAnEmptyIndexFromTheEventsThatAreThere) {
  RegistryStore records(this->store());
  EventStore events(this->store());
  SearchStore documents(this->store());
  SearchIndex index(documents, {});
  EXPECT_TRUE(this->Run(records.Create(Service("a", "http://a.test"))).ok());
  const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:01Z");
  EXPECT_TRUE(*this->Run(events.InsertEvent(envelope, this->now())));
  EXPECT_TRUE(this->Run(index.Initialize(records, events, this->now())).ok());
  const TaskPage page = *this->Run(index.SearchTasks({.service_id = "a"}, this->now()));
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].last_seen_at, "2026-01-01T10:00:01Z");
  EXPECT_EQ(this->Run(index.SearchServices({.query = "a"}))->items.size(), 1u);
}

TYPED_TEST(StudioTest, TakesAHealthDocumentThatIsNoneForNone) {
  HealthStore health(this->store());
  this->Ask({"SET", "studio:health:a", R"({"service_id":"a","registry_status":"lost"})"});
  EXPECT_EQ(*this->Run(health.GetHealth("a")), std::nullopt);
  HealthDocument document;
  document.service_id = "a";
  EXPECT_TRUE(this->Run(health.SetHealth("a", document)).ok());
  EXPECT_EQ(*this->Run(health.GetHealth("a")), document);
  EXPECT_EQ(this->Ttl("studio:health:a"), -1);
  this->Ask({"DEL", "studio:health:a"});
  this->Ask({"SADD", "studio:health:a", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->Run(health.GetHealth("a")).status()), "WRONGTYPE");
}

}  // namespace
}  // namespace redouble::studio
