#include "redouble/core/relayna/history.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/typed/lists.h"

namespace redouble::inline v0_1::relayna {

using python::Value;

base::Task<absl::StatusOr<std::vector<Value>>> ReadHistory(store::Store& store, std::string list,
                                                           int64_t limit) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::vector<std::string> elements,
      co_await store::LRange(store, list, 0, std::max<int64_t>(0, limit - 1)));
  std::vector<Value> events;
  for (const std::string& element : elements) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(Value event, python::ParseJson(element));
    events.push_back(std::move(event));
  }
  co_return events;
}

}  // namespace redouble::inline v0_1::relayna
