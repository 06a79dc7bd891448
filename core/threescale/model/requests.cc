#include "redouble/core/threescale/model/requests.h"

#include <string_view>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::threescale {

base::Task<absl::StatusOr<OptionalTexts>> GetAll(store::Store& store,
                                                 std::vector<std::string> keys) {
  if (keys.empty()) co_return OptionalTexts();
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  co_return co_await store::MGet(store, views);
}

base::Task<absl::Status> ExecuteAll(store::Store& store, const store::Batch& batch) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store, batch));
  co_return store::FirstError(replies);
}

}  // namespace redouble::inline v0_1::threescale
