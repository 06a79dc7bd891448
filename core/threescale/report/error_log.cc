#include "redouble/core/threescale/report/error_log.h"

#include <algorithm>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/requests.h"
#include "redouble/core/threescale/text/json_text.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;

}  // namespace

base::Task<absl::Status> ErrorLog::Store(std::string_view service_id, absl::Status error,
                                         std::string_view context_info) {
  const std::optional<ErrorCode> code = ErrorCodeOf(error);
  const std::string entry = JsonObject()
                                .Add("code", code ? SpecOf(*code).name : std::string_view())
                                .Add("message", base::ToStd(error.message()))
                                .Add("timestamp", FormatJsonTime(process_.clock.Now()))
                                .AddJson("context_info", context_info)
                                .text();
  const std::string key = process_.keys.Errors(service_id);
  if (hardening_.trim_errors_atomically) {
    Batch batch(Batch::Atomicity::kTransaction);
    batch.Add(CommandId::kLPush, {key, entry});
    batch.Add(CommandId::kLTrim, {key}).AddInteger(0).AddInteger(kMostErrors - 1);
    co_return co_await ExecuteAll(process_.store, batch);
  }
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::LPush(process_.store, key, entry)).status());
  co_return co_await store::LTrim(process_.store, key, 0, kMostErrors - 1);
}

base::Task<absl::StatusOr<std::vector<std::string>>> ErrorLog::List(std::string_view service_id,
                                                                    int64_t page) {
  const std::string key = process_.keys.Errors(service_id);
  const int64_t first = (std::max<int64_t>(page, 1) - 1) * kPageSize;
  co_return co_await store::LRange(process_.store, key, first, first + kPageSize - 1);
}

base::Task<absl::StatusOr<int64_t>> ErrorLog::Count(std::string_view service_id) {
  const std::string key = process_.keys.Errors(service_id);
  co_return co_await store::LLen(process_.store, key);
}

base::Task<absl::Status> ErrorLog::Delete(std::string_view service_id) {
  const std::string key = process_.keys.Errors(service_id);
  const absl::StatusOr<bool> deleted = co_await store::Del(process_.store, key);
  co_return deleted.status();
}

}  // namespace redouble::inline v0_1::threescale
