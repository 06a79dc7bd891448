#include "redouble/core/relayna/execution/execution_graph_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/relayna/testing/relayna_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using python::Object;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Eq;
using tests::InterceptedStore;

// A task with a status, a child with an attempt, and a dead letter of each.
template <typename Backend>
class ExecutionGraphServiceTest : public RelaynaTest<Backend> {
 protected:
  void SetUp() override {
    RelaynaTest<Backend>::SetUp();
    store_.emplace(this->store());
    statuses_.emplace(*store_, this->Options(StatusOptions()));
    observations_.emplace(*store_, this->Options(ObservationOptions()));
    dlq_.emplace(*store_, this->Options(DlqOptions()));
  }

  void Write() {
    const python::Value parent = Object({{"task_id", "t1"}, {"status", "queued"}});
    const python::Value child =
        Object({{"task_id", "c1"}, {"meta", Object({{"parent_task_id", "t1"}})}});
    ASSERT_THAT(this->Run(statuses_->SetHistory("t1", parent)), IsOk());
    ASSERT_THAT(this->Run(statuses_->SetHistory("c1", child)), IsOk());
    ASSERT_THAT(this->Run(observations_->SetEvent(
                    {"AggregationMessageReceived", Object({{"task_id", "c1"}})})),
                IsOkAndHolds(true));
    for (const std::string id : {"t1", "c1"}) {
      DlqRecord record;
      record.dlq_id = "of " + id;
      record.task_id = id;
      ASSERT_THAT(this->Run(dlq_->Add(record)), IsOk());
    }
  }

  std::optional<InterceptedStore> store_;
  std::optional<StatusStore> statuses_;
  std::optional<ObservationStore> observations_;
  std::optional<DlqStore> dlq_;
};
TYPED_TEST_SUITE(ExecutionGraphServiceTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ExecutionGraphServiceTest, ReadsTheTaskAndItsChildren) {
  this->Write();
  ExecutionGraphService executions(ExecutionTopology::kSharedTasksShardedAggregation,
                                   *this->statuses_, &*this->observations_, &*this->dlq_);
  const size_t before = this->store_->requests();
  const auto graph = this->Run(executions.GetGraph("t1"));
  ASSERT_THAT(graph, IsOk());
  ASSERT_TRUE(graph->has_value());
  // The children, two histories of each task, and the list with both records for each task.
  EXPECT_EQ(this->store_->requests() - before, 1u + 2 * 2 + 2 * 3);
  std::vector<std::string> ids;
  for (const ExecutionGraphNode& node : (*graph)->nodes) ids.push_back(node.id);
  EXPECT_THAT(ids,
              ElementsAre("aggregation_child:c1", "status:c1:1", "status:t1:1", "task-attempt:c1:1",
                          "task:t1", "dlq:c1:record:1", "dlq:t1:record:1"));
  EXPECT_THAT((*graph)->related_task_ids, ElementsAre("c1"));
  EXPECT_EQ((*graph)->summary.status, "queued");
  EXPECT_EQ((*graph)->summary.graph_completeness, "full");
}

TYPED_TEST(ExecutionGraphServiceTest, NeedsTheStatusStoreOnly) {
  this->Write();
  ExecutionGraphService executions(ExecutionTopology::kSharedTasks, *this->statuses_);
  const size_t before = this->store_->requests();
  const auto graph = this->Run(executions.GetGraph("c1"));
  ASSERT_THAT(graph, IsOk());
  ASSERT_TRUE(graph->has_value());
  EXPECT_EQ(this->store_->requests() - before, 2u);
  EXPECT_EQ((*graph)->summary.graph_completeness, "partial");
}

TYPED_TEST(ExecutionGraphServiceTest, HasNoGraphWithoutRecords) {
  ExecutionGraphService executions(ExecutionTopology::kSharedTasks, *this->statuses_,
                                   &*this->observations_, &*this->dlq_);
  EXPECT_THAT(this->Run(executions.GetGraph("t1")), IsOkAndHolds(Eq(std::nullopt)));
}

// The reads of a task without children: children, statuses, observations, DLQ.
TYPED_TEST(ExecutionGraphServiceTest, ReturnsTheErrorsOfItsReads) {
  this->Write();
  ExecutionGraphService executions(ExecutionTopology::kSharedTasks, *this->statuses_,
                                   &*this->observations_, &*this->dlq_);
  for (size_t failing = 0; failing < 4; ++failing) {
    const size_t begin = this->store_->requests();
    this->store_->on_request = [=](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != begin + failing) return std::nullopt;
      return absl::UnavailableError("lost");
    };
    EXPECT_EQ(this->Run(executions.GetGraph("c1")).status().code(), absl::StatusCode::kUnavailable)
        << failing;
  }
}

TYPED_TEST(ExecutionGraphServiceTest, ReturnsTheErrorsOfTheRecords) {
  ExecutionGraphService executions(ExecutionTopology::kSharedTasks, *this->statuses_);
  this->Ask({"LPUSH", "task:history:t1", "[]"});
  EXPECT_EQ(this->Run(executions.GetGraph("t1")).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
