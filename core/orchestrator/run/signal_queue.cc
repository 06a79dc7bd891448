#include "redouble/core/orchestrator/run/signal_queue.h"

#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/lists.h"

namespace redouble::orchestrator {

base::Task<absl::Status> PushSignal(store::Store& store, Keys keys, CompletionSignal signal) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string text, FormatSignal(signal));
  co_return co_await PushSignalText(store, keys, std::move(text));
}

base::Task<absl::Status> PushSignalText(store::Store& store, Keys keys, std::string text) {
  const std::string queue = keys.CompletionSignals();
  const absl::StatusOr<int64_t> length = co_await store::RPush(store, queue, text);
  co_return length.status();
}

SignalQueue::SignalQueue(store::Store& store, Keys keys, SignalQueueOptions options,
                         Hardening hardening)
    : store_(store), keys_(keys), options_(std::move(options)), hardening_(hardening) {}

base::Task<absl::StatusOr<std::optional<std::string>>> SignalQueue::Take() {
  if (options_.block.value_or(absl::ZeroDuration()) <= absl::ZeroDuration()) {
    co_return co_await TakeNow();
  }
  const std::string queue = keys_.CompletionSignals();
  if (hardening_.reliable_pop) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string processing,
                                 keys_.ProcessingSignals(options_.consumer));
    const store::ListMove move = {.from = queue, .to = processing};
    co_return co_await store::BLMove(store_, move, *options_.block);
  }
  const std::string_view queues[] = {queue};
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<store::PoppedElement> popped,
                               co_await store::BLPop(store_, queues, *options_.block));
  if (!popped) co_return std::nullopt;
  co_return std::move(popped->element);
}

base::Task<absl::StatusOr<std::optional<std::string>>> SignalQueue::TakeNow() {
  const std::string queue = keys_.CompletionSignals();
  if (!hardening_.reliable_pop) co_return co_await store::LPop(store_, queue);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string processing,
                               keys_.ProcessingSignals(options_.consumer));
  const store::ListMove move = {.from = queue, .to = processing};
  co_return co_await store::LMove(store_, move);
}

base::Task<absl::Status> SignalQueue::Done(std::string_view text) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  REDOUBLE_CO_RETURN_IF_ERROR(AddDone(text, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  co_return store::FirstError(replies);
}

absl::Status SignalQueue::AddDone(std::string_view text, store::Batch& batch) const {
  if (!hardening_.reliable_pop) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(std::string processing, keys_.ProcessingSignals(options_.consumer));
  batch.Add(store::CommandId::kLRem)
      .AddOwned(std::move(processing))
      .AddInteger(1)
      .AddOwned(std::string(text));
  return absl::OkStatus();
}

base::Task<absl::StatusOr<int64_t>> SignalQueue::Recover(std::string_view consumer) {
  const std::string queue = keys_.CompletionSignals();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string processing, keys_.ProcessingSignals(consumer));
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

}  // namespace redouble::orchestrator
