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
// In a cluster the queue and the processing lists share the hash tag {completion_signals}. With
// several shards (keys.h) each shard is such a queue; they are read in turn, so that no shard waits
// for another.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.4 and hazards H7, H26.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_SIGNAL_QUEUE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_SIGNAL_QUEUE_H_

#include <cstdint>
#include <functional>
#include <map>
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

namespace redouble::inline v0_1::orchestrator {

struct SignalQueueOptions {
  std::string consumer = "coordinator";  // Must be unique for each coordinator.
  // How long Take blocks. Nullopt, zero and negative durations: not at all. InfiniteDuration():
  // without limit, as in the original documents. A loop of Take or Coordinator::Poll on a server
  // should block, for example for 5 seconds. With several shards a call blocks on one of them, for
  // at most kShardWait; the next call, on the next one.
  std::optional<absl::Duration> block = std::nullopt;
};

// How long a read of several shards blocks on one of them.
inline constexpr absl::Duration kShardWait = absl::Seconds(1);

// Appends a signal to the shard of its run. One round trip: RPUSH. Errors: those of FormatSignal
// and of the store.
base::Task<absl::Status> PushSignal(store::Store& store, Keys keys, CompletionSignal signal);
// As PushSignal, for a text that FormatSignal has returned, of a run of a shard.
base::Task<absl::Status> PushSignalText(store::Store& store, Keys keys, std::string text,
                                        int64_t shard);

class SignalQueue {
 public:
  // The store must outlive the queue.
  SignalQueue(store::Store& store, Keys keys, SignalQueueOptions options, Hardening hardening = {});

  const SignalQueueOptions& options() const { return options_; }

  // Returns the text of the next signal, or nullopt after `block`. One round trip; with several
  // shards one for each shard that is empty, and one more. Errors: InvalidArgument for an invalid
  // consumer id, and those of the store.
  base::Task<absl::StatusOr<std::optional<std::string>>> Take();

  // As Take, without blocking.
  base::Task<absl::StatusOr<std::optional<std::string>>> TakeNow();

  // Removes a signal from the processing list (LREM, one round trip). Sends no command without
  // Hardening::reliable_pop.
  base::Task<absl::Status> Done(std::string_view text);
  // Adds the command of Done to a batch, which keeps the text: LREM, or nothing. A text that this
  // object did not take is removed from the processing lists of all shards.
  absl::Status AddDone(std::string_view text, store::Batch& batch);

  // Moves the signals of `consumer` back to the queues in their order, and returns their number.
  // One round trip (LMOVE) for each signal, and one more for each shard.
  base::Task<absl::StatusOr<int64_t>> Recover(std::string_view consumer);
  // As Recover, for one shard.
  base::Task<absl::StatusOr<int64_t>> RecoverShard(std::string_view consumer, int64_t shard);

 private:
  using Taken = absl::StatusOr<std::optional<std::string>>;

  // Takes from one shard, without blocking if `block` is nullopt.
  base::Task<Taken> TakeFrom(int64_t shard, std::optional<absl::Duration> block);
  // Notes the shard of what was taken. The next read begins after it.
  Taken Note(Taken taken, int64_t shard);

  store::Store& store_;
  const Keys keys_;
  const SignalQueueOptions options_;
  const Hardening hardening_;
  int64_t next_shard_;
  std::map<std::string, int64_t, std::less<>> taken_;  // Shards of texts; empty with one shard.
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_SIGNAL_QUEUE_H_
