#include "redouble/core/relayna/sdk/sdk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/relayna/testing/relayna_for_test.h"
#include "redouble/core/relayna/tokens.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using python::Object;
using python::Value;
using store::Reply;
using ::testing::ElementsAre;

template <typename Backend>
class SdkTest : public RelaynaTest<Backend> {
 protected:
  static Value Event() {
    return Object({{"task_id", "t1"}, {"status", "queued"}, {"event_id", "e1"}});
  }
  static Observation Received() {
    return {"TaskMessageReceived", Object({{"task_id", "t1"}, {"component", "consumer"}})};
  }
};
TYPED_TEST_SUITE(SdkTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(SdkTest, BuildsTheStoresOfTheLifespan) {
  Sdk sdk(this->store(), this->Options(SdkSettings()));
  ASSERT_THAT(this->Run(sdk.statuses().SetHistory("t1", this->Event())), IsOk());
  ASSERT_NE(sdk.observations(), nullptr);
  ASSERT_THAT(this->Run(sdk.observations()->SetEvent(this->Received())), IsOkAndHolds(true));
  EXPECT_EQ(this->Ttl("relayna:history:t1"), 86400);
  EXPECT_EQ(this->Ttl("relayna-observations:history:t1"), 86400);
  EXPECT_EQ(this->Ttl("relayna-service-events:feed"), 86400);
  EXPECT_EQ(this->Ask({"LLEN", "relayna-service-events:feed"}), Reply::Integer(2))
      << "of both stores";
  ASSERT_NE(sdk.feed(), nullptr);
  EXPECT_EQ(sdk.dlq(), nullptr) << "not without a prefix";
}

TYPED_TEST(SdkTest, InheritsTheTtlOfTheStatusStore) {
  SdkSettings settings = this->Options(SdkSettings());
  settings.store_ttl_seconds = 60;
  settings.dlq_store_prefix = "d";
  Sdk sdk(this->store(), settings);
  ASSERT_THAT(this->Run(sdk.statuses().SetHistory("t1", this->Event())), IsOk());
  ASSERT_THAT(this->Run(sdk.observations()->SetEvent(this->Received())), IsOk());
  EXPECT_EQ(this->Ttl("relayna-observations:history:t1"), 60);
  EXPECT_EQ(this->Ttl("relayna-service-events:feed"), 60);
  DlqRecord record;
  record.dlq_id = "x";
  ASSERT_NE(sdk.dlq(), nullptr);
  ASSERT_THAT(this->Run(sdk.dlq()->Add(record)), IsOk());
  EXPECT_EQ(this->Ttl("d:dlq:record:x"), -1) << "the TTL of the DLQ is not inherited";
}

TYPED_TEST(SdkTest, LeavesOutWhatHasNoPrefix) {
  SdkSettings settings = this->Options(SdkSettings());
  settings.observation_store_prefix = std::nullopt;
  settings.service_event_store_prefix = std::nullopt;
  settings.store_ttl_seconds = std::nullopt;
  Sdk sdk(this->store(), settings);
  EXPECT_EQ(sdk.observations(), nullptr);
  EXPECT_EQ(sdk.feed(), nullptr);
  ASSERT_THAT(this->Run(sdk.statuses().SetHistory("t1", this->Event())), IsOk());
  EXPECT_EQ(this->Ttl("relayna:history:t1"), -1);
  EXPECT_EQ(this->Ask({"EXISTS", "relayna-service-events:feed"}), Reply::Integer(0));
}

TYPED_TEST(SdkTest, ReadsExecutionGraphs) {
  SdkSettings settings = this->Options(SdkSettings());
  settings.dlq_store_prefix = "d";
  Sdk sdk(this->store(), settings);
  ASSERT_THAT(this->Run(sdk.statuses().SetHistory("t1", this->Event())), IsOk());
  ASSERT_THAT(this->Run(sdk.observations()->SetEvent(this->Received())), IsOk());
  DlqRecord record;
  record.dlq_id = "x";
  record.task_id = "t1";
  ASSERT_THAT(this->Run(sdk.dlq()->Add(record)), IsOk());
  ExecutionGraphService executions = sdk.Executions(ExecutionTopology::kSharedTasks);
  const auto graph = this->Run(executions.GetGraph("t1"));
  ASSERT_THAT(graph, IsOk());
  ASSERT_TRUE(graph->has_value());
  std::vector<std::string> kinds;
  for (const ExecutionGraphNode& node : (*graph)->nodes) kinds.push_back(node.kind);
  EXPECT_THAT(kinds, ElementsAre("status_event", "task_attempt", "task", "dlq_record"))
      << "one record of each store";
}

TYPED_TEST(SdkTest, PassesTheHardeningOn) {
  SdkSettings settings = this->Options(SdkSettings());
  settings.hardening.owner_token = "p1";
  settings.workflow_prefix = "w";
  settings.workflow_ttl_seconds = 30;
  Sdk sdk(this->store(), settings);
  WorkflowContract contract;
  contract.stage = "ocr";
  contract.task_id = "t1";
  ASSERT_THAT(this->Run(sdk.workflow_contracts().AcquireDedup(contract)), IsOk());
  const Value payload = Object();
  const std::string signature =
      WorkflowSignature(
          {.task_id = "t1", .action = contract.action, .payload = &payload, .dedup_key_fields = {}})
          .value();
  const std::string key = WorkflowKeys("w", this->layout()).Dedup({"ocr", "t1"}, signature);
  EXPECT_EQ(this->Ask({"GET", key}), Reply::Bulk("p1"));
  EXPECT_EQ(this->Ttl(key), 30);
}

// Without TTLs, keys that no client uses are deleted on demand.
TYPED_TEST(SdkTest, DeletesWhatIsUnused) {
  SdkSettings settings = this->Options(SdkSettings());
  settings.store_ttl_seconds = std::nullopt;
  settings.workflow_ttl_seconds = std::nullopt;
  settings.dlq_store_prefix = settings.store_prefix;
  Sdk sdk(this->store(), settings);
  const auto store = [&](std::string_view task, std::string_view event_id) {
    const Value event = Object({{"task_id", task},
                                {"status", "queued"},
                                {"event_id", event_id},
                                {"meta", Object({{"parent_task_id", "p"}})}});
    return this->Run(sdk.statuses().SetHistory(task, event));
  };
  ASSERT_THAT(store("t1", "e1"), IsOk());
  ASSERT_THAT(store("t2", "e2"), IsOk());
  ASSERT_THAT(this->Run(sdk.observations()->SetEvent(this->Received())), IsOkAndHolds(true));
  WorkflowContract contract;
  contract.stage = "ocr";
  contract.task_id = "t1";
  ASSERT_THAT(this->Run(sdk.workflow_contracts().AcquireDedup(contract)), IsOk());
  DlqRecord record;
  record.dlq_id = "x";
  ASSERT_THAT(this->Run(sdk.dlq()->Add(record)), IsOk());
  this->Ask({"SET", "other:history:t1", "x"});
  const int64_t keys = this->KeyCount();

  this->Advance(absl::Hours(1));
  ASSERT_THAT(this->Run(sdk.statuses().GetHistory("t2")), IsOk());
  this->Advance(absl::Hours(1));
  ASSERT_OK_AND_ASSIGN(const store::UnusedKeysReport early,
                       this->Run(sdk.DeleteUnused(absl::Hours(3))));
  EXPECT_EQ(early.deleted, 0);
  EXPECT_EQ(early.expiring, 7) << "markers of two statuses, an observation, the feed, a contract";
  ASSERT_OK_AND_ASSIGN(const store::UnusedKeysReport report,
                       this->Run(sdk.DeleteUnused(absl::Hours(2))));
  EXPECT_EQ(report.deleted, 3) << "the history of t1, the children of p, the observations";
  EXPECT_EQ(report.expiring, 0) << "they have a TTL";
  EXPECT_EQ(this->KeyCount(), keys - 3);
  EXPECT_THAT(this->Run(sdk.statuses().GetLatest("t1")), IsOkAndHolds(::testing::Eq(std::nullopt)));
  EXPECT_THAT(this->Run(sdk.statuses().GetHistory("t2")).value(), ::testing::SizeIs(1));
  EXPECT_THAT(this->Run(sdk.feed()->GetFeed()).value().items, ::testing::SizeIs(3));
  EXPECT_THAT(this->Run(sdk.dlq()->ListRecords({})).value().records, ::testing::SizeIs(1));
  EXPECT_EQ(this->Ask({"EXISTS", "other:history:t1"}), Reply::Integer(1));
  this->Advance(absl::Hours(1));
  ASSERT_THAT(store("t1", "e1"), IsOk());
  EXPECT_THAT(this->Run(sdk.statuses().GetLatest("t1")), IsOkAndHolds(::testing::Eq(std::nullopt)))
      << "a duplicate";
  this->Advance(absl::Hours(3));
  ASSERT_THAT(store("t1", "e1"), IsOk());
  EXPECT_THAT(this->Run(sdk.statuses().GetHistory("t1")).value(), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
