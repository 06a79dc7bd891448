// ResultCache: references to the outputs of nodes that always answer alike.
//
//   orchestrator::ResultCache cache(store);
//   const CacheEntry entry = {.scope = "workflow", .key = "enrich_A:sha256:abc123"};
//   absl::StatusOr<std::optional<std::string>> ref = co_await cache.Get(entry);
//   if (ref.ok() && !*ref) co_await cache.Put(entry, "cas://sha256:xyz789");
//
// The cache belongs to no run: cleanup leaves it alone, its entries expire. A reference can outlive
// what it refers to; the reader has to cope.
//
// Each operation is one command: one round trip. Entries and references must live until the task
// has finished. Errors common to all: InvalidArgument for an entry that keys.h refuses (nothing is
// sent), and those of the store.
//
// Thread-safety: as Store.
// Source: seed 001 "Caching", `cache:{scope}:{key}`.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RESULT_CACHE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RESULT_CACHE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

class ResultCache {
 public:
  // The store must outlive the cache. Keys of the cache are spelled alike in both forms.
  explicit ResultCache(store::Store& store) : store_(store) {}

  // The reference; none when there is none or it expired. Reading does not prolong it. GET. Errors
  // also: FailedPrecondition (WRONGTYPE) when the key holds another type.
  base::Task<absl::StatusOr<std::optional<std::string>>> Get(CacheEntry entry);

  // Stores the reference for CachedResultTtl(), one hour, in place of any other. SET EX.
  base::Task<absl::Status> Put(CacheEntry entry, std::string_view ref);

  // Forgets the reference. True when there was one. DEL.
  base::Task<absl::StatusOr<bool>> Invalidate(CacheEntry entry);

 private:
  store::Store& store_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RESULT_CACHE_H_
