#include "core/orchestrator/result_cache.h"

#include "core/store/expiry.h"
#include "core/store/keys.h"
#include "core/store/strings.h"

namespace redouble::orchestrator {

base::Task<absl::StatusOr<std::optional<std::string>>> ResultCache::Get(CacheEntry entry) {
  const absl::StatusOr<std::string> key = Keys().CachedResult(entry);
  if (!key.ok()) co_return key.status();
  co_return co_await store::Get(store_, *key);
}

base::Task<absl::Status> ResultCache::Put(CacheEntry entry, std::string_view ref) {
  const absl::StatusOr<std::string> key = Keys().CachedResult(entry);
  if (!key.ok()) co_return key.status();
  store::SetOptions options;
  options.expiry = store::Expiry::In(CachedResultTtl());
  const absl::StatusOr<bool> set = co_await store::Set(store_, *key, ref, options);
  co_return set.status();
}

base::Task<absl::StatusOr<bool>> ResultCache::Invalidate(CacheEntry entry) {
  const absl::StatusOr<std::string> key = Keys().CachedResult(entry);
  if (!key.ok()) co_return key.status();
  co_return co_await store::Del(store_, *key);
}

}  // namespace redouble::orchestrator
