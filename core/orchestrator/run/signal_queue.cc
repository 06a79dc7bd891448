#include "redouble/core/orchestrator/run/signal_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/lists.h"

namespace redouble::inline v0_1::orchestrator {

base::Task<absl::Status> PushSignal(store::Store& store, Keys keys, CompletionSignal signal) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string text, FormatSignal(signal));
  co_return co_await PushSignalText(store, keys, std::move(text), keys.ShardOf(signal.run_id));
}

base::Task<absl::Status> PushSignalText(store::Store& store, Keys keys, std::string text,
                                        int64_t shard) {
  const std::string queue = keys.CompletionSignals(shard);
  const absl::StatusOr<int64_t> length = co_await store::RPush(store, queue, text);
  co_return length.status();
}

// Consumers begin at different shards, so that they do not all block on the same one.
SignalQueue::SignalQueue(store::Store& store, Keys keys, SignalQueueOptions options,
                         Hardening hardening)
    : store_(store),
      keys_(keys),
      options_(std::move(options)),
      hardening_(hardening),
      next_shard_(keys.ShardOf(options_.consumer)) {}

base::Task<SignalQueue::Taken> SignalQueue::TakeFrom(int64_t shard,
                                                     std::optional<absl::Duration> block) {
  const std::string queue = keys_.CompletionSignals(shard);
  if (hardening_.reliable_pop) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string processing,
                                 keys_.ProcessingSignals(options_.consumer, shard));
    const store::ListMove move = {.from = queue, .to = processing};
    if (block) co_return Note(co_await store::BLMove(store_, move, *block), shard);
    co_return Note(co_await store::LMove(store_, move), shard);
  }
  if (!block) co_return Note(co_await store::LPop(store_, queue), shard);
  const std::string_view queues[] = {queue};
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<store::PoppedElement> popped,
                               co_await store::BLPop(store_, queues, *block));
  if (!popped) co_return std::nullopt;
  co_return Note(std::move(popped->element), shard);
}

SignalQueue::Taken SignalQueue::Note(Taken taken, int64_t shard) {
  if (keys_.queue_shards() == 1 || !taken.ok() || !*taken) return taken;
  next_shard_ = (shard + 1) % keys_.queue_shards();
  if (hardening_.reliable_pop) taken_[**taken] = shard;
  return taken;
}

base::Task<SignalQueue::Taken> SignalQueue::Take() {
  const absl::Duration block = options_.block.value_or(absl::ZeroDuration());
  if (block <= absl::ZeroDuration()) co_return co_await TakeNow();
  if (keys_.queue_shards() == 1) co_return co_await TakeFrom(0, block);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> taken, co_await TakeNow());
  if (taken) co_return std::move(taken);
  const int64_t shard = next_shard_;
  next_shard_ = (shard + 1) % keys_.queue_shards();
  co_return co_await TakeFrom(shard, std::min(block, kShardWait));
}

base::Task<SignalQueue::Taken> SignalQueue::TakeNow() {
  const int64_t first = next_shard_;
  for (int64_t i = 0; i < keys_.queue_shards(); ++i) {
    const int64_t shard = (first + i) % keys_.queue_shards();
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> taken,
                                 co_await TakeFrom(shard, std::nullopt));
    if (taken) co_return std::move(taken);
  }
  co_return std::nullopt;
}

base::Task<absl::Status> SignalQueue::Done(std::string_view text) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  REDOUBLE_CO_RETURN_IF_ERROR(AddDone(text, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  co_return store::FirstError(replies);
}

absl::Status SignalQueue::AddDone(std::string_view text, store::Batch& batch) {
  if (!hardening_.reliable_pop) return absl::OkStatus();
  int64_t first = 0;
  int64_t last = keys_.queue_shards() - 1;
  if (const auto taken = taken_.find(text); taken != taken_.end()) {
    first = last = taken->second;
    taken_.erase(taken);
  }
  for (int64_t shard = first; shard <= last; ++shard) {
    REDOUBLE_ASSIGN_OR_RETURN(std::string processing,
                              keys_.ProcessingSignals(options_.consumer, shard));
    batch.Add(store::CommandId::kLRem)
        .AddOwned(std::move(processing))
        .AddInteger(1)
        .AddOwned(std::string(text));
  }
  return absl::OkStatus();
}

base::Task<absl::StatusOr<int64_t>> SignalQueue::Recover(std::string_view consumer) {
  int64_t recovered = 0;
  for (int64_t shard = 0; shard < keys_.queue_shards(); ++shard) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t of_shard, co_await RecoverShard(consumer, shard));
    recovered += of_shard;
  }
  co_return recovered;
}

base::Task<absl::StatusOr<int64_t>> SignalQueue::RecoverShard(std::string_view consumer,
                                                              int64_t shard) {
  const std::string queue = keys_.CompletionSignals(shard);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string processing,
                               keys_.ProcessingSignals(consumer, shard));
  const store::ListMove move = {.from = processing,
                                .to = queue,
                                .from_end = store::ListEnd::kRight,
                                .to_end = store::ListEnd::kLeft};
  int64_t recovered = 0;
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> moved,
                                 co_await store::LMove(store_, move));
    if (!moved) co_return recovered;
    ++recovered;
  }
}

}  // namespace redouble::inline v0_1::orchestrator
