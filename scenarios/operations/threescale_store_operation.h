// OnStore: an operation that takes texts, asks one store of the 3scale backend one thing, and gives
// the answer as JSON. Most operations are of that kind, and are a row of their table:
//
//   AddThreescale(table, sessions, "metric.load_id",
//                 OnStore<MetricStore>({"service_id", "name"},
//                                      [](MetricStore& metrics, const Words& words) {
//                                        return metrics.LoadId({words[0], words[1]});
//                                      },
//                                      TextOrNull));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_STORE_OPERATION_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_STORE_OPERATION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/base/task.h"
#include "scenarios/operations/threescale_session.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// The texts that an operation was given, in the order in which it names them.
class Words {
 public:
  Words(sim::ArgumentReader& reader, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) texts_.push_back(Text(reader, name));
  }

  // Empty for a text that was not given.
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

// Answers as JSON.
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
// What the original answers to what has no value.
inline auto Saying(const char* text) {
  return [text] { return sim::Json(text); };
}

template <typename Store, typename Ask, typename Write>
base::Task<sim::OperationResult> RunOnStore(std::shared_ptr<ThreescaleSession> session,
                                            sim::OperationContext context,
                                            const sim::Json& arguments,
                                            std::vector<std::string_view> names, Ask ask,
                                            Write write) {
  sim::ArgumentReader reader(arguments);
  const Words words(reader, names);
  Store store(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const auto answer = co_await ask(store, words);
  if constexpr (std::is_same_v<decltype(answer), const absl::Status>) {
    if (!answer.ok()) co_return answer;
    co_return write();
  } else {
    if (!answer.ok()) co_return answer.status();
    co_return write(*answer);
  }
}

// `ask(store, words)` is a task of the answer, a Status or a StatusOr; `write` makes JSON of what
// it holds.
template <typename Store, typename Ask, typename Write = AsItIs>
ThreescaleOperation OnStore(std::vector<std::string_view> names, Ask ask, Write write = Write()) {
  return [names = std::move(names), ask, write](std::shared_ptr<ThreescaleSession> session,
                                                sim::OperationContext context,
                                                const sim::Json& arguments) {
    return RunOnStore<Store>(std::move(session), context, arguments, names, ask, write);
  };
}

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_STORE_OPERATION_H_
