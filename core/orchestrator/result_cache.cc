#include "redouble/core/orchestrator/result_cache.h"

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {

base::Task<absl::StatusOr<std::optional<std::string>>> ResultCache::Get(CacheEntry entry) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, Keys().CachedResult(entry));
  co_return co_await store::Get(store_, key);
}

base::Task<absl::Status> ResultCache::Put(CacheEntry entry, std::string_view ref) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, Keys().CachedResult(entry));
  store::SetOptions options;
  options.expiry = store::Expiry::In(CachedResultTtl());
  const absl::StatusOr<bool> set = co_await store::Set(store_, key, ref, options);
  co_return set.status();
}

base::Task<absl::StatusOr<bool>> ResultCache::Invalidate(CacheEntry entry) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, Keys().CachedResult(entry));
  co_return co_await store::Del(store_, key);
}

}  // namespace redouble::inline v0_1::orchestrator
