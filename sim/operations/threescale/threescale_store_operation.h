// OnStore: an operation that reads texts, calls one method of one store of the 3scale backend, and
// returns the answer as JSON. Most operations are rows of this form:
//
//   AddThreescale(table, sessions, "metric.load_id",
//                 OnStore<MetricStore>({"service_id", "name"},
//                                      [](MetricStore& metrics, const Words& words) {
//                                        return metrics.LoadId({words[0], words[1]});
//                                      },
//                                      TextOrNull));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_STORE_OPERATION_H_
#define REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_STORE_OPERATION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/operations/threescale/threescale_session.h"

namespace redouble::inline v0_1::scenarios {

// The text arguments of an operation, in the order of its names.
class Words {
 public:
  Words(sim::ArgumentReader& reader, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) texts_.push_back(Text(reader, name));
  }

  // Returns the text, or "" if it was absent.
  std::string_view operator[](size_t index) const {
    return texts_[index] ? std::string_view(*texts_[index]) : std::string_view();
  }
  std::optional<std::string_view> optional(size_t index) const {
    if (!texts_[index]) return std::nullopt;
    return std::string_view(*texts_[index]);
  }

 private:
  std::vector<std::optional<std::string>> texts_;
};

// Convert answers to JSON.
inline sim::Json TextOrNull(const std::optional<std::string>& text) {
  return text ? sim::Json(*text) : sim::Json();
}
inline sim::Json OneOrZero(bool value) { return sim::Json(value ? 1 : 0); }
struct AsItIs {
  template <typename T>
  sim::Json operator()(const T& value) const {
    return sim::Json(value);
  }
};
// Writes a fixed text, as the original does for methods without a result.
inline auto Saying(const char* text) {
  return [text] { return sim::Json(text); };
}

// Makes the store of an operation, with the options among its arguments if it has any.
template <typename Store>
Store MakeStore(const threescale::Process& process, sim::ArgumentReader& reader) {
  if constexpr (std::is_constructible_v<Store, threescale::Process, threescale::Hardening>) {
    return Store(process, ReadThreescaleHardening(reader));
  } else {
    return Store(process);
  }
}

template <typename Store, typename Ask, typename Write>
base::Task<sim::OperationResult> RunOnStore(std::shared_ptr<ThreescaleSession> session,
                                            sim::OperationContext context,
                                            const sim::Json& arguments,
                                            std::vector<std::string_view> names, Ask ask,
                                            Write write) {
  sim::ArgumentReader reader(arguments);
  const Words words(reader, names);
  Store store = MakeStore<Store>(session->Begin(context, reader), reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const auto answer = co_await ask(store, words);
  if constexpr (std::is_same_v<decltype(answer), const absl::Status>) {
    REDOUBLE_CO_RETURN_IF_ERROR(answer);
    co_return write();
  } else {
    REDOUBLE_CO_RETURN_IF_ERROR(answer.status());
    co_return write(*answer);
  }
}

// `ask(store, words)` returns a task of a Status or a StatusOr; `write` converts its value to JSON.
template <typename Store, typename Ask, typename Write = AsItIs>
ThreescaleOperation OnStore(std::vector<std::string_view> names, Ask ask, Write write = Write()) {
  return [names = std::move(names), ask, write](std::shared_ptr<ThreescaleSession> session,
                                                sim::OperationContext context,
                                                const sim::Json& arguments) {
    return RunOnStore<Store>(std::move(session), context, arguments, names, ask, write);
  };
}

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_STORE_OPERATION_H_
