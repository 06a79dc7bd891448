#include "redouble/core/studio/events/event_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kServiceHistory = "studio:events:service:a:history";
constexpr std::string_view kTaskHistory = "studio:events:task:a:t1:history";
constexpr std::string_view kTaskLatest = "studio:events:task:a:t1:latest-timestamp";
constexpr std::string_view kStatusLatest = "studio:events:service:a:latest-status-timestamp";

template <typename Backend>
class EventStoreTest : public StudioBackendTest<Backend> {
 protected:
  absl::StatusOr<bool> TryInsert(const EventEnvelope& envelope, EventStoreOptions options = {}) {
    EventStore events(this->store(), this->Options(std::move(options)));
    return this->Run(events.InsertEvent(envelope, this->now()));
  }
  bool Insert(const EventEnvelope& envelope, EventStoreOptions options = {}) {
    const absl::StatusOr<bool> inserted = TryInsert(envelope, std::move(options));
    EXPECT_THAT(inserted, IsOk());
    return inserted.value_or(false);
  }
  bool Insert(const std::string& id, const std::string& timestamp) {
    return Insert(Event(id, timestamp));
  }
  EventPage ListService(EventFilter filter = {}, EventPageRequest page = {}) {
    EventStore events(this->store(), this->Options(EventStoreOptions()));
    return this->Run(events.ListServiceEvents("a", std::move(filter), std::move(page))).value();
  }
  static std::vector<std::string> Ids(const EventPage& page) {
    std::vector<std::string> ids;
    for (const ControlPlaneEvent& event : page.items) ids.push_back(*event.event.event_id);
    return ids;
  }
  std::vector<std::string> List(std::string_view key) {
    std::vector<std::string> texts;
    const store::Reply reply = this->Ask({"LRANGE", key, "0", "-1"});
    for (const store::Reply& text : reply.elements()) {
      texts.push_back(text.text());
    }
    return texts;
  }
};
TYPED_TEST_SUITE(EventStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(EventStoreTest, LooksThreeTimesThenMarksThenWritesInOneTransaction) {
  const auto log = this->LogOf([&](store::Store& store) {
    EventStore events(store, this->Options(EventStoreOptions()));
    const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:00Z");
    return this->Run(events.InsertEvent(envelope, this->now())).status();
  });
  ASSERT_THAT(log, SizeIs(20));
  EXPECT_EQ(log[0], "GET " + std::string(kTaskLatest));
  EXPECT_EQ(log[1], "GET " + std::string(kStatusLatest));
  EXPECT_EQ(log[2], "GET studio:events:service:a:latest-observation-timestamp");
  EXPECT_EQ(log[3].rfind("SET studio:events:event:a:status:e1 {", 0), 0u);
  EXPECT_EQ(log[3].substr(log[3].size() - 12), " NX EX 86400");
  EXPECT_EQ(log[4], "MULTI");
  EXPECT_EQ(log[5], "LPUSH " + std::string(kServiceHistory) + " a:status:e1");
  EXPECT_EQ(log[6], "LTRIM " + std::string(kServiceHistory) + " 0 4999");
  EXPECT_EQ(log[11], "SET " + std::string(kTaskLatest) + " 2026-01-01T10:00:00Z");
  EXPECT_EQ(log[19], "EXEC");
}

TYPED_TEST(EventStoreTest, SetsNoTtlWithoutOne) {
  for (const std::optional<int64_t> ttl : {std::optional<int64_t>(), std::optional<int64_t>(0)}) {
    for (const bool hardened : {false, true}) {
      this->Ask({"FLUSHALL"});
      ASSERT_TRUE(
          this->Insert(Event("e1", "2026-01-01T10:00:00Z"),
                       {.ttl_seconds = ttl, .hardening = {.atomic_event_insert = hardened}}));
      for (const std::string_view key : {kServiceHistory, kTaskHistory, kTaskLatest}) {
        EXPECT_EQ(this->Ttl(key), -1) << key;
      }
      EXPECT_EQ(this->Ttl("studio:events:event:a:status:e1"), -1);
    }
  }
}

// E6: the document is the marker. After it has expired the event is inserted again, and the lists,
// which live longer, name it twice.
TYPED_TEST(EventStoreTest, AcceptsAnEventAgainAfterItsDocumentHasExpired) {
  ASSERT_TRUE(this->Insert("e1", "2026-01-01T10:00:00Z"));
  this->Advance(absl::Seconds(86399));
  EXPECT_FALSE(this->Insert("e1", "2026-01-01T10:00:00Z"));
  ASSERT_TRUE(this->Insert("e2", "2026-01-01T10:00:01Z"));
  this->Advance(absl::Milliseconds(1001));
  EXPECT_THAT(this->Ids(this->ListService()), ElementsAre("e2"));
  EXPECT_THAT(this->List(kServiceHistory), SizeIs(2)) << "the id of an expired event";
  EXPECT_TRUE(this->Insert("e1", "2026-01-01T10:00:00Z"));
  EXPECT_THAT(this->List(kServiceHistory),
              ElementsAre("a:status:e1", "a:status:e2", "a:status:e1"));
  EXPECT_THAT(this->Ids(this->ListService()), ElementsAre("e2", "e1", "e1")) << "listed twice";
}

struct Stamp {
  const char* timestamp;  // nullptr: no timestamp.
  const char* latest;     // The stored value afterwards.
  bool out_of_order;
};

// docs/systems/studio.md 2.7: a stored timestamp is replaced only by a strictly later one, and a
// text that is not a timestamp is earlier than every timestamp.
TYPED_TEST(EventStoreTest, KeepsTheLatestTimestampOnly) {
  const Stamp stamps[] = {
      {nullptr, "(nil)", false},
      {"yesterday", "yesterday", false},
      {"tomorrow", "yesterday", false},
      {"2026-01-01T10:00:05Z", "2026-01-01T10:00:05Z", false},
      {"soon", "2026-01-01T10:00:05Z", true},
      {nullptr, "2026-01-01T10:00:05Z", false},
      {"2026-01-01T10:00:04Z", "2026-01-01T10:00:05Z", true},
      {"2026-01-01T17:00:05+07:00", "2026-01-01T10:00:05Z", false},
      {"2026-01-01T10:00:05.000001", "2026-01-01T10:00:05.000001", false},
      {"2026-01-02", "2026-01-02", false},
  };
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    int number = 0;
    for (const Stamp& stamp : stamps) {
      EventEnvelope envelope = Event("e" + std::to_string(number++), "");
      envelope.event.timestamp = stamp.timestamp == nullptr
                                     ? std::optional<std::string>()
                                     : std::optional<std::string>(stamp.timestamp);
      ASSERT_TRUE(this->Insert(envelope, {.hardening = {.atomic_event_insert = hardened}}));
      const std::string text = stamp.timestamp == nullptr ? "none" : stamp.timestamp;
      const std::string latest = this->Value(kTaskLatest);
      EXPECT_TRUE(latest == stamp.latest || (latest == "nil" && stamp.latest[0] == '('))
          << text << ": " << latest;
      const std::string json =
          this->Value("studio:events:event:a:status:" + *envelope.event.event_id);
      EXPECT_EQ(ParseControlPlaneEvent(json).value().out_of_order, stamp.out_of_order) << text;
    }
  }
}

TYPED_TEST(EventStoreTest, KeepsLatestTimestampsPerKind) {
  ASSERT_TRUE(this->Insert("e1", "2026-01-01T10:00:05Z"));
  EventEnvelope observation = Event("e1", "2026-01-01T10:00:01Z");
  observation.event.source_kind = SourceKind::kObservation;
  ASSERT_TRUE(this->Insert(observation)) << "the kind is part of the dedupe key";
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  ASSERT_OK_AND_ASSIGN(const ActivitySnapshot activity, this->Run(events.GetActivitySnapshot("a")));
  EXPECT_EQ(activity.latest_status_event_at, "2026-01-01T10:00:05Z");
  EXPECT_EQ(activity.latest_observation_event_at, "2026-01-01T10:00:01Z");
  EXPECT_TRUE(activity.latest_ingested_at.has_value());
  ASSERT_OK_AND_ASSIGN(const ActivitySnapshot none, this->Run(events.GetActivitySnapshot("b")));
  EXPECT_EQ(none.latest_status_event_at, std::nullopt);
  EXPECT_EQ(none.latest_ingested_at, std::nullopt);
}

TYPED_TEST(EventStoreTest, TrimsListsAndLeavesDocuments) {
  for (int i = 0; i < 4; ++i) {
    const std::string digit = std::to_string(i);
    ASSERT_TRUE(this->Insert(Event("e" + digit, "2026-01-01T10:00:0" + digit + "Z"),
                             {.history_maxlen = 2}));
  }
  EXPECT_THAT(this->List(kServiceHistory), ElementsAre("a:status:e3", "a:status:e2"));
  EXPECT_TRUE(this->Exists("studio:events:event:a:status:e0"));
  EXPECT_FALSE(this->Insert("e0", "2026-01-01T10:00:00Z"))
      << "a trimmed event is still a duplicate";
}

TYPED_TEST(EventStoreTest, PagesAfterADedupeKey) {
  for (const char* digit : {"1", "2", "3", "4", "5"}) {
    ASSERT_TRUE(
        this->Insert(std::string("e") + digit, std::string("2026-01-01T10:00:0") + digit + "Z"));
  }
  EventPage page = this->ListService({}, {.limit = 2});
  EXPECT_THAT(this->Ids(page), ElementsAre("e5", "e4"));
  EXPECT_EQ(page.next_cursor, "a:status:e4");
  page = this->ListService({}, {.before = page.next_cursor, .limit = 2});
  EXPECT_THAT(this->Ids(page), ElementsAre("e3", "e2"));
  page = this->ListService({}, {.before = page.next_cursor, .limit = 2});
  EXPECT_THAT(this->Ids(page), ElementsAre("e1"));
  EXPECT_EQ(page.next_cursor, std::nullopt);
  page = this->ListService({}, {.before = "a:status:e1"});
  EXPECT_THAT(page.items, IsEmpty());
  for (const std::string cursor : {"unknown", "", "a:observation:e4"}) {
    page = this->ListService({}, {.before = cursor, .limit = 1});
    EXPECT_THAT(this->Ids(page), ElementsAre("e5")) << "the first page: " << cursor;
  }
  for (const int64_t limit : {0, -3}) {
    EXPECT_THAT(this->Ids(this->ListService({}, {.limit = limit})), ElementsAre("e5"));
  }
}

TYPED_TEST(EventStoreTest, SortsWhatHasNoTimestampLast) {
  ASSERT_TRUE(this->Insert("e1", "2026-01-01T10:00:01Z"));
  ASSERT_TRUE(this->Insert("bad", "soon"));
  EventEnvelope none = Event("none", "");
  none.event.timestamp.reset();
  this->Advance(absl::Seconds(1));
  ASSERT_TRUE(this->Insert(none));
  EXPECT_THAT(this->Ids(this->ListService()), ElementsAre("e1", "none", "bad"))
      << "then by ingested_at";
}

TYPED_TEST(EventStoreTest, FiltersByEachMember) {
  ASSERT_TRUE(this->Insert("e1", "2026-01-01T10:00:01Z"));
  EventEnvelope other = Event("e2", "2026-01-01T10:00:02Z");
  other.event.task_id = "t2";
  other.event.event_type = "Seen";
  other.event.source_kind = SourceKind::kObservation;
  ASSERT_TRUE(this->Insert(other));
  EventEnvelope untimed = Event("e3", "");
  untimed.event.timestamp.reset();
  ASSERT_TRUE(this->Insert(untimed));
  ASSERT_OK_AND_ASSIGN(const absl::Time at, base::ParseRfc3339("2026-01-01T10:00:02Z"));
  EXPECT_THAT(this->Ids(this->ListService({.task_id = "t2"})), ElementsAre("e2"));
  EXPECT_THAT(this->Ids(this->ListService({.source_kind = SourceKind::kObservation})),
              ElementsAre("e2"));
  EXPECT_THAT(this->Ids(this->ListService({.event_type = "status.running"})),
              ElementsAre("e1", "e3"));
  EXPECT_THAT(this->Ids(this->ListService({.to = at})), ElementsAre("e2", "e1"));
  EXPECT_THAT(this->Ids(this->ListService({.from = at})), ElementsAre("e2", "e3"))
      << "without a timestamp, ingested_at counts";
  EXPECT_THAT(this->Ids(this->ListService({.from = at, .to = at})), ElementsAre("e2"));
}

TYPED_TEST(EventStoreTest, PassesOverDocumentsThatAreMissingOrNone) {
  for (const char* id : {"e1", "e2", "e3", "e4", "e5"}) {
    ASSERT_TRUE(this->Insert(id, std::string("2026-01-01T10:00:0") + id[1] + "Z"));
  }
  this->Ask({"DEL", "studio:events:event:a:status:e1"});
  this->Ask({"SET", "studio:events:event:a:status:e2", "{bad"});
  this->Ask({"SET", "studio:events:event:a:status:e3", R"({"service_id": "a"})"});
  this->Ask({"SET", "studio:events:event:a:status:e4", R"("text")"});
  EXPECT_THAT(this->Ids(this->ListService()), ElementsAre("e5"));
  this->Ask({"DEL", "studio:events:event:a:status:e5"});
  this->Ask({"SADD", "studio:events:event:a:status:e5", "x"});
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  EXPECT_EQ(store::ServerErrorCode(this->Run(events.ListServiceEvents("a")).status()), "WRONGTYPE");
}

// docs/systems/studio.md 1.2: with a colon in an id two tasks share their keys.
TYPED_TEST(EventStoreTest, MixesTasksWhoseIdsHaveColons) {
  EventEnvelope one = Event("e1", "2026-01-01T10:00:01Z");
  one.service_id = "a";
  one.event.task_id = "b:c";
  EventEnvelope other = Event("e2", "2026-01-01T10:00:02Z");
  other.service_id = "a:b";
  other.event.task_id = "c";
  ASSERT_TRUE(this->Insert(one));
  ASSERT_TRUE(this->Insert(other));
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  const std::vector<std::string> ids =
      this->Ids(this->Run(events.ListTaskEvents({"a", "b:c"})).value());
  // The tag of the cluster layout ends the id of the service.
  if (this->in_cluster_layout()) {
    EXPECT_THAT(ids, ElementsAre("e1"));
  } else {
    EXPECT_THAT(ids, ElementsAre("e2", "e1"));
  }
}

struct BadEnvelope {
  const char* why;
  const char* json;
};

TYPED_TEST(EventStoreTest, RefusesWhatCannotBeKeptBeforeAnythingIsAsked) {
  EventEnvelope lone_surrogate = Event("e1", "2026-01-01T10:00:00Z");
  lone_surrogate.event.event_id.reset();
  lone_surrogate.event.payload = Json(R"({"x": "\ud800"})");
  for (const bool hardened : {false, true}) {
    EXPECT_THAT(this->TryInsert(lone_surrogate, {.hardening = {.atomic_event_insert = hardened}}),
                Not(IsOk()));
    EventEnvelope bytes = Event("e1", "2026-01-01T10:00:00Z");
    bytes.event.component = "\xff";
    EXPECT_THAT(this->TryInsert(bytes, {.hardening = {.atomic_event_insert = hardened}}),
                Not(IsOk()));
  }
  EXPECT_EQ(this->KeyCount(), 0);
  const BadEnvelope envelopes[] = {
      {"no object", "[]"},
      {"no service", R"({"ingest_method": "pull", "event": {}})"},
      {"an empty service", R"({"service_id": "", "ingest_method": "pull", "event": {}})"},
      {"another way in", R"({"service_id": "a", "ingest_method": "fax", "event": {}})"},
      {"no event", R"({"service_id": "a", "ingest_method": "pull"})"},
      {"an invalid event", R"({"service_id": "a", "ingest_method": "pull", "event": 1})"},
      {"no cursor", R"({"service_id": "a", "ingest_method": "pull", "event": {"task_id": "t",)"
                    R"( "event_type": "x", "source_kind": "status"}})"},
      {"another kind",
       R"({"service_id": "a", "ingest_method": "pull", "event": {"cursor": "c", "task_id": "t",)"
       R"( "event_type": "x", "source_kind": "rumour"}})"},
      {"a payload that is no object",
       R"({"service_id": "a", "ingest_method": "pull", "event": {"cursor": "c", "task_id": "t",)"
       R"( "event_type": "x", "source_kind": "status", "payload": []}})"},
      {"a timestamp that is no text",
       R"({"service_id": "a", "ingest_method": "pull", "event": {"cursor": "c", "task_id": "t",)"
       R"( "event_type": "x", "source_kind": "status", "timestamp": 1767261600}})"},
  };
  for (const BadEnvelope& bad : envelopes) {
    EXPECT_EQ(ErrorOf(ReadEventEnvelope(Json(bad.json)).status()), "ValidationError") << bad.why;
  }
}

TYPED_TEST(EventStoreTest, FailsOnKeysOfAnotherType) {
  for (const std::string_view key : {kTaskLatest, kStatusLatest, kServiceHistory, kTaskHistory}) {
    for (const bool hardened : {false, true}) {
      this->Ask({"FLUSHALL"});
      this->Ask({"SADD", key, "x"});
      const absl::Status status = this->TryInsert(Event("e1", "2026-01-01T10:00:00Z"),
                                                  {.hardening = {.atomic_event_insert = hardened}})
                                      .status();
      EXPECT_EQ(store::ServerErrorCode(status), "WRONGTYPE") << key;
    }
  }
}

// E1: an older insert reads before a newer one writes, and writes after it.
TYPED_TEST(EventStoreTest, MovesTheLatestTimestampBackwardsUnlessHardened) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Insert("e0", "2026-01-01T10:00:00Z"));
    const EventEnvelope older = Event("e5", "2026-01-01T10:00:05Z");
    const absl::Status status = this->RunWith(
        hardened ? 1 : 3, [&] { EXPECT_TRUE(this->Insert("e9", "2026-01-01T10:00:09Z")); },
        [&](store::Store& store) {
          EventStore events(
              store,
              this->Options(EventStoreOptions{.hardening = {.atomic_event_insert = hardened}}));
          return this->Run(events.InsertEvent(older, this->now())).status();
        });
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(this->Value(kTaskLatest), hardened ? "2026-01-01T10:00:09Z" : "2026-01-01T10:00:05Z");
    const std::string json = this->Value("studio:events:event:a:status:e5");
    EXPECT_EQ(ParseControlPlaneEvent(json).value().out_of_order, hardened);
  }
}

// E2: after a crash between the document and the transaction no list names the event, and it cannot
// be inserted again.
TYPED_TEST(EventStoreTest, ACrashAfterTheDocumentLosesTheEventUnlessHardened) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    tests::InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index < (hardened ? 0u : 4u)) return std::nullopt;
      return absl::StatusOr<store::Reply>(store::NotSentError("the process died"));
    };
    EventStore events(
        watched, this->Options(EventStoreOptions{.hardening = {.atomic_event_insert = hardened}}));
    const EventEnvelope envelope = Event("e1", "2026-01-01T10:00:00Z");
    EXPECT_THAT(this->Run(events.InsertEvent(envelope, this->now())), Not(IsOk()));
    EXPECT_EQ(this->Insert(envelope), hardened) << "otherwise it is a duplicate";
    EXPECT_THAT(this->Ids(this->ListService()), SizeIs(hardened ? 1 : 0));
  }
}

TYPED_TEST(EventStoreTest, PassesEveryFailureOn) {
  const EventEnvelope envelope = Event("e2", "2026-01-01T10:00:01Z");
  const auto with_event = [&] { EXPECT_TRUE(this->Insert("e1", "2026-01-01T10:00:00Z")); };
  for (const bool hardened : {false, true}) {
    const size_t requests = this->ExpectFailuresPassedOn(with_event, [&](store::Store& store) {
      EventStore events(
          store, this->Options(EventStoreOptions{.hardening = {.atomic_event_insert = hardened}}));
      return this->Run(events.InsertEvent(envelope, this->now())).status();
    });
    EXPECT_EQ(requests, hardened ? 2u : 5u);
  }
  EXPECT_EQ(this->ExpectFailuresPassedOn(with_event,
                                         [&](store::Store& store) {
                                           EventStore events(store,
                                                             this->Options(EventStoreOptions()));
                                           return this->Run(events.ListServiceEvents("a")).status();
                                         }),
            2u);
  EXPECT_EQ(
      this->ExpectFailuresPassedOn(with_event,
                                   [&](store::Store& store) {
                                     EventStore events(store, this->Options(EventStoreOptions()));
                                     return this->Run(events.ListTaskEvents({"a", "t1"})).status();
                                   }),
      2u);
  EXPECT_EQ(
      this->ExpectFailuresPassedOn(with_event,
                                   [&](store::Store& store) {
                                     EventStore events(store, this->Options(EventStoreOptions()));
                                     return this->Run(events.GetActivitySnapshot("a")).status();
                                   }),
      1u);
  EXPECT_EQ(this->ExpectFailuresPassedOn([] {},
                                         [&](store::Store& store) {
                                           EventStore events(store,
                                                             this->Options(EventStoreOptions()));
                                           return this->Run(events.SetPullCursor("a", "c"));
                                         }),
            1u);
}

TYPED_TEST(EventStoreTest, KeepsAPullCursorForEver) {
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  EXPECT_THAT(this->Run(events.GetPullCursor("a")), IsOkAndHolds(Eq(std::nullopt)));
  ASSERT_THAT(this->Run(events.SetPullCursor("a", "e9")), IsOk());
  EXPECT_THAT(this->Run(events.GetPullCursor("a")), IsOkAndHolds("e9"));
  EXPECT_EQ(this->Ttl("studio:events:pull-cursor:a"), -1);
}

// Without a TTL: no client uses the documents that no list names.
TYPED_TEST(EventStoreTest, DeletesWhatIsUnused) {
  const EventStoreOptions options =
      this->Options(EventStoreOptions{.ttl_seconds = std::nullopt, .history_maxlen = 2});
  EventStore events(this->store(), options);
  for (const std::string id : {"e1", "e2", "e3"}) {
    ASSERT_THAT(this->Run(events.InsertEvent(Event(id, "2026-01-01T10:00:00Z"), this->now())),
                IsOkAndHolds(true));
  }
  ASSERT_THAT(this->Run(events.SetPullCursor("a", "e3")), IsOk());
  this->Advance(absl::Hours(1));
  ASSERT_THAT(this->Run(events.ListServiceEvents("a")), IsOk());
  this->Advance(absl::Hours(1));
  ASSERT_OK_AND_ASSIGN(const store::UnusedKeysReport report,
                       this->Run(events.DeleteUnused(absl::Hours(2))));
  // The document of e1, the list of the task, and three latest timestamps.
  EXPECT_EQ(report.deleted, 5);
  EXPECT_EQ(report.selected, 8);
  EXPECT_THAT(this->Ids(this->ListService()), ElementsAre("e3", "e2"));
  EXPECT_THAT(this->Run(events.GetPullCursor("a")), IsOkAndHolds("e3"));
  EXPECT_THAT(this->Run(events.InsertEvent(Event("e1", "2026-01-01T10:00:00Z"), this->now())),
              IsOkAndHolds(true));
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
