// TracingStore: tells a sink of every request that passes, in a canonical form: equal runs give
// equal events, on every machine.
//
//   std::vector<std::string> lines;
//   TracingStore traced(store, clock, [&](const TraceEvent& event) {
//     lines.push_back(event.ToString());
//   });
//   // 0 1767225600000000 1767225600000000 GET "key" -> nil
//
// A recording is a sink that keeps what it needs.
//
// Thread-safety: as the store behind it.
#ifndef REDOUBLE_CORE_STORE_WRAPPERS_TRACING_STORE_H_
#define REDOUBLE_CORE_STORE_WRAPPERS_TRACING_STORE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "core/store/wrappers/intercepting_store.h"

namespace redouble::store {

// One request and what became of it. The pointers are good during the sink's call.
struct TraceEvent {
  uint64_t index;                       // Of the request among those of its TracingStore, from 0.
  int64_t submitted_us;                 // When it came; microseconds since the epoch.
  int64_t ended_us;                     // When it was completed or abandoned.
  const Request* request;               // Its kind and commands.
  const absl::StatusOr<Reply>* result;  // Null when it was abandoned.

  // One line: index, both times, the commands, and the reply, "failed: " with the status, or
  // "abandoned". The commands of a batch stand behind "pipeline" or "transaction", with semicolons.
  std::string ToString() const;
};

using TraceSink = std::function<void(const TraceEvent&)>;

class TracingStore final : public InterceptingStore {
 public:
  // `inner` and `clock` must outlive this store. The sink is called once for each request, when it
  // ends; so events come in the order of their ends.
  TracingStore(Store& inner, const base::Clock& clock, TraceSink sink)
      : InterceptingStore(inner), clock_(clock), sink_(std::move(sink)) {}

 private:
  base::Task<absl::StatusOr<Reply>> Intercept(const Request& request) override;

  const base::Clock& clock_;
  TraceSink sink_;
  uint64_t next_index_ = 0;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_WRAPPERS_TRACING_STORE_H_
