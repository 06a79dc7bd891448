#include "core/orchestrator/signal_queue.h"

#include <utility>

#include "core/store/lists.h"

namespace redouble::orchestrator {

base::Task<absl::Status> PushSignal(store::Store& store, Keys keys, CompletionSignal signal) {
  const absl::StatusOr<std::string> text = FormatSignal(signal);
  if (!text.ok()) co_return text.status();
  const std::string queue = keys.CompletionSignals();
  const absl::StatusOr<int64_t> length = co_await store::RPush(store, queue, *text);
  co_return length.status();
}

SignalQueue::SignalQueue(store::Store& store, Keys keys, SignalQueueOptions options)
    : store_(store), keys_(keys), options_(std::move(options)) {}

base::Task<absl::StatusOr<std::optional<std::string>>> SignalQueue::Take() {
  const std::string queue = keys_.CompletionSignals();
  if (options_.pop == PopMode::kReliable) {
    const absl::StatusOr<std::string> processing = keys_.ProcessingSignals(options_.consumer);
    if (!processing.ok()) co_return processing.status();
    const store::ListMove move = {.from = queue, .to = *processing};
    co_return co_await store::BLMove(store_, move, options_.block);
  }
  const std::string_view queues[] = {queue};
  absl::StatusOr<std::optional<store::PoppedElement>> popped =
      co_await store::BLPop(store_, queues, options_.block);
  if (!popped.ok()) co_return popped.status();
  if (!*popped) co_return std::nullopt;
  co_return std::move((*popped)->element);
}

base::Task<absl::StatusOr<std::optional<std::string>>> SignalQueue::TakeNow() {
  const std::string queue = keys_.CompletionSignals();
  if (options_.pop == PopMode::kPlain) co_return co_await store::LPop(store_, queue);
  const absl::StatusOr<std::string> processing = keys_.ProcessingSignals(options_.consumer);
  if (!processing.ok()) co_return processing.status();
  const store::ListMove move = {.from = queue, .to = *processing};
  co_return co_await store::LMove(store_, move);
}

base::Task<absl::Status> SignalQueue::Done(std::string_view text) {
  if (options_.pop == PopMode::kPlain) co_return absl::OkStatus();
  const absl::StatusOr<std::string> processing = keys_.ProcessingSignals(options_.consumer);
  if (!processing.ok()) co_return processing.status();
  const absl::StatusOr<int64_t> removed = co_await store::LRem(store_, *processing, 1, text);
  co_return removed.status();
}

base::Task<absl::StatusOr<int64_t>> SignalQueue::Recover(std::string_view consumer) {
  const std::string queue = keys_.CompletionSignals();
  const absl::StatusOr<std::string> processing = keys_.ProcessingSignals(consumer);
  if (!processing.ok()) co_return processing.status();
  const store::ListMove move = {.from = *processing,
                                .to = queue,
                                .from_end = store::ListEnd::kRight,
                                .to_end = store::ListEnd::kLeft};
  int64_t recovered = 0;
  while (true) {
    const absl::StatusOr<std::optional<std::string>> moved = co_await store::LMove(store_, move);
    if (!moved.ok()) co_return moved.status();
    if (!*moved) co_return recovered;
    ++recovered;
  }
}

}  // namespace redouble::orchestrator
