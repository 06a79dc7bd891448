// Worker: takes tokens of one type from their stream, executes them, and tells the coordinators.
//
//   Worker worker(store, clock, keys, {.type = "http", .consumer = "http-1"},
//                 [](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> { ... });
//   co_await worker.EnsureGroup();
//   while (running) {
//     absl::StatusOr<WorkReport> report = co_await worker.Poll();
//     ...
//     co_await worker.Reclaim();   // once in a while
//   }
//
// A token is executed at least once. The signal is pushed before the entry is acknowledged, so that
// a crash in between only repeats it. What a worker had in hand when it crashed, another one takes
// over by Reclaim; min_idle must be longer than the longest execution, or two execute the token. A
// token that was delivered too often without being acknowledged fails its run instead.
//
// The group reads its stream from the beginning: a group at `$`, as in the seed's example, never
// sees what was added before it (reference 5.2, 15.8).
//
// Errors: those of the store; the entry stays pending then, and is delivered again.
//
// Thread-safety: as Store; one call at a time.
// Source: seed 001 "wf.tasks.{type}"; reference/orchestrator.md sections 5.2 and 10 (8, 9), D8.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_WORKER_H_
#define REDOUBLE_CORE_ORCHESTRATOR_WORKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/messages.h"
#include "core/store/store.h"
#include "core/store/stream_types.h"

namespace redouble::orchestrator {

// What the execution of a node gave.
struct NodeResult {
  std::string data_json;  // An object; empty: only the reference.
  std::string ref;        // Where the output is kept; empty: the coordinator keeps `data_json`.
  // The worker sends no signal: somebody else will, as when the token waits for an approval.
  bool deferred = false;
};

// Executes a token. An error makes the node, and with it the run, fail. The token outlives the
// task.
using NodeFunction = std::function<base::Task<absl::StatusOr<NodeResult>>(const Token& token)>;

struct WorkerOptions {
  std::string type = "function";  // Whose stream to read.
  std::string group = "workers";
  std::string consumer = "worker-1";  // Of its own for every worker.
  // How long to wait for a token; none: not at all.
  std::optional<absl::Duration> block = absl::Seconds(5);
  // How long an entry has to be pending before Reclaim takes it over.
  absl::Duration min_idle = absl::Seconds(60);
  int64_t max_deliveries = 5;
  int64_t reclaim_count = 10;  // How many entries one Reclaim takes over at most.
  // Removes entries once they are acknowledged; otherwise the stream keeps them.
  bool delete_acknowledged = false;
  bool group_at_end = false;  // The seed's `$`: loses what was added before. For tests.
};

// What one call did.
struct WorkReport {
  int64_t executed = 0;
  int64_t failed = 0;         // Executions that gave an error; each has failed its run.
  int64_t skipped = 0;        // Already consumed: acknowledged without executing.
  int64_t dead_lettered = 0;  // Delivered too often: failed without executing.
  int64_t unreadable = 0;     // No token in it: acknowledged, nothing else can be done.

  int64_t total() const { return executed + failed + skipped + dead_lettered + unreadable; }
};

class Worker {
 public:
  // Store and clock must outlive the worker.
  Worker(store::Store& store, base::Clock& clock, Keys keys, WorkerOptions options,
         NodeFunction execute);

  // Creates the consumer group, and the stream; both may be there. One round trip.
  base::Task<absl::Status> EnsureGroup();

  // Reads one token and executes it. Nothing when none came in time. Creates the group when it is
  // missing. Four round trips: read, ask whether it is consumed, signal, acknowledge.
  base::Task<absl::StatusOr<WorkReport>> Poll();

  // Takes over entries that were pending for min_idle, of whichever consumer, and executes them.
  // Two round trips, and three per entry.
  base::Task<absl::StatusOr<WorkReport>> Reclaim();

 private:
  base::Task<absl::StatusOr<std::optional<store::StreamEntry>>> Read();
  base::Task<absl::Status> Handle(const store::StreamEntry& entry, int64_t deliveries,
                                  WorkReport& report);
  base::Task<absl::Status> Execute(const Token& token, WorkReport& report);
  base::Task<absl::Status> Acknowledge(const store::StreamEntry& entry);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const WorkerOptions options_;
  const std::string stream_;
  const NodeFunction execute_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_WORKER_H_
