#include "core/threescale/requests.h"

#include <string_view>
#include <utility>

#include "core/store/decode.h"
#include "core/store/strings.h"

namespace redouble::threescale {

base::Task<absl::StatusOr<OptionalTexts>> GetAll(store::Store& store,
                                                 std::vector<std::string> keys) {
  if (keys.empty()) co_return OptionalTexts();
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  co_return co_await store::MGet(store, views);
}

base::Task<absl::Status> ExecuteAll(store::Store& store, const store::Batch& batch) {
  const absl::StatusOr<std::vector<store::Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return replies.status();
  co_return store::FirstError(*replies);
}

}  // namespace redouble::threescale
