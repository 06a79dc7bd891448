#include "redouble/backends/memory/commands/keys/shown_encoding.h"

#include <cstddef>
#include <limits>

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"

namespace redouble::inline v0_1::memory {
namespace {

// Of Valkey 8.1: the most bytes of a string and its key in one allocation, and what a deadline
// takes.
constexpr size_t kMostEmbeddedBytes = 41;
constexpr size_t kDeadlineBytes = 8;

// Whether Valkey 8.1 shows a string as raw because of its key or deadline.
bool IsTooLongWithKey(const CommandContext& context, const Database::Entry& entry) {
  if (!context.engine().Has(Feature::kEmbeddedKeys) || entry.value.encoding() != "embstr") {
    return false;
  }
  const size_t deadline_bytes = context.db().DeadlineOf(entry) ? kDeadlineBytes : 0;
  return entry.key().size() + entry.value.TextSize() + deadline_bytes > kMostEmbeddedBytes;
}

// Redis shares these integers between keys, which it shows as a constant reference count.
constexpr int64_t kSharedIntegers = 10'000;
constexpr int64_t kSharedCount = std::numeric_limits<int32_t>::max();

// Each key needs its own LRU or LFU field if keys are evicted by it. Redis decides when it stores
// the value.
bool SharesIntegers(const EngineOptions& options) {
  const MaxmemoryPolicy policy = options.maxmemory_policy;
  return options.maxmemory_bytes == 0 || !(IsLru(policy) || IsLfu(policy));
}

}  // namespace

std::string_view ShownEncoding(const CommandContext& context, const Database::Entry& entry) {
  const std::string_view encoding = entry.value.encoding();
  if (IsTooLongWithKey(context, entry)) return "raw";
  const FieldDeadlines* deadlines = context.db().field_deadlines();
  const bool has_room =
      encoding == "listpack" && deadlines != nullptr && deadlines->Tracks(entry.key());
  return has_room ? "listpackex" : encoding;
}

int64_t ShownReferences(const CommandContext& context, const Database::Entry& entry) {
  const Value& value = entry.value;
  const bool shared = !context.engine().Has(Feature::kEmbeddedKeys) &&
                      SharesIntegers(context.engine().options()) && value.is_integer() &&
                      value.integer() >= 0 && value.integer() < kSharedIntegers;
  return shared ? kSharedCount : 1;
}

void KeepEncoding(const CommandContext& context, Database::Entry& entry) {
  if (IsTooLongWithKey(context, entry)) entry.value.MakeRaw();
}

}  // namespace redouble::inline v0_1::memory
