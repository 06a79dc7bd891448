// SignalQueue: the list of completion signals from workers to coordinators.
//
//   SignalQueue queue(store, keys, {.consumer = "c1"});
//   absl::StatusOr<std::optional<std::string>> text = co_await queue.Take();
//   if (text.ok() && *text) {
//     ...  // Process the signal.
//     const absl::Status done = co_await queue.Done(**text);
//   }
//
// A signal that was taken stays in the coordinator's processing list until Done, so a crash loses
// no signal: Recover moves the signals of a crashed coordinator back to the front of the queue.
// Recovery from a live coordinator repeats signals, which is harmless. Without
// Hardening::reliable_pop the queue uses the original BLPOP: a crash after it loses the signal.
//
// In a cluster the queue and the processing lists share the hash tag {completion_signals}.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.4 and hazards H7, H26.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_SIGNAL_QUEUE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_SIGNAL_QUEUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/hardening.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/store.h"

namespace redouble::orchestrator {

struct SignalQueueOptions {
  std::string consumer = "coordinator";  // Must be unique for each coordinator.
  // How long Take blocks. Nullopt, zero and negative durations: not at all. InfiniteDuration():
  // without limit, as in the original documents. A loop of Take or Coordinator::Poll on a server
  // should block, for example for 5 seconds.
  std::optional<absl::Duration> block = std::nullopt;
};

// Appends a signal. One round trip: RPUSH. Errors: those of FormatSignal and of the store.
base::Task<absl::Status> PushSignal(store::Store& store, Keys keys, CompletionSignal signal);
// As PushSignal, for a text that FormatSignal has returned.
base::Task<absl::Status> PushSignalText(store::Store& store, Keys keys, std::string text);

class SignalQueue {
 public:
  // The store must outlive the queue.
  SignalQueue(store::Store& store, Keys keys, SignalQueueOptions options, Hardening hardening = {});

  const SignalQueueOptions& options() const { return options_; }

  // Returns the text of the next signal, or nullopt after `block`. One round trip. Errors:
  // InvalidArgument for an invalid consumer id, and those of the store.
  base::Task<absl::StatusOr<std::optional<std::string>>> Take();

  // As Take, without blocking.
  base::Task<absl::StatusOr<std::optional<std::string>>> TakeNow();

  // Removes a signal from the processing list (LREM, one round trip). Sends no command without
  // Hardening::reliable_pop.
  base::Task<absl::Status> Done(std::string_view text);
  // Adds the command of Done to a batch, which keeps the text: LREM, or nothing.
  absl::Status AddDone(std::string_view text, store::Batch& batch) const;

  // Moves the signals of `consumer` back to the queue in their order, and returns their number. One
  // round trip (LMOVE) for each signal, and one more.
  base::Task<absl::StatusOr<int64_t>> Recover(std::string_view consumer);

 private:
  store::Store& store_;
  const Keys keys_;
  const SignalQueueOptions options_;
  const Hardening hardening_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_SIGNAL_QUEUE_H_
