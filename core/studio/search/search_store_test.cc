#include "redouble/core/studio/search/search_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/json.h"
#include "redouble/core/studio/search/search_document.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TaskDocument Task(std::optional<std::string> status, const std::string& task_id = "t1") {
  TaskDocument document;
  document.service_id = "a";
  document.service_name = "A";
  document.environment = "prod";
  document.task_id = task_id;
  document.status = std::move(status);
  document.detail_path = "/studio/tasks/a/" + task_id;
  return document;
}

ServiceDocument Found(const std::string& name, std::vector<std::string> tags = {}) {
  ServiceDocument document;
  document.service_id = "a";
  document.name = name;
  document.environment = "prod";
  document.tags = std::move(tags);
  document.status = "registered";
  document.base_url = "http://a.test";
  document.auth_mode = "none";
  return document;
}

const std::string& Id() {
  static const std::string& id = *new std::string(TaskDocumentId({"a", "t1"}));
  return id;
}

constexpr std::string_view kAll = "studio:search:task:all";
constexpr std::string_view kOfService = "studio:search:task:service:a";

std::string Filter(const std::string& field, const std::string& value) {
  return "studio:search:task:filter:" + field + ":" + value;
}

std::string DocumentKey() { return "studio:search:task:doc:" + Id(); }

template <typename Backend>
class SearchStoreTest : public StudioBackendTest<Backend> {
 protected:
  SearchStore Documents(store::Store& store, bool hardened = false) {
    return SearchStore(
        store,
        this->Options(SearchStoreOptions{.hardening = {.atomic_search_documents = hardened}}));
  }
  absl::Status Set(const TaskDocument& document, bool hardened = false) {
    SearchStore documents = Documents(this->store(), hardened);
    return this->Run(documents.SetTaskDocument(document));
  }
  absl::Status Set(const ServiceDocument& document, bool hardened = false) {
    SearchStore documents = Documents(this->store(), hardened);
    return this->Run(documents.SetServiceDocument(document));
  }
  std::optional<TaskDocument> Get() {
    SearchStore documents = Documents(this->store());
    return this->Run(documents.GetTaskDocument(Id())).value();
  }
  static SearchStore::TaskChange To(const std::string& status) {
    return [status](
               const std::optional<TaskDocument>&) -> absl::StatusOr<std::optional<TaskDocument>> {
      return std::optional<TaskDocument>(Task(status));
    };
  }
};
TYPED_TEST_SUITE(SearchStoreTest, tests::LayoutBackends, tests::BackendNames);

// From tests/data/golden/relayna/search_task_docs.json: one round trip per command.
TYPED_TEST(SearchStoreTest, WritesADocumentAndEachOfItsSetsByACommandOfItsOwn) {
  TaskDocument document = Task("running");
  document.correlation_id = "c1";
  document.stage = "ocr";
  const auto log = this->LogOf([&](store::Store& store) {
    SearchStore documents = this->Documents(store);
    return this->Run(documents.SetTaskDocument(document));
  });
  EXPECT_THAT(log, ElementsAre("GET " + DocumentKey(),
                               "SET " + DocumentKey() + " " +
                                   python::PydanticJson(ToValue(document)).value(),
                               "SADD " + std::string(kAll) + " " + Id(),
                               "SADD " + std::string(kOfService) + " " + Id(),
                               "SADD " + Filter("service_id", "a") + " " + Id(),
                               "SADD " + Filter("correlation_id", "c1") + " " + Id(),
                               "SADD " + Filter("status", "running") + " " + Id(),
                               "SADD " + Filter("stage", "ocr") + " " + Id(),
                               "SADD " + Filter("task_id", "t1") + " " + Id()));
  EXPECT_EQ(this->Ttl(DocumentKey()), -1);
  EXPECT_EQ(this->Ttl(kAll), -1);
}

TYPED_TEST(SearchStoreTest, LeavesTheSetsOfThePresentDocumentFirst) {
  ASSERT_THAT(this->Set(Task("queued")), IsOk());
  const auto log = this->LogOf([&](store::Store& store) {
    SearchStore documents = this->Documents(store);
    return this->Run(documents.SetTaskDocument(Task("running")));
  });
  ASSERT_THAT(log, SizeIs(11));
  EXPECT_EQ(log[1], "SREM " + std::string(kOfService) + " " + Id());
  EXPECT_EQ(log[2], "SREM " + Filter("service_id", "a") + " " + Id());
  EXPECT_EQ(log[3], "SREM " + Filter("task_id", "t1") + " " + Id());
  EXPECT_EQ(log[4], "SREM " + Filter("status", "queued") + " " + Id());
}

TYPED_TEST(SearchStoreTest, LeavesTheSameKeysWithAndWithoutHardening) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Task("queued"), hardened), IsOk());
    ASSERT_THAT(this->Set(Task("running"), hardened), IsOk());
    ASSERT_THAT(this->Set(Found("Pay", {"core"}), hardened), IsOk());
    ASSERT_THAT(this->Set(Found("Buy", {"core", "x"}), hardened), IsOk());
    EXPECT_THAT(this->Members(Filter("status", "queued")), IsEmpty());
    EXPECT_THAT(this->Members(Filter("status", "running")), ElementsAre(Id()));
    EXPECT_THAT(this->Members("studio:search:service:token:pay"), IsEmpty());
    EXPECT_THAT(this->Members("studio:search:service:token:bu"), ElementsAre("a"));
    EXPECT_THAT(this->Members("studio:search:service:filter:tag:x"), ElementsAre("a"));
    // Task keys: the document, the set of all, the set of the service, three filters. Service keys:
    // the document, the set of all, environment, status, two tags; the tokens a, b, bu, buy, c..,
    // p.., x.
    EXPECT_EQ(this->KeyCount(), 6 + 6 + 13) << hardened;
    SearchStore documents = this->Documents(this->store(), hardened);
    EXPECT_THAT(this->Run(documents.DeleteTaskDocument(Id())), IsOk());
    EXPECT_THAT(this->Run(documents.DeleteServiceDocument("a")), IsOk());
    EXPECT_EQ(this->KeyCount(), 0) << hardened;
  }
}

TYPED_TEST(SearchStoreTest, PutsADocumentIntoNoSetOfWhatItDoesNotHave) {
  TaskDocument document = Task(std::nullopt);
  document.correlation_id = "";
  ASSERT_THAT(this->Set(document), IsOk());
  EXPECT_EQ(this->KeyCount(), 5);
}

TYPED_TEST(SearchStoreTest, UsesValuesUnchanged) {
  ASSERT_THAT(this->Set(Task("In Progress: 50%")), IsOk());
  SearchStore documents = this->Documents(this->store());
  EXPECT_THAT(this->Run(documents.TaskIdsWith("status", "In Progress: 50%")),
              IsOkAndHolds(ElementsAre(Id())));
  EXPECT_THAT(this->Run(documents.TaskIdsWith("status", "in progress: 50%")),
              IsOkAndHolds(IsEmpty()));
}

// S4: only the set of all loses the id of a lost document.
TYPED_TEST(SearchStoreTest, LeavesTheIdOfALostDocumentInItsSets) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Task("running")), IsOk());
    this->Ask({"DEL", DocumentKey()});
    SearchStore documents = this->Documents(this->store(), hardened);
    EXPECT_THAT(this->Run(documents.DeleteTaskDocument(Id())), IsOk());
    EXPECT_THAT(this->Members(kAll), IsEmpty());
    EXPECT_THAT(this->Members(Filter("status", "running")), ElementsAre(Id()));
    EXPECT_THAT(this->Members(kOfService), ElementsAre(Id()));
  }
}

TYPED_TEST(SearchStoreTest, DeletesADocumentThatATestWantsGone) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Task("running")), IsOk());
    SearchStore documents = this->Documents(this->store(), hardened);
    const auto is_running = [](const std::optional<TaskDocument>& document) {
      return document && document->status == "running";
    };
    const auto is_none = [](const std::optional<TaskDocument>& document) { return !document; };
    EXPECT_THAT(this->Run(documents.DeleteTaskDocumentIf(Id(), is_none)), IsOkAndHolds(false));
    EXPECT_THAT(this->Run(documents.DeleteTaskDocumentIf(Id(), is_running)), IsOkAndHolds(true));
    EXPECT_EQ(this->KeyCount(), 0);
    this->Ask({"SADD", kAll, "gone"});
    EXPECT_THAT(this->Run(documents.DeleteTaskDocumentIf("gone", is_none)), IsOkAndHolds(true));
    EXPECT_EQ(this->KeyCount(), 0);
  }
}

TYPED_TEST(SearchStoreTest, WritesNothingWhenAChangeLeavesOrRefuses) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    SearchStore documents = this->Documents(this->store(), hardened);
    const SearchStore::TaskChange leave = [](const std::optional<TaskDocument>&) {
      return absl::StatusOr<std::optional<TaskDocument>>(std::nullopt);
    };
    const SearchStore::TaskChange refuse = [](const std::optional<TaskDocument>&) {
      return absl::StatusOr<std::optional<TaskDocument>>(python::ValueError("no"));
    };
    EXPECT_THAT(this->Run(documents.ModifyTaskDocument(Id(), leave)), IsOk());
    EXPECT_EQ(ErrorOf(this->Run(documents.ModifyTaskDocument(Id(), refuse))), "ValueError");
    EXPECT_EQ(this->KeyCount(), 0);
  }
}

TYPED_TEST(SearchStoreTest, FailsOnDocumentsThatAreNone) {
  const std::string_view corrupt[] = {"",
                                      "{bad",
                                      "[]",
                                      "{}",
                                      R"({"service_id": "a"})",
                                      "\xff",
                                      R"({"service_id": 1, "service_name": "A"})"};
  for (const std::string_view text : corrupt) {
    for (const bool hardened : {false, true}) {
      this->Ask({"FLUSHALL"});
      this->Ask({"SET", DocumentKey(), text});
      this->Ask({"SET", "studio:search:service:doc:a", text});
      SearchStore documents = this->Documents(this->store(), hardened);
      const auto any = [](const std::optional<TaskDocument>&) { return true; };
      const SearchStore::ServiceChange rename = [](const std::optional<ServiceDocument>&) {
        return Found("x");
      };
      const absl::Status statuses[] = {
          this->Run(documents.GetTaskDocument(Id())).status(),
          this->Run(documents.GetServiceDocument("a")).status(),
          this->Run(documents.SetTaskDocument(Task("x"))),
          this->Run(documents.SetServiceDocument(Found("x"))),
          this->Run(documents.ModifyTaskDocument(Id(), this->To("x"))),
          this->Run(documents.ModifyServiceDocument("a", rename)),
          this->Run(documents.DeleteTaskDocument(Id())),
          this->Run(documents.DeleteServiceDocument("a")),
          this->Run(documents.DeleteTaskDocumentIf(Id(), any)).status(),
      };
      for (const absl::Status& status : statuses) {
        EXPECT_EQ(ErrorOf(status), "ValidationError") << text;
      }
      EXPECT_EQ(this->KeyCount(), 2) << "nothing was written";
    }
  }
}

TYPED_TEST(SearchStoreTest, FailsOnKeysOfTheWrongTypeAndOnInvalidText) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", Filter("status", "running"), "x"});
    EXPECT_EQ(store::ServerErrorCode(this->Set(Task("running"), hardened)), "WRONGTYPE");
    this->Ask({"FLUSHALL"});
    this->Ask({"SADD", DocumentKey(), "x"});
    EXPECT_EQ(store::ServerErrorCode(this->Set(Task("running"), hardened)), "WRONGTYPE");
    this->Ask({"FLUSHALL"});
    EXPECT_THAT(this->Set(Task("\xff"), hardened), Not(IsOk()));
    EXPECT_THAT(this->Set(Found("\xff"), hardened), Not(IsOk()));
    SearchStore documents = this->Documents(this->store(), hardened);
    EXPECT_THAT(this->Run(documents.ModifyTaskDocument(Id(), this->To("\xff"))), Not(IsOk()));
    const SearchStore::ServiceChange rename = [](const std::optional<ServiceDocument>&) {
      return Found("\xff");
    };
    EXPECT_THAT(this->Run(documents.ModifyServiceDocument("a", rename)), Not(IsOk()));
    EXPECT_EQ(this->KeyCount(), 0);
  }
}

TYPED_TEST(SearchStoreTest, PassesEveryFailureOn) {
  const auto present = [&] { EXPECT_THAT(this->Set(Task("queued")), IsOk()); };
  for (const bool hardened : this->OffAndOn()) {
    const auto with = [&](auto operation) {
      return [this, hardened, operation](store::Store& store) {
        SearchStore documents = this->Documents(store, hardened);
        return operation(documents);
      };
    };
    EXPECT_EQ(
        this->ExpectFailuresPassedOn(present, with([&](SearchStore& documents) {
                                       return this->Run(documents.SetTaskDocument(Task("running")));
                                     })),
        hardened ? 2u : 11u);
    EXPECT_EQ(this->ExpectFailuresPassedOn(present, with([&](SearchStore& documents) {
                                             return this->Run(documents.ModifyTaskDocument(
                                                 Id(), this->To("running")));
                                           })),
              hardened ? 2u : 12u);
    EXPECT_EQ(this->ExpectFailuresPassedOn(present, with([&](SearchStore& documents) {
                                             return this->Run(documents.DeleteTaskDocument(Id()));
                                           })),
              hardened ? 2u : 7u);
    const auto any = [](const std::optional<TaskDocument>&) { return true; };
    EXPECT_EQ(this->ExpectFailuresPassedOn(
                  present, with([&](SearchStore& documents) {
                    return this->Run(documents.DeleteTaskDocumentIf(Id(), any)).status();
                  })),
              hardened ? 2u : 8u);
    const SearchStore::ServiceChange rename = [](const std::optional<ServiceDocument>&) {
      return Found("b");
    };
    EXPECT_EQ(this->ExpectFailuresPassedOn([] {}, with([&](SearchStore& documents) {
                                             return this->Run(
                                                 documents.ModifyServiceDocument("a", rename));
                                           })),
              hardened ? 2u : 12u);
  }
}

TYPED_TEST(SearchStoreTest, WritesOnlyForRegisteredServicesWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  SearchStore documents(this->store(), {.hardening = {.registered_services_only = true}});
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("queued"))), IsOk());
  ASSERT_THAT(this->Run(documents.SetServiceDocument(Found("Pay"))), IsOk());
  ASSERT_THAT(this->Run(documents.ModifyTaskDocument(Id(), this->To("running"))), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
  this->Ask({"SET", "studio:services:by-id:a", "{}"});
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("queued"))), IsOk());
  ASSERT_THAT(this->Run(documents.SetServiceDocument(Found("Pay", {"core"}))), IsOk());
  ASSERT_THAT(this->Run(documents.SetServiceDocument(Found("Buy"))), IsOk());
  EXPECT_EQ(this->Get().value().status, "queued");
  EXPECT_THAT(this->Members("studio:search:service:token:b"), ElementsAre("a"));
  EXPECT_EQ(this->Value("studio:services:by-id:a"), "{}");
  this->Ask({"DEL", "studio:services:by-id:a"});
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("running"))), IsOk());
  EXPECT_EQ(this->Get().value().status, "queued") << "a deletion is under way";
  ASSERT_THAT(this->Run(documents.DeleteTaskDocument(Id())), IsOk());
  ASSERT_THAT(this->Run(documents.DeleteServiceDocument("a")), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SearchStoreTest, SweepsTheIdsOfLostDocuments) {
  SearchStore documents = this->Documents(this->store());
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("queued"))), IsOk());
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("queued", "t2"))), IsOk());
  ASSERT_THAT(this->Run(documents.SetServiceDocument(Found("Pay"))), IsOk());
  this->Ask({"DEL", DocumentKey()});
  this->Ask({"DEL", kAll});
  if (this->in_cluster_layout()) return;
  EXPECT_THAT(this->Run(documents.SweepTaskSets()), IsOkAndHolds(4));
  EXPECT_THAT(this->Members(Filter("status", "queued")), SizeIs(1));
  EXPECT_THAT(this->Members(kOfService), ElementsAre(TaskDocumentId({"a", "t2"})));
  EXPECT_THAT(this->Members(Filter("task_id", "t1")), IsEmpty());
  EXPECT_THAT(this->Run(documents.ServiceIds()), IsOkAndHolds(ElementsAre("a")));
  EXPECT_THAT(this->Run(documents.SweepTaskSets()), IsOkAndHolds(0));
}

// A document that was written after the sweep had missed it keeps its ids.
TYPED_TEST(SearchStoreTest, SweepsNoIdOfADocumentThatIsBack) {
  if (this->in_cluster_layout()) return;
  ASSERT_THAT(this->Set(Task("queued")), IsOk());
  this->Ask({"DEL", DocumentKey()});
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<store::Reply>> {
    if (store.log().back().starts_with("EVAL")) {
      EXPECT_THAT(this->Set(Task("queued")), IsOk());
    }
    return std::nullopt;
  };
  SearchStore documents = this->Documents(store);
  EXPECT_THAT(this->Run(documents.SweepTaskSets()), IsOkAndHolds(0));
  EXPECT_THAT(this->Members(kOfService), SizeIs(1));
}

// A deletion that stopped after it had deleted the record.
TYPED_TEST(SearchStoreTest, SweepsTheDocumentsOfDeletedServices) {
  if (this->in_cluster_layout()) return;
  SearchStore documents = this->Documents(this->store());
  ASSERT_THAT(this->Run(documents.SetServiceDocument(Found("Pay"))), IsOk());
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("queued"))), IsOk());
  ASSERT_THAT(this->Run(documents.SetTaskDocument(Task("queued", "t2"))), IsOk());
  this->Ask({"SET", "studio:services:by-id:a", "{}"});
  EXPECT_THAT(this->Run(documents.SweepDeletedServices()), IsOkAndHolds(0));
  EXPECT_THAT(this->Run(documents.TaskIdsOfService("a")), IsOkAndHolds(SizeIs(2)));
  this->Ask({"DEL", "studio:services:by-id:a"});
  EXPECT_THAT(this->Run(documents.SweepDeletedServices()), IsOkAndHolds(3));
  EXPECT_EQ(this->KeyCount(), 0);
}

// A service that is registered again after the sweep had missed it keeps its documents.
TYPED_TEST(SearchStoreTest, SweepsNoDocumentOfAServiceThatIsBack) {
  if (this->in_cluster_layout()) return;
  ASSERT_THAT(this->Set(Found("Pay")), IsOk());
  ASSERT_THAT(this->Set(Task("queued")), IsOk());
  tests::InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<store::Reply>> {
    if (store.log().back().starts_with("EVAL")) {
      this->Ask({"SET", "studio:services:by-id:a", "{}"});
    }
    return std::nullopt;
  };
  SearchStore documents = this->Documents(store);
  EXPECT_THAT(this->Run(documents.SweepDeletedServices()), IsOkAndHolds(0));
  EXPECT_THAT(this->Run(documents.ServiceIds()), IsOkAndHolds(ElementsAre("a")));
  EXPECT_EQ(this->Get().value().status, "queued");
}

// S1: two writes of one document; the second runs while the first adds the id to its sets.
TYPED_TEST(SearchStoreTest, LeavesADocumentInTheSetOfAStatusItLostUnlessHardened) {
  for (const bool hardened : this->OffAndOn()) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Task("queued")), IsOk());
    const absl::Status status = this->RunWith(
        hardened ? 1 : 5, [&] { EXPECT_THAT(this->Set(Task("failed"), hardened), IsOk()); },
        [&](store::Store& store) {
          SearchStore documents = this->Documents(store, hardened);
          return this->Run(documents.SetTaskDocument(Task("running")));
        });
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(this->Get().value().status, "running");
    EXPECT_THAT(this->Members(Filter("status", "failed")), SizeIs(hardened ? 0 : 1));
  }
}

// S2: the document that is deleted is not the one that was tested.
TYPED_TEST(SearchStoreTest, DeletesAFreshDocumentInPlaceOfTheOldOneUnlessHardened) {
  for (const bool hardened : this->OffAndOn()) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Task("old")), IsOk());
    const auto is_old = [](const std::optional<TaskDocument>& document) {
      return document && document->status == "old";
    };
    const absl::Status status = this->RunWith(
        1, [&] { EXPECT_THAT(this->Set(Task("fresh")), IsOk()); },
        [&](store::Store& store) {
          SearchStore documents = this->Documents(store, hardened);
          return this->Run(documents.DeleteTaskDocumentIf(Id(), is_old)).status();
        });
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(this->Get().has_value(), hardened);
  }
}

// S5: between removing and adding the id, no set has it.
TYPED_TEST(SearchStoreTest, HidesADocumentWhileItIsWritten) {
  ASSERT_THAT(this->Set(Task("queued")), IsOk());
  size_t found = 1;
  const absl::Status status = this->RunWith(
      5, [&] { found = this->Members(kOfService).size(); },
      [&](store::Store& store) {
        SearchStore documents = this->Documents(store);
        return this->Run(documents.SetTaskDocument(Task("queued")));
      });
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(found, 0u);
}

// S6: a change of an older document is written back.
TYPED_TEST(SearchStoreTest, WritesAnOldDocumentBackUnlessHardened) {
  for (const bool hardened : this->OffAndOn()) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Task("queued")), IsOk());
    const SearchStore::TaskChange rename = [](const std::optional<TaskDocument>& present) {
      TaskDocument next = present.value();
      next.service_name = "Renamed";
      return absl::StatusOr<std::optional<TaskDocument>>(next);
    };
    const absl::Status status = this->RunWith(
        1, [&] { EXPECT_THAT(this->Set(Task("completed")), IsOk()); },
        [&](store::Store& store) {
          SearchStore documents = this->Documents(store, hardened);
          return this->Run(documents.ModifyTaskDocument(Id(), rename));
        });
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(this->Get().value().status, hardened ? "completed" : "queued");
    EXPECT_EQ(this->Get().value().service_name, "Renamed");
  }
}

TYPED_TEST(SearchStoreTest, ReturnsTheMembersOfEachSetInOrder) {
  ASSERT_THAT(this->Set(Task("running", "t2")), IsOk());
  ASSERT_THAT(this->Set(Task("running", "t1")), IsOk());
  ASSERT_THAT(this->Set(Found("Pay", {"core"})), IsOk());
  SearchStore documents = this->Documents(this->store());
  const std::string second = TaskDocumentId({"a", "t2"});
  EXPECT_THAT(this->Run(documents.TaskIds()), IsOkAndHolds(ElementsAre(Id(), second)));
  EXPECT_THAT(this->Run(documents.TaskIdsOfService("a")), IsOkAndHolds(ElementsAre(Id(), second)));
  EXPECT_THAT(this->Run(documents.TaskIdsWith("task_id", "t2")), IsOkAndHolds(ElementsAre(second)));
  EXPECT_THAT(this->Run(documents.ServiceIds()), IsOkAndHolds(ElementsAre("a")));
  EXPECT_THAT(this->Run(documents.ServiceIdsWith("tag", "core")), IsOkAndHolds(ElementsAre("a")));
  EXPECT_THAT(this->Run(documents.ServiceIdsOfToken("pa")), IsOkAndHolds(ElementsAre("a")));
  EXPECT_THAT(this->Run(documents.ServiceIdsOfToken("ay")), IsOkAndHolds(IsEmpty()));
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
