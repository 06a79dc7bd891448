#include "redouble/backends/memory/eviction/client_memory_limit.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

std::optional<uint64_t> ClientMemoryLimit(const EngineOptions& options) {
  constexpr uint64_t kLeastBytes = 128 * 1024;
  // Every version has this row. It is looked up once, because each new engine asks for it.
  static const KeptParameter& parameter = *FindKeptParameter("maxmemory-clients");
  std::string text = parameter.ValueIn(options);
  const bool is_share = text.ends_with('%');
  if (is_share) text.pop_back();
  const std::optional<int64_t> number = base::ParseInt64(text);
  assert(number && *number >= 0);
  if (*number == 0) return std::nullopt;
  const auto amount = static_cast<uint64_t>(*number);
  if (!is_share) return std::max(amount, kLeastBytes);
  if (options.maxmemory_bytes == 0) return std::nullopt;
  const double bytes = static_cast<double>(options.maxmemory_bytes) * static_cast<double>(amount);
  return std::max(static_cast<uint64_t>(bytes / 100), kLeastBytes);
}

}  // namespace redouble::inline v0_1::memory
