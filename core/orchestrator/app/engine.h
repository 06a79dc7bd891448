// Engine: all parts of one orchestrator, built from its settings.
//
// Use it in a program that runs workflows; tests of one part can build that part alone. The program
// brings the store, the clock, the durable stores and the functions of its nodes; a test uses the
// memory engine, MemoryRunStore and MemoryArtifacts.
//
//   absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(store, clock, {runs, outputs});
//   (*engine)->AddWorker("http", "http-1", fetch);
//   absl::StatusOr<RunStart> started = co_await (*engine)->StartRun("run_123", ir_text);
//   absl::StatusOr<int64_t> steps = co_await (*engine)->RunUntilIdle();
//   absl::StatusOr<std::optional<RunView>> run = co_await (*engine)->GetRun("run_123");
//   // Beside the workers, until the program ends:
//   co_await (*engine)->service().Run();
//
// Every operation may be repeated after a crash:
//
// * StartRun writes the record of the run, then the keys. After a crash between the two, a repeated
//   call starts the run; without one, the service marks the record as expired.
// * A run that ends is recorded before its keys are deleted, so no result is lost. After a crash
//   between the two, the signal is processed again, the record is written again with the same
//   result, and the keys are deleted.
// * CancelRun notes the intention in the record, ends the run and completes the record. After a
//   crash in between, a repeated call or the next round of the service finishes it.
//
// A run id is used once: the record remembers it after the keys are gone. Two callers that start
// one run at the same time start it once; see StartRun for the exception.
//
// Thread-safety: as Store. The operations of the engine, a loop of the coordinator, a loop of each
// worker and the service's loop may overlap on one thread or strand.
// Source: docs/systems/orchestrator.md 1.5, 4.18 and 4.19.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_APP_ENGINE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_APP_ENGINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/orchestrator/app/service.h"
#include "redouble/core/orchestrator/app/settings.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/graph/patch.h"
#include "redouble/core/orchestrator/results/run_store.h"
#include "redouble/core/orchestrator/run/artifacts.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/monitor.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

// The durable stores. They must outlive the engine.
struct EngineStores {
  RunStore& runs;
  Artifacts& outputs;
};

// The result of StartRun.
struct RunStart {
  bool created = false;                    // False: the run was started before.
  int64_t tokens = 0;                      // The number of tokens that this call published.
  RunStatus status = RunStatus::kRunning;  // After the call.
};

// A run with its durable record and, while it has keys, what Redis knows.
struct RunView {
  RunRecord record;
  std::optional<int64_t> counter;  // The tokens in flight; nullopt if the run has no keys.
  int64_t pending_approvals = 0;
};

enum class CancelOutcome {
  kCancelled,  // By this call or an earlier one.
  kEnded,      // The run had ended before, or ended meanwhile; its result stays.
  kUnknown,    // There is no such run.
};

class Engine {
 public:
  // Everything must outlive the engine. Sends nothing. Errors: InvalidArgument if the instance is
  // not an id.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(store::Store& store, base::Clock& clock,
                                                        EngineStores stores,
                                                        const EngineSettings& settings = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Starts a run from the text of its graph, once for each id. If the run is running, publishes
  // those of its entry tokens again that are not consumed. If it has ended, returns its status.
  //
  // If this call stands still between the record and the keys while another caller starts the same
  // run and that run ends, the run begins a second time; the call notices it and ends the second
  // run as cancelled, but nodes of it may have been executed.
  //
  // Round trips: 3, and one insertion and one look into the run store. Errors: InvalidArgument for
  // an invalid id or graph (nothing is written), and those of the stores.
  base::Task<absl::StatusOr<RunStart>> StartRun(std::string_view run_id, std::string_view ir);

  // Compiles a source workflow (graph/workflow.h) and starts a run of it. As StartRun. Errors also:
  // those of CompileWorkflow.
  base::Task<absl::StatusOr<RunStart>> StartWorkflow(std::string_view run_id,
                                                     std::string_view source_json);

  // Returns a run; nullopt if neither the run store nor Redis knows it. One round trip.
  base::Task<absl::StatusOr<std::optional<RunView>>> GetRun(std::string_view run_id);

  // Returns a page of the run store's records, by id. No round trip to Redis.
  base::Task<absl::StatusOr<std::vector<RunRecord>>> ListRuns(RunQuery query = RunQuery());

  // Ends a run that is running. `reason` becomes the message of its failure, whose type is
  // "cancelled". Tokens in execution are not stopped; their signals find no run. Pending approvals
  // become cancelled. Round trips: 6.
  base::Task<absl::StatusOr<CancelOutcome>> CancelRun(std::string_view run_id,
                                                      std::string_view reason = "");

  // Returns the context of a run, sorted by field: while it has keys from Redis, then from its
  // record. Empty for an unknown run. One round trip.
  base::Task<absl::StatusOr<HashFields>> LoadContext(std::string_view run_id);

  // Returns the output of a node as JSON; nullopt if the node has none, or if the reference in the
  // context names no stored output. One round trip.
  base::Task<absl::StatusOr<std::optional<std::string>>> NodeOutput(std::string_view run_id,
                                                                    std::string_view node_id);

  // Changes the graph of a run. As PatchRun of graph/patch.h.
  base::Task<absl::StatusOr<PatchOutcome>> Patch(std::string_view run_id,
                                                 std::string_view operations_json);

  // Adds a worker with the options of the settings. `consumer` must be unique among all workers of
  // the type. The service reclaims with it. The worker lives as long as the engine.
  Worker& AddWorker(std::string_view type, std::string_view consumer, NodeFunction execute);
  // Adds a worker of `wf.tasks.hitl`, which requests approvals (approvals/approval_worker.h).
  Worker& AddApprovalWorker(std::string_view consumer);

  // Runs workers and coordinator in turn until none of them has work, and returns how many tokens
  // and signals they handled. For tests and programs of one process; a program with an event loop
  // runs a loop for each worker and one for the coordinator.
  base::Task<absl::StatusOr<int64_t>> RunUntilIdle();

  // The coordinator that processes signals: one Poll at a time.
  Coordinator& coordinator() { return coordinator_; }
  Approvals& approvals() { return approvals_; }
  Monitor& monitor() { return monitor_; }
  Service& service() { return service_; }
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }

 private:
  Engine(store::Store& store, base::Clock& clock, EngineStores stores,
         const EngineSettings& settings);

  base::Task<absl::StatusOr<RunStart>> Restart(std::string_view run_id, std::string_view ir,
                                               RunRecord record);
  base::Task<absl::StatusOr<RunStart>> CreateKeys(std::string_view run_id, std::string_view ir);
  base::Task<absl::Status> Record(const RunResult& result);
  base::Task<absl::StatusOr<std::vector<std::pair<std::string, std::string>>>> OutputsOf(
      const HashFields& context);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const EngineStores stores_;
  const EngineSettings settings_;
  const CoordinatorOptions coordinator_options_;
  Coordinator coordinator_;
  Approvals approvals_;
  Monitor monitor_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Coordinator service_coordinator_;
  Service service_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_APP_ENGINE_H_
