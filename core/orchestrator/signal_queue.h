// SignalQueue: the list through which workers tell coordinators what they have completed.
//
//   SignalQueue queue(store, keys, {.consumer = "c1"});
//   absl::StatusOr<std::optional<std::string>> text = co_await queue.Take();
//   ...                                     // process it
//   co_await queue.Done(**text);
//
// A signal that is taken waits in the coordinator's own processing list until it is done with, so
// that a crash loses nothing: Recover puts what a dead coordinator has in hand back to the front of
// the queue. Recovering from one that lives makes a signal come twice, which does no harm. The
// documents' own way, a plain BLPOP, is an option: a crash behind it loses the signal.
//
// In a cluster the queue and the processing lists share the tag {completion_signals}.
//
// Thread-safety: as Store.
// Source: seed 001 "completion_signals"; reference/orchestrator.md sections 4 and 10 (7, 26).
#ifndef REDOUBLE_CORE_ORCHESTRATOR_SIGNAL_QUEUE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_SIGNAL_QUEUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/messages.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

// How a coordinator takes a signal.
enum class PopMode {
  kReliable,  // BLMOVE to the processing list.
  kPlain,     // BLPOP, as the seed does.
};

struct SignalQueueOptions {
  std::string consumer = "coordinator";  // An id of its own for every coordinator.
  PopMode pop = PopMode::kReliable;
  // How long to wait for a signal; zero: for ever, which the seed does.
  absl::Duration block = absl::Seconds(5);
};

// Appends a signal. One round trip: RPUSH. Errors: those of FormatSignal and of the store.
base::Task<absl::Status> PushSignal(store::Store& store, Keys keys, CompletionSignal signal);

class SignalQueue {
 public:
  // The store must outlive the queue.
  SignalQueue(store::Store& store, Keys keys, SignalQueueOptions options);

  const SignalQueueOptions& options() const { return options_; }

  // The next signal's text; none when none came in time. One round trip. Errors: InvalidArgument
  // for a consumer that is no id, and those of the store.
  base::Task<absl::StatusOr<std::optional<std::string>>> Take();

  // As Take, without waiting.
  base::Task<absl::StatusOr<std::optional<std::string>>> TakeNow();

  // Forgets a signal that was taken. LREM; nothing when signals are popped plainly.
  base::Task<absl::Status> Done(std::string_view text);

  // Puts back what `consumer` has in hand, in the order in which it took it. How many. One LMOVE
  // per signal and one more.
  base::Task<absl::StatusOr<int64_t>> Recover(std::string_view consumer);

 private:
  store::Store& store_;
  const Keys keys_;
  const SignalQueueOptions options_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_SIGNAL_QUEUE_H_
