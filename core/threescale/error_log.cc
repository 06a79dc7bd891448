#include "core/threescale/error_log.h"

#include <algorithm>

#include "core/base/string_bridge.h"
#include "core/store/keys.h"
#include "core/store/lists.h"
#include "core/threescale/errors.h"
#include "core/threescale/json_text.h"
#include "core/threescale/keys.h"

namespace redouble::threescale {

base::Task<absl::Status> ErrorLog::Store(std::string_view service_id, absl::Status error,
                                         std::string_view context_info) {
  const std::optional<ErrorCode> code = ErrorCodeOf(error);
  const std::string entry = JsonObject()
                                .Add("code", code ? SpecOf(*code).name : std::string_view())
                                .Add("message", base::ToStd(error.message()))
                                .Add("timestamp", FormatJsonTime(process_.clock.Now()))
                                .AddJson("context_info", context_info)
                                .text();
  const std::string key = ErrorsKey(service_id);
  const absl::StatusOr<int64_t> pushed = co_await store::LPush(process_.store, key, entry);
  if (!pushed.ok()) co_return pushed.status();
  co_return co_await store::LTrim(process_.store, key, 0, kMostErrors - 1);
}

base::Task<absl::StatusOr<std::vector<std::string>>> ErrorLog::List(std::string_view service_id,
                                                                    int64_t page) {
  const std::string key = ErrorsKey(service_id);
  const int64_t first = (std::max<int64_t>(page, 1) - 1) * kPageSize;
  co_return co_await store::LRange(process_.store, key, first, first + kPageSize - 1);
}

base::Task<absl::StatusOr<int64_t>> ErrorLog::Count(std::string_view service_id) {
  const std::string key = ErrorsKey(service_id);
  co_return co_await store::LLen(process_.store, key);
}

base::Task<absl::Status> ErrorLog::Delete(std::string_view service_id) {
  const std::string key = ErrorsKey(service_id);
  const absl::StatusOr<bool> deleted = co_await store::Del(process_.store, key);
  co_return deleted.status();
}

}  // namespace redouble::threescale
