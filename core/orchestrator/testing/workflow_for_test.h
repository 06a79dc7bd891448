// WorkflowForTest: runs workflows to their end in tests, one command after another.
//
// It owns a coordinator, an approval service and one worker for each task type, and configures the
// output of each node.
//
//   WorkflowForTest workflow(store, clock, keys);
//   workflow.Answer("score", R"({"n":3})");
//   ASSERT_TRUE(workflow.Start("run_1", ir_text).created);
//   workflow.RunAll();
//   EXPECT_THAT(workflow.executed(), ElementsAre("score", "save"));
//
// A node whose id begins with "approve" requests an approval.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_TESTING_WORKFLOW_FOR_TEST_H_
#define REDOUBLE_CORE_ORCHESTRATOR_TESTING_WORKFLOW_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/worker.h"

namespace redouble::inline v0_1::orchestrator {

class WorkflowForTest {
 public:
  WorkflowForTest(store::Store& store, base::Clock& clock, Keys keys,
                  CoordinatorOptions options = {})
      : coordinator_(store, clock, keys, options), approvals_(store, clock, keys) {
    for (const std::string_view type : TaskTypes()) {
      WorkerOptions worker;
      worker.type = std::string(type);
      worker.block = std::nullopt;
      worker.min_idle = absl::ZeroDuration();
      worker.hardening = options.hardening;
      workers_.push_back(std::make_unique<Worker>(
          store, clock, keys, worker,
          [this](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
            return Execute(token);
          }));
    }
  }

  Coordinator& coordinator() { return coordinator_; }
  Approvals& approvals() { return approvals_; }

  // Sets the output of a node, a JSON object. The default is {}.
  void Answer(const std::string& node, std::string data_json) { answers_[node] = data_json; }
  // Makes a node fail.
  void Fail(const std::string& node) { failing_ = node; }

  Started Start(std::string_view run_id, std::string_view ir) {
    absl::StatusOr<Started> started = base::Run(coordinator_.Start(run_id, ir));
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? *started : Started();
  }

  // Runs workers and coordinator until no token and no signal is left.
  void RunAll() {
    bool busy = true;
    for (int i = 0; busy && i < 1000; ++i) {
      busy = false;
      for (const auto& worker : workers_) {
        const absl::StatusOr<WorkReport> report = base::Run(worker->Poll());
        ASSERT_TRUE(report.ok()) << report.status();
        busy = busy || report->total() > 0;
      }
      while (Step()) busy = true;
      if (!busy) busy = Reclaim();
    }
    EXPECT_FALSE(busy) << "the run does not end";
  }

  // Runs each worker and the coordinator once, and ignores errors.
  void TryStep() {
    for (const auto& worker : workers_) (void)base::Run(worker->Poll());
    const auto text = base::Run(coordinator_.queue().TakeNow());
    if (!text.ok() || !*text) return;
    const auto outcome = base::Run(coordinator_.ProcessSignal(**text));
    if (outcome.ok()) (void)base::Run(coordinator_.queue().Done(**text));
  }

  // Reclaims the entries of crashed workers. Returns whether there were any.
  bool Reclaim() {
    int64_t total = 0;
    for (const auto& worker : workers_) {
      const absl::StatusOr<WorkReport> report = base::Run(worker->Reclaim());
      EXPECT_TRUE(report.ok()) << report.status();
      if (report.ok()) total += report->total();
    }
    return total > 0;
  }

  // Processes one signal; nullopt if the queue is empty or an operation failed.
  std::optional<SignalOutcome> Step() {
    const auto text = base::Run(coordinator_.queue().TakeNow());
    if (!text.ok() || !*text) return std::nullopt;
    absl::StatusOr<SignalOutcome> outcome = base::Run(coordinator_.ProcessSignal(**text));
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) return std::nullopt;
    EXPECT_TRUE(base::Run(coordinator_.queue().Done(**text)).ok());
    if (outcome->completed) ++completions_;
    outcomes_.push_back(*outcome);
    return *std::move(outcome);
  }

  const std::vector<std::string>& executed() const { return executed_; }
  const std::vector<SignalOutcome>& outcomes() const { return outcomes_; }
  const std::vector<std::string>& approval_ids() const { return approval_ids_; }
  int completions() const { return completions_; }

 private:
  base::Task<absl::StatusOr<NodeResult>> Execute(const Token& token) {
    executed_.push_back(token.to_node);
    NodeResult result;
    if (token.to_node.starts_with("approve")) {
      ApprovalTerms terms;
      terms.timeout = absl::Hours(2);
      REDOUBLE_CO_ASSIGN_OR_RETURN(const ApprovalRequested requested,
                                   co_await approvals_.Request(token, terms));
      approval_ids_.push_back(requested.approval_id);
      result.deferred = true;
      co_return result;
    }
    if (token.to_node == failing_) co_return absl::InternalError("it broke");
    const auto answer = answers_.find(token.to_node);
    result.data_json = answer == answers_.end() ? "{}" : answer->second;
    result.ref = "cas://" + token.to_node;
    co_return result;
  }

  Coordinator coordinator_;
  Approvals approvals_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::map<std::string, std::string> answers_;
  std::string failing_;
  std::vector<std::string> executed_;
  std::vector<std::string> approval_ids_;
  std::vector<SignalOutcome> outcomes_;
  int completions_ = 0;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_TESTING_WORKFLOW_FOR_TEST_H_
