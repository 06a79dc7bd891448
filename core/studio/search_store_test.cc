#include "core/studio/search_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/studio/model.h"
#include "core/studio/search_document.h"
#include "tests/support/studio_test.h"

namespace redouble::studio {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
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
    return SearchStore(store, {.hardening = {.atomic_search_documents = hardened}});
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
    return *this->Run(documents.GetTaskDocument(Id()));
  }
  static SearchStore::TaskChange To(const std::string& status) {
    return [status](
               const std::optional<TaskDocument>&) -> absl::StatusOr<std::optional<TaskDocument>> {
      return std::optional<TaskDocument>(Task(status));
    };
  }
};
TYPED_TEST_SUITE(SearchStoreTest, tests::Backends, tests::BackendNames);

// Golden search_task_docs: one round trip each.
TYPED_TEST(SearchStoreTest, WritesADocumentAndEachOfItsSetsByACommandOfItsOwn) {
  TaskDocument document = Task("running");
  document.correlation_id = "c1";
  document.stage = "ocr";
  const auto log = this->LogOf([&](store::Store& store) {
    SearchStore documents = this->Documents(store);
    return this->Run(documents.SetTaskDocument(document));
  });
  EXPECT_THAT(log, ElementsAre("GET " + DocumentKey(),
                               "SET " + DocumentKey() + " " + *ModelJson(ToValue(document)),
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
  ASSERT_TRUE(this->Set(Task("queued")).ok());
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
    ASSERT_TRUE(this->Set(Task("queued"), hardened).ok());
    ASSERT_TRUE(this->Set(Task("running"), hardened).ok());
    ASSERT_TRUE(this->Set(Found("Pay", {"core"}), hardened).ok());
    ASSERT_TRUE(this->Set(Found("Buy", {"core", "x"}), hardened).ok());
    EXPECT_THAT(this->Members(Filter("status", "queued")), IsEmpty());
    EXPECT_THAT(this->Members(Filter("status", "running")), ElementsAre(Id()));
    EXPECT_THAT(this->Members("studio:search:service:token:pay"), IsEmpty());
    EXPECT_THAT(this->Members("studio:search:service:token:bu"), ElementsAre("a"));
    EXPECT_THAT(this->Members("studio:search:service:filter:tag:x"), ElementsAre("a"));
    // Tasks: the document, all, of the service, three filters. The service: the document, all,
    // environment, status, two tags; tokens a, b, bu, buy, c.., p.., x.
    EXPECT_EQ(this->KeyCount(), 6 + 6 + 13) << hardened;
    SearchStore documents = this->Documents(this->store(), hardened);
    EXPECT_TRUE(this->Run(documents.DeleteTaskDocument(Id())).ok());
    EXPECT_TRUE(this->Run(documents.DeleteServiceDocument("a")).ok());
    EXPECT_EQ(this->KeyCount(), 0) << hardened;
  }
}

TYPED_TEST(SearchStoreTest, PutsADocumentIntoNoSetOfWhatItDoesNotHave) {
  TaskDocument document = Task(std::nullopt);
  document.correlation_id = "";
  ASSERT_TRUE(this->Set(document).ok());
  EXPECT_EQ(this->KeyCount(), 5);
}

TYPED_TEST(SearchStoreTest, TakesValuesAsTheyAre) {
  ASSERT_TRUE(this->Set(Task("In Progress: 50%")).ok());
  SearchStore documents = this->Documents(this->store());
  EXPECT_THAT(*this->Run(documents.TaskIdsWith("status", "In Progress: 50%")), ElementsAre(Id()));
  EXPECT_THAT(*this->Run(documents.TaskIdsWith("status", "in progress: 50%")), IsEmpty());
}

// S4: of a document that is lost only the set of all forgets the id.
TYPED_TEST(SearchStoreTest, LeavesTheIdOfALostDocumentInItsSets) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Set(Task("running")).ok());
    this->Ask({"DEL", DocumentKey()});
    SearchStore documents = this->Documents(this->store(), hardened);
    EXPECT_TRUE(this->Run(documents.DeleteTaskDocument(Id())).ok());
    EXPECT_THAT(this->Members(kAll), IsEmpty());
    EXPECT_THAT(this->Members(Filter("status", "running")), ElementsAre(Id()));
    EXPECT_THAT(this->Members(kOfService), ElementsAre(Id()));
  }
}

TYPED_TEST(SearchStoreTest, DeletesADocumentThatATestWantsGone) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Set(Task("running")).ok());
    SearchStore documents = this->Documents(this->store(), hardened);
    const auto is_running = [](const std::optional<TaskDocument>& document) {
      return document && document->status == "running";
    };
    const auto is_none = [](const std::optional<TaskDocument>& document) { return !document; };
    EXPECT_FALSE(*this->Run(documents.DeleteTaskDocumentIf(Id(), is_none)));
    EXPECT_TRUE(*this->Run(documents.DeleteTaskDocumentIf(Id(), is_running)));
    EXPECT_EQ(this->KeyCount(), 0);
    this->Ask({"SADD", kAll, "gone"});
    EXPECT_TRUE(*this->Run(documents.DeleteTaskDocumentIf("gone", is_none)));
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
    EXPECT_TRUE(this->Run(documents.ModifyTaskDocument(Id(), leave)).ok());
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

TYPED_TEST(SearchStoreTest, FailsOnKeysOfAnotherTypeAndOnTextThatIsNone) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", Filter("status", "running"), "x"});
    EXPECT_EQ(store::ServerErrorCode(this->Set(Task("running"), hardened)), "WRONGTYPE");
    this->Ask({"FLUSHALL"});
    this->Ask({"SADD", DocumentKey(), "x"});
    EXPECT_EQ(store::ServerErrorCode(this->Set(Task("running"), hardened)), "WRONGTYPE");
    this->Ask({"FLUSHALL"});
    EXPECT_FALSE(this->Set(Task("\xff"), hardened).ok());
    EXPECT_FALSE(this->Set(Found("\xff"), hardened).ok());
    SearchStore documents = this->Documents(this->store(), hardened);
    EXPECT_FALSE(this->Run(documents.ModifyTaskDocument(Id(), this->To("\xff"))).ok());
    const SearchStore::ServiceChange rename = [](const std::optional<ServiceDocument>&) {
      return Found("\xff");
    };
    EXPECT_FALSE(this->Run(documents.ModifyServiceDocument("a", rename)).ok());
    EXPECT_EQ(this->KeyCount(), 0);
  }
}

TYPED_TEST(SearchStoreTest, PassesEveryFailureOn) {
  const auto present = [&] { EXPECT_TRUE(this->Set(Task("queued")).ok()); };
  for (const bool hardened : {false, true}) {
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

// S1: two writes of one document; the second comes while the first joins its sets.
TYPED_TEST(SearchStoreTest, LeavesADocumentInTheSetOfAStatusItLostUnlessHardened) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Set(Task("queued")).ok());
    const absl::Status status = this->RunWith(
        hardened ? 1 : 5, [&] { EXPECT_TRUE(this->Set(Task("failed"), hardened).ok()); },
        [&](store::Store& store) {
          SearchStore documents = this->Documents(store, hardened);
          return this->Run(documents.SetTaskDocument(Task("running")));
        });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(this->Get()->status, "running");
    EXPECT_THAT(this->Members(Filter("status", "failed")), SizeIs(hardened ? 0 : 1));
  }
}

// S2: what was tested is not what is deleted.
TYPED_TEST(SearchStoreTest, DeletesAFreshDocumentInPlaceOfTheOldOneUnlessHardened) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Set(Task("old")).ok());
    const auto is_old = [](const std::optional<TaskDocument>& document) {
      return document && document->status == "old";
    };
    const absl::Status status = this->RunWith(
        1, [&] { EXPECT_TRUE(this->Set(Task("fresh")).ok()); },
        [&](store::Store& store) {
          SearchStore documents = this->Documents(store, hardened);
          return this->Run(documents.DeleteTaskDocumentIf(Id(), is_old)).status();
        });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(this->Get().has_value(), hardened);
  }
}

// S5: between leaving and joining the document is in no set.
TYPED_TEST(SearchStoreTest, HidesADocumentWhileItIsWritten) {
  ASSERT_TRUE(this->Set(Task("queued")).ok());
  size_t found = 1;
  const absl::Status status = this->RunWith(
      5, [&] { found = this->Members(kOfService).size(); },
      [&](store::Store& store) {
        SearchStore documents = this->Documents(store);
        return this->Run(documents.SetTaskDocument(Task("queued")));
      });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(found, 0u);
}

// S6: a change that was made of an older document is written back.
TYPED_TEST(SearchStoreTest, WritesAnOldDocumentBackUnlessHardened) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Set(Task("queued")).ok());
    const SearchStore::TaskChange rename = [](const std::optional<TaskDocument>& present) {
      std::optional<TaskDocument> next = present;
      next->service_name = "Renamed";
      return absl::StatusOr<std::optional<TaskDocument>>(next);
    };
    const absl::Status status = this->RunWith(
        1, [&] { EXPECT_TRUE(this->Set(Task("completed")).ok()); },
        [&](store::Store& store) {
          SearchStore documents = this->Documents(store, hardened);
          return this->Run(documents.ModifyTaskDocument(Id(), rename));
        });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(this->Get()->status, hardened ? "completed" : "queued");
    EXPECT_EQ(this->Get()->service_name, "Renamed");
  }
}

TYPED_TEST(SearchStoreTest, GivesTheMembersOfEachSetInOrder) {
  ASSERT_TRUE(this->Set(Task("running", "t2")).ok());
  ASSERT_TRUE(this->Set(Task("running", "t1")).ok());
  ASSERT_TRUE(this->Set(Found("Pay", {"core"})).ok());
  SearchStore documents = this->Documents(this->store());
  const std::string second = TaskDocumentId({"a", "t2"});
  EXPECT_THAT(*this->Run(documents.TaskIds()), ElementsAre(Id(), second));
  EXPECT_THAT(*this->Run(documents.TaskIdsOfService("a")), ElementsAre(Id(), second));
  EXPECT_THAT(*this->Run(documents.TaskIdsWith("task_id", "t2")), ElementsAre(second));
  EXPECT_THAT(*this->Run(documents.ServiceIds()), ElementsAre("a"));
  EXPECT_THAT(*this->Run(documents.ServiceIdsWith("tag", "core")), ElementsAre("a"));
  EXPECT_THAT(*this->Run(documents.ServiceIdsOfToken("pa")), ElementsAre("a"));
  EXPECT_THAT(*this->Run(documents.ServiceIdsOfToken("ay")), IsEmpty());
}

}  // namespace
}  // namespace redouble::studio
