#include "redouble/core/orchestrator/results/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/results/file_run_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kText =
    R"({"run_id":"run_1","status":"failed","ir":"{}","started_at":"2026-05-09T14:03:02Z",)"
    R"("ended_at":"2026-05-09T14:03:05.5Z","cancel_requested":true,)"
    R"("context":{"A:output":"cas://x"},"outputs":{"A":{"n":1}},"node_id":"B",)"
    R"("failure":{"error_type":"INTERNAL","error_message":"it broke","retryable":true}})";

RunRecord Example() { return ParseRunRecord(kText).value(); }
RunRecord Running(const std::string& run_id) {
  RunRecord record;
  record.run_id = run_id;
  return record;
}

TEST(RunRecord, IsReadAndWritten) {
  const RunRecord record = Example();
  EXPECT_EQ(record.status, RunStatus::kFailed);
  EXPECT_EQ(record.ended_at, *base::ParseRfc3339("2026-05-09T14:03:05.5Z"));
  EXPECT_THAT(record.context, ElementsAre(Pair("A:output", "cas://x")));
  EXPECT_THAT(record.outputs, ElementsAre(Pair("A", R"({"n":1})")));
  EXPECT_EQ(record.failure->error_message, "it broke");
  EXPECT_THAT(FormatRunRecord(record), IsOkAndHolds(kText));
  EXPECT_THAT(FormatRunRecord(Running("r")), IsOkAndHolds(R"({"run_id":"r","status":"running"})"));
}

TEST(RunRecord, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"[]", "run record: "},
      {R"({"run_id":"a:b","status":"running"})", "/run_id: "},
      {R"({"run_id":"r","status":"asleep"})", "/status: expected the status of a run"},
      {R"({"run_id":"r","status":"running","context":[]})", "/context: expected an object"},
      {R"({"run_id":"r","status":"running","context":{"f":1}})", "/context/f: expected a text"},
      {R"({"run_id":"r","status":"running","outputs":7})", "/outputs: expected an object"},
      {R"({"run_id":"r","status":"running","failure":{}})", "/failure/error_type: is missing"},
  };
  for (const auto& [text, message] : rows) {
    EXPECT_THAT(ParseRunRecord(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << text;
  }
}

TEST(RunRecord, IsNotWrittenWithAnOutputThatIsNoJson) {
  RunRecord record = Running("r");
  record.outputs = {{"A", "{"}};
  EXPECT_THAT(FormatRunRecord(record), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Makes the stores of the test below, and opens them again on the same data.
class StoreMaker {
 public:
  explicit StoreMaker(bool in_file) : in_file_(in_file) {
    std::filesystem::remove(path());
    Open();
  }
  RunStore& store() { return *store_; }
  bool in_file() const { return in_file_; }
  static std::string path() { return ::testing::TempDir() + "/runs.jsonl"; }
  void Open() {
    if (!in_file_) {
      if (store_ == nullptr) store_ = std::make_unique<MemoryRunStore>();
      return;
    }
    store_.reset();
    auto opened = FileRunStore::Open(path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

 private:
  const bool in_file_;
  std::unique_ptr<RunStore> store_;
};

class RunStoreTest : public ::testing::TestWithParam<bool> {
 protected:
  std::vector<std::string> Ids(const RunQuery& query) {
    std::vector<std::string> ids;
    const auto page = base::Run(maker_.store().List(query));
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) return ids;
    for (const RunRecord& record : *page) ids.push_back(record.run_id);
    return ids;
  }

  StoreMaker maker_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Stores, RunStoreTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST_P(RunStoreTest, AddsARecordOnce) {
  EXPECT_THAT(base::Run(maker_.store().Insert(Example())), IsOkAndHolds(true));
  EXPECT_THAT(base::Run(maker_.store().Insert(Running("run_1"))), IsOkAndHolds(false));
  maker_.Open();
  const auto found = base::Run(maker_.store().Find("run_1"));
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_THAT(FormatRunRecord(**found), IsOkAndHolds(kText));
  EXPECT_THAT(base::Run(maker_.store().Find("run_2")), IsOkAndHolds(::testing::Eq(std::nullopt)));
}

TEST_P(RunStoreTest, ChangesARecordOrCreatesIt) {
  const auto complete = [](RunRecord& record) { record.status = RunStatus::kCompleted; };
  EXPECT_THAT(base::Run(maker_.store().Insert(Example())), IsOkAndHolds(true));
  EXPECT_THAT(base::Run(maker_.store().Update("run_1", complete)), IsOk());
  EXPECT_THAT(base::Run(maker_.store().Update("run_2", complete)), IsOk());
  maker_.Open();
  const auto found = base::Run(maker_.store().Find("run_1"));
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->status, RunStatus::kCompleted);
  EXPECT_EQ((*found)->node_id, "B");
  RunQuery query;
  query.status = RunStatus::kCompleted;
  EXPECT_THAT(Ids(query), ElementsAre("run_1", "run_2"));
}

TEST_P(RunStoreTest, ListsPagesById) {
  for (const char* id : {"c", "a", "d", "b"}) {
    ASSERT_THAT(base::Run(maker_.store().Insert(Running(id))), IsOkAndHolds(true));
  }
  RunQuery query;
  query.limit = 2;
  EXPECT_THAT(Ids(query), ElementsAre("a", "b"));
  query.after = "b";
  EXPECT_THAT(Ids(query), ElementsAre("c", "d"));
  query.after = "d";
  EXPECT_THAT(Ids(query), IsEmpty());
  query = RunQuery();
  query.status = RunStatus::kFailed;
  EXPECT_THAT(Ids(query), IsEmpty());
}

TEST(FileRunStore, DropsALineThatACrashHasCutOff) {
  StoreMaker maker(/*in_file=*/true);
  ASSERT_THAT(base::Run(maker.store().Insert(Running("whole"))), IsOkAndHolds(true));
  std::ofstream(StoreMaker::path(), std::ios::app) << R"({"run_id":"cut","sta)";
  maker.Open();
  EXPECT_THAT(base::Run(maker.store().Insert(Running("next"))), IsOkAndHolds(true));
  maker.Open();
  const auto page = base::Run(maker.store().List(RunQuery()));
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->size(), 2u);
  EXPECT_EQ((*page)[0].run_id, "next");
  EXPECT_EQ((*page)[1].run_id, "whole");
}

TEST(FileRunStore, WritesEachRecordOnceWhenItIsOpened) {
  StoreMaker maker(/*in_file=*/true);
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(base::Run(maker.store().Update("r", [](RunRecord&) {})), IsOk());
  }
  maker.Open();
  std::ifstream file(StoreMaker::path());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "{\"run_id\":\"r\",\"status\":\"running\"}\n");
}

TEST(FileRunStore, RefusesAFileOfOtherContent) {
  const std::string path = ::testing::TempDir() + "/other.jsonl";
  std::ofstream(path) << "hello\nworld\n";
  EXPECT_THAT(FileRunStore::Open(path).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("line 1: run record: ")));
  EXPECT_THAT(FileRunStore::Open(::testing::TempDir() + "/no/folder").status(),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
