#include "core/store/wrappers/tracing_store.h"

#include <string_view>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace redouble::store {
namespace {

constexpr absl::string_view kKindWords[] = {"", "pipeline ", "transaction "};

std::string Commands(const Request& request) {
  std::string out(kKindWords[static_cast<size_t>(request.kind())]);
  absl::string_view separator;
  for (const Command& command : request.commands()) {
    absl::StrAppend(&out, separator, command.DebugString());
    separator = "; ";
  }
  return out;
}

std::string Outcome(const absl::StatusOr<Reply>* result) {
  if (result == nullptr) return "abandoned";
  return result->ok() ? (*result)->DebugString()
                      : absl::StrCat("failed: ", result->status().ToString());
}

}  // namespace

std::string TraceEvent::ToString() const {
  return absl::StrCat(index, " ", submitted_us, " ", ended_us, " ", Commands(*request), " -> ",
                      Outcome(result));
}

base::Task<absl::StatusOr<Reply>> TracingStore::Intercept(const Request& request) {
  const uint64_t index = next_index_++;
  const int64_t submitted_us = clock_.NowMicros();
  const absl::StatusOr<Reply>* ended = nullptr;
  // Also runs when the request is abandoned, which destroys this coroutine at its await.
  absl::Cleanup tell = [&] {
    sink_(TraceEvent{index, submitted_us, clock_.NowMicros(), &request, ended});
  };
  absl::StatusOr<Reply> result = co_await Forward(request);
  ended = &result;
  std::move(tell).Invoke();
  co_return result;
}

}  // namespace redouble::store
