// ResultCache: references to the outputs of deterministic nodes.
//
//   orchestrator::ResultCache cache(store);
//   const CacheEntry entry = {.scope = "workflow", .key = "enrich_A:sha256:abc123"};
//   absl::StatusOr<std::optional<std::string>> ref = co_await cache.Get(entry);
//   if (ref.ok() && !*ref) {
//     const absl::Status stored = co_await cache.Put(entry, "cas://sha256:xyz789");
//   }
//
// Cached results belong to no run: cleanup does not delete them, and they expire. A reference can
// outlive the object that it names; the reader must handle that.
//
// Each operation is one command: one round trip. Entries and references must live until the task
// has finished. Errors of every operation: InvalidArgument for an entry that keys.h refuses
// (nothing is sent), and those of the store.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 2.11, 4.15.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RESULT_CACHE_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RESULT_CACHE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

class ResultCache {
 public:
  // The store must outlive the cache. Both forms of keys spell cache entries alike.
  explicit ResultCache(store::Store& store) : store_(store) {}

  // Returns the reference, or nullopt if it is missing or has expired. Does not change the TTL.
  // Errors also: FailedPrecondition (WRONGTYPE) if the key has another type.
  base::Task<absl::StatusOr<std::optional<std::string>>> Get(CacheEntry entry);

  // Stores the reference with the TTL CachedResultTtl(), one hour; replaces any value (SET EX).
  base::Task<absl::Status> Put(CacheEntry entry, std::string_view ref);

  // Deletes the reference. Returns whether the key existed.
  base::Task<absl::StatusOr<bool>> Invalidate(CacheEntry entry);

 private:
  store::Store& store_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RESULT_CACHE_H_
