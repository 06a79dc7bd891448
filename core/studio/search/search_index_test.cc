#include "redouble/core/studio/search/search_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

ControlPlaneEvent Seen(const std::string& task_id, std::optional<std::string> timestamp,
                       std::string_view payload = R"({"status": "running"})") {
  ControlPlaneEvent event;
  event.service_id = "a";
  event.ingested_at = "2026-05-09T14:03:02+00:00";
  event.event.task_id = task_id;
  event.event.event_type = "status.running";
  event.event.timestamp = std::move(timestamp);
  event.event.payload = Json(payload);
  return event;
}

template <typename Backend>
class SearchIndexTest : public StudioBackendTest<Backend> {
 protected:
  template <typename Do>
  auto With(store::Store& store, Do operation, SearchIndexOptions options = {}) {
    SearchStore documents(
        store,
        this->Options(SearchStoreOptions{.hardening = {.atomic_search_documents = hardened_}}));
    SearchIndex index(documents, options);
    return this->Run(operation(index));
  }
  absl::Status Upsert(const ControlPlaneEvent& event, SearchIndexOptions options = {}) {
    const ServiceRecord service = Service(event.service_id, "http://a.test");
    return With(
        this->store(),
        [&](SearchIndex& index) { return index.UpsertTaskDocument(service, event, this->now()); },
        options);
  }
  TaskDocument Document(const std::string& task_id = "t1") {
    SearchStore documents(this->store(), this->Options(SearchStoreOptions()));
    return this->Run(documents.GetTaskDocument(TaskDocumentId({"a", task_id}))).value().value();
  }
  absl::StatusOr<TaskPage> Search(const TaskQuery& query) {
    return With(this->store(),
                [&](SearchIndex& index) { return index.SearchTasks(query, this->now()); });
  }
  static std::vector<std::string> TaskIds(const absl::StatusOr<TaskPage>& page) {
    std::vector<std::string> ids;
    if (!page.ok()) return {ErrorOf(page.status())};
    for (const TaskDocument& document : page->items) ids.push_back(document.task_id);
    return ids;
  }
  std::vector<std::string> Find(const TaskQuery& query) { return TaskIds(Search(query)); }
  absl::Status UpsertService(const ServiceRecord& service,
                             std::optional<std::string> health = std::nullopt) {
    return With(this->store(),
                [&](SearchIndex& index) { return index.UpsertServiceDocument(service, health); });
  }
  absl::StatusOr<ServicePage> SearchServices(const ServiceQuery& query) {
    return With(this->store(), [&](SearchIndex& index) { return index.SearchServices(query); });
  }
  std::vector<std::string> FindServices(const ServiceQuery& query) {
    const absl::StatusOr<ServicePage> page = SearchServices(query);
    std::vector<std::string> ids;
    if (!page.ok()) return {ErrorOf(page.status())};
    for (const FoundService& service : page->items) ids.push_back(service.document.service_id);
    return ids;
  }
  int64_t Prune() {
    return With(this->store(), [&](SearchIndex& index) { return index.PruneExpired(this->now()); })
        .value();
  }

  bool hardened_ = false;
};
TYPED_TEST_SUITE(SearchIndexTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(SearchIndexTest, MakesADocumentOfATasksFirstEvent) {
  ControlPlaneEvent event =
      Seen("t1", "2026-01-01T17:00:00+07:00", R"({"status": " running ", "stage": 7})");
  event.event.correlation_id = "c1";
  ASSERT_THAT(this->Upsert(event), IsOk());
  const TaskDocument document = this->Document();
  EXPECT_EQ(document.service_name, "a");
  EXPECT_EQ(document.environment, "prod");
  EXPECT_EQ(document.correlation_id, "c1");
  EXPECT_EQ(document.status, "running");
  EXPECT_EQ(document.stage, "7");
  EXPECT_EQ(document.first_seen_at, "2026-01-01T10:00:00Z");
  EXPECT_EQ(document.last_seen_at, "2026-01-01T10:00:00Z");
  EXPECT_EQ(document.latest_event_at, "2026-01-01T10:00:00Z");
  EXPECT_EQ(document.latest_event_type, "status.running");
  EXPECT_EQ(document.latest_ingested_at, "2026-05-09T14:03:02Z");
  EXPECT_EQ(document.detail_path, "/studio/tasks/a/t1");
  EXPECT_EQ(document.expires_at, python::FormatIsoZ(this->now() + absl::Hours(24)));
}

struct Follower {
  const char* why;
  const char* timestamp;
  const char* payload;
  // The members of the document afterwards.
  const char* status;
  const char* first_seen;
  const char* last_seen;
  const char* latest_type;
};

// The document starts with the status "running", seen once at 10:00:05.
TYPED_TEST(SearchIndexTest, ChangesADocumentByWhatFollows) {
  const Follower followers[] = {
      {"a later event", "2026-01-01T10:00:09Z", R"({"status": "completed"})", "completed",
       "2026-01-01T10:00:05Z", "2026-01-01T10:00:09Z", "next"},
      {"an earlier event has the last word too (E5)", "2026-01-01T10:00:01Z",
       R"({"status": "queued"})", "queued", "2026-01-01T10:00:01Z", "2026-01-01T10:00:05Z",
       "status.running"},
      {"at the same time", "2026-01-01T10:00:05Z", "{}", "running", "2026-01-01T10:00:05Z",
       "2026-01-01T10:00:05Z", "next"},
      {"no status", "2026-01-01T10:00:06Z", R"({"status": null})", "running",
       "2026-01-01T10:00:05Z", "2026-01-01T10:00:06Z", "next"},
      {"a blank status", "2026-01-01T10:00:06Z", R"({"status": "  "})", "running",
       "2026-01-01T10:00:05Z", "2026-01-01T10:00:06Z", "next"},
      {"a status that is a boolean", "2026-01-01T10:00:06Z", R"({"status": true})", "True",
       "2026-01-01T10:00:05Z", "2026-01-01T10:00:06Z", "next"},
      {"no timestamp that is one", "soon", R"({"status": "failed"})", "failed",
       "2026-01-01T10:00:05Z", "2026-01-01T10:00:05Z", "status.running"},
  };
  for (const Follower& follower : followers) {
    for (const bool hardened : {false, true}) {
      this->Ask({"FLUSHALL"});
      this->hardened_ = hardened;
      ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:05Z")), IsOk());
      ControlPlaneEvent event = Seen("t1", follower.timestamp, follower.payload);
      event.event.event_type = "next";
      ASSERT_THAT(this->Upsert(event), IsOk()) << follower.why;
      const TaskDocument document = this->Document();
      EXPECT_EQ(document.status, follower.status) << follower.why;
      EXPECT_EQ(document.first_seen_at, follower.first_seen) << follower.why;
      EXPECT_EQ(document.last_seen_at, follower.last_seen) << follower.why;
      EXPECT_EQ(document.latest_event_type, follower.latest_type) << follower.why;
    }
  }
}

TYPED_TEST(SearchIndexTest, KeepsTheTextOfAnInvalidFirstTimestamp) {
  ASSERT_THAT(this->Upsert(Seen("t1", "soon")), IsOk());
  const TaskDocument document = this->Document();
  EXPECT_EQ(document.first_seen_at, std::nullopt);
  EXPECT_EQ(document.last_seen_at, std::nullopt);
  EXPECT_EQ(document.latest_event_at, "soon");
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  EXPECT_EQ(this->Document().latest_event_at, "2026-01-01T10:00:00Z");
  EXPECT_EQ(this->Document().first_seen_at, "2026-01-01T10:00:00Z");
}

TYPED_TEST(SearchIndexTest, CountsAnEventWithoutTimestampAsOfItsIngestion) {
  ASSERT_THAT(this->Upsert(Seen("t1", std::nullopt)), IsOk());
  EXPECT_EQ(this->Document().last_seen_at, "2026-05-09T14:03:02Z");
}

TYPED_TEST(SearchIndexTest, KeepsTheOldCorrelationUnlessAnEventHasOne) {
  ControlPlaneEvent event = Seen("t1", "2026-01-01T10:00:00Z");
  event.event.correlation_id = "c1";
  ASSERT_THAT(this->Upsert(event), IsOk());
  event.event.correlation_id = "";
  ASSERT_THAT(this->Upsert(event), IsOk());
  EXPECT_EQ(this->Document().correlation_id, "c1");
  event.event.correlation_id = "c2";
  ASSERT_THAT(this->Upsert(event), IsOk());
  EXPECT_EQ(this->Document().correlation_id, "c2");
}

// The document of a first event has the correlation id as it is, also the empty text.
TYPED_TEST(SearchIndexTest, KeepsTheEmptyCorrelationOfAFirstEvent) {
  ControlPlaneEvent event = Seen("t1", "2026-01-01T10:00:00Z");
  event.event.correlation_id = "";
  ASSERT_THAT(this->Upsert(event), IsOk());
  EXPECT_EQ(this->Document().correlation_id, "");
  EXPECT_FALSE(this->Exists("studio:search:task:filter:correlation_id:"));
}

TYPED_TEST(SearchIndexTest, KeepsADocumentForAtLeastAMinute) {
  for (const int64_t ttl : {-5, 0, 59, 60}) {
    ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z"), {.task_ttl_seconds = ttl}),
                IsOk());
    EXPECT_EQ(this->Document().expires_at, python::FormatIsoZ(this->now() + absl::Seconds(60)));
  }
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z"), {.task_ttl_seconds = 61}), IsOk());
  EXPECT_EQ(this->Document().expires_at, python::FormatIsoZ(this->now() + absl::Seconds(61)));
}

// S7: the search index reads a naive timestamp in the zone of its host.
TYPED_TEST(SearchIndexTest, ReadsNaiveTimestampsInItsHostsZone) {
  const SearchIndexOptions options = {.local_zone = absl::FixedTimeZone(7 * 60 * 60)};
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00"), options), IsOk());
  EXPECT_EQ(this->Document().last_seen_at, "2026-01-01T03:00:00Z");
}

TYPED_TEST(SearchIndexTest, RefusesAStatusThatIsNoText) {
  for (const std::string_view payload : {R"({"status": []})", R"({"stage": {"a": 1}})"}) {
    EXPECT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z", payload)), Not(IsOk()));
  }
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SearchIndexTest, FindsTasksByAllThatIsAskedFor) {
  ControlPlaneEvent first = Seen("t1", "2026-01-01T10:00:01Z");
  first.event.correlation_id = "c1";
  ASSERT_THAT(this->Upsert(first), IsOk());
  ASSERT_THAT(this->Upsert(Seen("t2", "2026-01-01T10:00:02Z", R"({"stage": "ocr"})")), IsOk());
  ControlPlaneEvent other = Seen("t3", "soon");
  other.service_id = "b";
  ASSERT_THAT(this->Upsert(other), IsOk());
  EXPECT_THAT(this->Find({.service_id = "a"}), ElementsAre("t2", "t1"));
  EXPECT_THAT(this->Find({.task_id = " t1 "}), ElementsAre("t1"));
  EXPECT_THAT(this->Find({.correlation_id = "c1"}), ElementsAre("t1"));
  EXPECT_THAT(this->Find({.status = "running"}), ElementsAre("t1", "t3"));
  EXPECT_THAT(this->Find({.stage = "ocr"}), ElementsAre("t2"));
  EXPECT_THAT(this->Find({.service_id = "a", .status = "running"}), ElementsAre("t1"));
  EXPECT_THAT(this->Find({.status = "Running"}), IsEmpty());
  EXPECT_THAT(this->Find({.service_id = "b", .from_timestamp = "2020-01-01"}), IsEmpty())
      << "a document without last_seen_at is in no range";
  EXPECT_THAT(this->Find({.service_id = "b", .from_timestamp = "soon"}), ElementsAre("t3"))
      << "an invalid timestamp is ignored";
}

TYPED_TEST(SearchIndexTest, FindsTasksByWhenTheyWereLastSeen) {
  for (const char* digit : {"1", "2", "3"}) {
    ASSERT_THAT(this->Upsert(Seen(std::string("t") + digit,
                                  std::string("2026-01-01T10:00:0") + digit + "Z")),
                IsOk());
  }
  EXPECT_THAT(this->Find({.from_timestamp = "2026-01-01T10:00:02Z"}), ElementsAre("t3", "t2"));
  EXPECT_THAT(this->Find({.to_timestamp = "2026-01-01T10:00:02Z"}), ElementsAre("t2", "t1"));
  EXPECT_THAT(this->Find({.from_timestamp = "2026-01-01T10:00:02Z",
                          .to_timestamp = "2026-01-01T17:00:02+07:00"}),
              ElementsAre("t2"));
}

TYPED_TEST(SearchIndexTest, RefusesToFindEverything) {
  for (const TaskQuery& query :
       {TaskQuery(), TaskQuery{.service_id = ""}, TaskQuery{.cursor = "x"}}) {
    const absl::Status status = this->Search(query).status();
    EXPECT_EQ(ErrorOf(status), "ValueError");
    EXPECT_EQ(status.message(), "Provide at least one task search filter or a time range.");
  }
}

TYPED_TEST(SearchIndexTest, PagesAfterACursor) {
  for (const char* digit : {"1", "2", "3", "4"}) {
    ASSERT_THAT(this->Upsert(Seen(std::string("t") + digit, "2026-01-01T10:00:00Z")), IsOk());
  }
  absl::StatusOr<TaskPage> page = this->Search({.service_id = "a", .limit = 2});
  EXPECT_THAT(this->TaskIds(page), ElementsAre("t4", "t3")) << "then by task id, descending";
  page = this->Search({.service_id = "a", .limit = 2, .cursor = page.value().next_cursor});
  EXPECT_THAT(this->TaskIds(page), ElementsAre("t2", "t1"));
  EXPECT_EQ(page.value().next_cursor, std::nullopt);
  for (const int64_t limit : {0, -1}) {
    EXPECT_THAT(this->Find({.service_id = "a", .limit = limit}), ElementsAre("t4"));
  }
}

TYPED_TEST(SearchIndexTest, ReturnsTheFirstPageForAnUnknownCursorAndRejectsABadOne) {
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  const std::string others[] = {
      "",
      EncodeCursor({{"last_seen_at", "x"}, {"service_id", "a"}, {"task_id", "t1"}}),
      EncodeCursor({{"service_id", "a"}, {"task_id", "t1"}}),
      "e30=",
  };
  for (const std::string& cursor : others) {
    EXPECT_THAT(this->Find({.service_id = "a", .cursor = cursor}), ElementsAre("t1")) << cursor;
  }
  for (const std::string cursor : {"x", "bm90IGpzb24=", "W10=", "\xc3\xa9", "/w=="}) {
    const absl::Status status = this->Search({.service_id = "a", .cursor = cursor}).status();
    EXPECT_EQ(ErrorOf(status), "ValueError") << cursor;
    EXPECT_EQ(status.message(), "Invalid cursor.");
    EXPECT_EQ(ErrorOf(this->SearchServices({.cursor = cursor}).status()), "ValueError");
  }
}

// A document expires exactly at its expires_at. A search skips and deletes it.
TYPED_TEST(SearchIndexTest, ForgetsExpiredTasksWhenItMeetsThem) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->hardened_ = hardened;
    ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z"), {.task_ttl_seconds = 60}), IsOk());
    ASSERT_THAT(this->Upsert(Seen("t2", "2026-01-01T10:00:00Z"), {.task_ttl_seconds = 90}), IsOk());
    this->Advance(absl::Seconds(60) - absl::Microseconds(1));
    EXPECT_THAT(this->Find({.service_id = "a"}), ElementsAre("t2", "t1"));
    this->Advance(absl::Microseconds(1));
    EXPECT_THAT(this->Find({.service_id = "a"}), ElementsAre("t2"));
    EXPECT_THAT(this->Members("studio:search:task:all"), SizeIs(1));
    EXPECT_FALSE(this->Exists("studio:search:task:filter:task_id:t1"));
  }
}

TYPED_TEST(SearchIndexTest, TrustsTheSetsAndPassesOverLostDocuments) {
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  this->Ask({"SADD", "studio:search:task:filter:status:failed", TaskDocumentId({"a", "t1"})});
  EXPECT_THAT(this->Find({.status = "failed"}), ElementsAre("t1"))
      << "though its document says running (S1)";
  this->Ask({"SADD", "studio:search:task:filter:status:failed", "lost"});
  EXPECT_THAT(this->Find({.status = "failed"}), ElementsAre("t1"));
}

TYPED_TEST(SearchIndexTest, FailsOnACorruptDocumentItMeets) {
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  this->Ask({"SET", "studio:search:task:doc:" + TaskDocumentId({"a", "t1"}), "{bad"});
  EXPECT_THAT(this->Find({.service_id = "a"}), ElementsAre("ValidationError"));
  EXPECT_EQ(ErrorOf(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z"))), "ValidationError");
  EXPECT_EQ(ErrorOf(this->UpsertService(Service("a", "http://a.test"))), "ValidationError");
}

// docs/systems/studio.md 4.18.
TYPED_TEST(SearchIndexTest, PrunesWhatIsOverAndWhatIsLost) {
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z"), {.task_ttl_seconds = 60}), IsOk());
  ASSERT_THAT(this->Upsert(Seen("t2", "2026-01-01T10:00:00Z"), {.task_ttl_seconds = 90}), IsOk());
  ASSERT_THAT(this->Upsert(Seen("t3", "2026-01-01T10:00:00Z")), IsOk());
  TaskDocument never = this->Document("t3");
  for (const std::optional<std::string>& end :
       {std::optional<std::string>(), std::optional<std::string>("never")}) {
    never.expires_at = end;
    SearchStore documents(this->store(), this->Options(SearchStoreOptions()));
    ASSERT_THAT(this->Run(documents.SetTaskDocument(never)), IsOk());
    EXPECT_EQ(this->Prune(), 0);
  }
  this->Ask({"SADD", "studio:search:task:all", "lost"});
  this->Advance(absl::Seconds(60));
  EXPECT_EQ(this->Prune(), 2) << "t1, and the id without a document";
  this->Advance(absl::Hours(48));
  EXPECT_EQ(this->Prune(), 1);
  EXPECT_THAT(this->Members("studio:search:task:all"), ElementsAre(TaskDocumentId({"a", "t3"})));
}

// S8: the registry does not have the service.
TYPED_TEST(SearchIndexTest, PrunesTheServicesThatAreDeletedOnlyWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  ASSERT_THAT(this->UpsertService(Service("a", "http://a.test")), IsOk());
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  EXPECT_EQ(this->Prune(), 0);
  EXPECT_THAT(this->FindServices({}), ElementsAre("a"));
  SearchStore documents(this->store(), {.hardening = {.sweep_deleted_services = true}});
  SearchIndex index(documents, {});
  EXPECT_THAT(this->Run(index.PruneExpired(this->now())), IsOkAndHolds(2));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SearchIndexTest, RefreshesTheNamesOfAServicesTasks) {
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  const std::optional<std::string> end = this->Document().expires_at;
  this->Ask({"SADD", "studio:search:task:service:a", "lost"});
  this->Advance(absl::Seconds(10));
  ServiceRecord service = Service("a", "http://a.test");
  service.name = "Renamed";
  service.environment = "staging";
  ASSERT_THAT(this->UpsertService(service), IsOk());
  EXPECT_EQ(this->Document().service_name, "Renamed");
  EXPECT_EQ(this->Document().environment, "staging");
  EXPECT_EQ(this->Document().expires_at, end) << "expires_at does not change";
}

TYPED_TEST(SearchIndexTest, KeepsTheHealthOfAServiceUnlessToldAnother) {
  const ServiceRecord service = Service("a", "http://a.test");
  ASSERT_THAT(this->UpsertService(service), IsOk());
  EXPECT_THAT(this->FindServices({.health = "healthy"}), IsEmpty());
  ASSERT_THAT(this->UpsertService(service, "healthy"), IsOk());
  ASSERT_THAT(this->UpsertService(service), IsOk());
  EXPECT_THAT(this->FindServices({.health = "healthy"}), ElementsAre("a"));
  ASSERT_THAT(this->UpsertService(service, "stale"), IsOk());
  EXPECT_THAT(this->FindServices({.health = "healthy"}), IsEmpty());
}

TYPED_TEST(SearchIndexTest, FindsServicesByFiltersAndByWordsOfOneField) {
  const auto add = [&](const char* id, const char* name, std::vector<std::string> tags) {
    ServiceRecord service = Service(id, "http://a.test");
    service.name = name;
    service.tags = std::move(tags);
    ASSERT_THAT(this->UpsertService(service), IsOk());
  };
  add("svc-c", "pay api", {});
  add("svc-a", "Pay API", {"core", "cost"});
  add("svc-b", "Buy", {"core"});
  EXPECT_THAT(this->FindServices({}), ElementsAre("svc-b", "svc-a", "svc-c"));
  EXPECT_THAT(this->FindServices({.environment = "prod", .tag = " core "}),
              ElementsAre("svc-b", "svc-a"));
  EXPECT_THAT(this->FindServices({.status = "registered", .tag = "cost"}), ElementsAre("svc-a"));
  EXPECT_THAT(this->FindServices({.environment = "dev"}), IsEmpty());
  EXPECT_THAT(this->FindServices({.query = "PAY a"}), ElementsAre("svc-a", "svc-c"));
  EXPECT_THAT(this->FindServices({.query = "pay core"}), IsEmpty()) << "two fields";
  EXPECT_THAT(this->FindServices({.query = "co cos"}), ElementsAre("svc-a"));
  EXPECT_THAT(this->FindServices({.query = "!?"}), SizeIs(3))
      << "a query without words does not filter";
  EXPECT_THAT(this->SearchServices({.query = "p", .tag = "cost"}).value().items[0].matched_fields,
              ElementsAre("name", "environment"));
  EXPECT_THAT(this->SearchServices({}).value().items[0].matched_fields, IsEmpty());
}

TYPED_TEST(SearchIndexTest, PagesServicesByNameInLowerCase) {
  for (const char* id : {"a", "b", "c"}) {
    ServiceRecord service = Service(id, "http://a.test");
    service.name = "SAME";
    ASSERT_THAT(this->UpsertService(service), IsOk());
  }
  absl::StatusOr<ServicePage> page = this->SearchServices({.limit = 2});
  ASSERT_THAT(page.value().items, SizeIs(2));
  EXPECT_EQ(page.value().next_cursor, EncodeCursor({{"name", "same"}, {"service_id", "b"}}));
  page = this->SearchServices({.limit = 2, .cursor = page.value().next_cursor});
  ASSERT_THAT(page.value().items, SizeIs(1));
  EXPECT_EQ(page.value().items[0].document.service_id, "c");
}

TYPED_TEST(SearchIndexTest, PassesOverServicesWhoseDocumentIsLost) {
  ASSERT_THAT(this->UpsertService(Service("a", "http://a.test")), IsOk());
  this->Ask({"DEL", "studio:search:service:doc:a"});
  EXPECT_THAT(this->FindServices({}), IsEmpty());
  EXPECT_THAT(this->FindServices({.query = "a"}), IsEmpty());
  this->Ask({"SET", "studio:search:service:doc:a", "{"});
  EXPECT_THAT(this->FindServices({}), ElementsAre("ValidationError"));
  EXPECT_THAT(this->FindServices({.query = "a"}), ElementsAre("ValidationError"));
}

TYPED_TEST(SearchIndexTest, PurgesTheTasksOfAService) {
  ASSERT_THAT(this->Upsert(Seen("t1", "2026-01-01T10:00:00Z")), IsOk());
  ASSERT_THAT(this->Upsert(Seen("t2", "2026-01-01T10:00:00Z")), IsOk());
  ControlPlaneEvent other = Seen("t3", "2026-01-01T10:00:00Z");
  other.service_id = "b";
  ASSERT_THAT(this->Upsert(other), IsOk());
  ASSERT_THAT(
      this->With(this->store(),
                 [](SearchIndex& index) { return index.DeleteTaskDocumentsOfService("a"); }),
      IsOk());
  EXPECT_THAT(this->Members("studio:search:task:all"), ElementsAre(TaskDocumentId({"b", "t3"})));
}

TYPED_TEST(SearchIndexTest, InitializesOnlyAnEmptyIndex) {
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions()));
  EventStore events(this->store(), this->Options(EventStoreOptions()));
  ASSERT_THAT(this->Run(records.Create(Service("a", "http://a.test"))), IsOk());
  for (const char* digit : {"3", "1", "2"}) {
    EventEnvelope envelope =
        Event(std::string("e") + digit, std::string("2026-01-01T10:00:0") + digit + "Z");
    envelope.event.payload = python::Object({{"status", std::string("s") + digit}});
    ASSERT_THAT(this->Run(events.InsertEvent(envelope, this->now())), IsOk());
  }
  const auto initialize = [&] {
    return this->With(this->store(), [&](SearchIndex& index) {
      return index.Initialize(records, events, this->now());
    });
  };
  ASSERT_THAT(initialize(), IsOk());
  EXPECT_EQ(this->Document().status, "s3") << "oldest first";
  EXPECT_EQ(this->Document().first_seen_at, "2026-01-01T10:00:01Z");
  EXPECT_THAT(this->FindServices({}), ElementsAre("a"));
  this->Ask({"DEL", "studio:search:service:all"});
  ASSERT_THAT(initialize(), IsOk());
  EXPECT_THAT(this->FindServices({}), IsEmpty())
      << "no service documents while a task document exists";
  this->Ask({"DEL", "studio:search:task:all"});
  this->Ask({"SET", "studio:services:by-id:a", "{"});
  EXPECT_EQ(ErrorOf(initialize()), "ValidationError");
}

TYPED_TEST(SearchIndexTest, PassesEveryFailureOn) {
  const ServiceRecord service = Service("a", "http://a.test");
  const ControlPlaneEvent event = Seen("t1", "2026-01-01T10:00:00Z");
  const auto indexed = [&] {
    EXPECT_THAT(this->Upsert(event, {.task_ttl_seconds = 60}), IsOk());
    EXPECT_THAT(this->UpsertService(service, "healthy"), IsOk());
  };
  const auto expect = [&](size_t requests, auto operation) {
    EXPECT_EQ(this->ExpectFailuresPassedOn(
                  indexed, [&](store::Store& store) { return this->With(store, operation); }),
              requests);
  };
  // A search deletes the expired task that it finds: eight more requests.
  const absl::Time later = this->now() + absl::Seconds(61);
  const TaskQuery tasks = {.status = "running"};
  const ServiceQuery services = {.query = "a", .environment = "prod"};
  const auto status_of = [](auto task) -> base::Task<absl::Status> {
    const auto result = co_await std::move(task);
    co_return result.status();
  };
  expect(12, [&](SearchIndex& i) { return i.UpsertTaskDocument(service, event, later); });
  expect(2, [&](SearchIndex& i) { return status_of(i.SearchTasks(tasks, this->now())); });
  expect(9, [&](SearchIndex& i) { return status_of(i.SearchTasks(tasks, later)); });
  expect(9, [&](SearchIndex& i) { return status_of(i.PruneExpired(later)); });
  expect(4, [&](SearchIndex& i) { return status_of(i.SearchServices(services)); });
  expect(8, [&](SearchIndex& i) { return i.DeleteTaskDocumentsOfService("a"); });
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
