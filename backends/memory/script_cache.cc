#include "backends/memory/script_cache.h"

namespace redouble::memory {

std::optional<store::Reply> ScriptCache::Load(std::string_view sha, std::string_view body) {
  if (Has(sha)) return std::nullopt;
  Shebang shebang = ReadShebang(body);
  if (shebang.error) return shebang.error;
  if (std::optional<store::Reply> error = interpreter_.Compile(sha, shebang.code)) return error;
  flags_.emplace(sha, shebang.flags);
  return std::nullopt;
}

void ScriptCache::Flush() {
  flags_.clear();
  interpreter_.Flush();
}

}  // namespace redouble::memory
