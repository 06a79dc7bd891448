#include "core/relayna/history.h"

#include <algorithm>
#include <utility>

#include "core/python/json.h"
#include "core/store/lists.h"

namespace redouble::relayna {

using python::Value;

base::Task<absl::StatusOr<std::vector<Value>>> ReadHistory(store::Store& store, std::string list,
                                                           int64_t limit) {
  const absl::StatusOr<std::vector<std::string>> elements =
      co_await store::LRange(store, list, 0, std::max<int64_t>(0, limit - 1));
  if (!elements.ok()) co_return elements.status();
  std::vector<Value> events;
  for (const std::string& element : *elements) {
    absl::StatusOr<Value> event = python::ParseJson(element);
    if (!event.ok()) co_return event.status();
    events.push_back(*std::move(event));
  }
  co_return events;
}

}  // namespace redouble::relayna
