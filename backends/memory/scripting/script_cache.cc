#include "redouble/backends/memory/scripting/script_cache.h"

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::memory {

std::optional<store::Reply> ScriptCache::Load(std::string_view sha, std::string_view body) {
  if (Has(sha)) return std::nullopt;
  Shebang shebang = ReadShebang(body, compatibility_);
  if (shebang.error) return shebang.error;
  if (std::optional<store::Reply> error = interpreter_.Compile(sha, shebang.code)) return error;
  flags_.emplace(sha, shebang.flags);
  if (keeps_texts_) texts_.emplace(sha, body);
  text_bytes_ += sha.size() + body.size();
  return std::nullopt;
}

const std::string& ScriptCache::ShaOf(std::string_view body) {
  if (last_sha_.empty() || last_body_ != body) {
    last_body_ = body;
    last_sha_ = base::Sha1Hex(body);
  }
  return last_sha_;
}

void ScriptCache::Flush() {
  flags_.clear();
  texts_.clear();
  text_bytes_ = 0;
  interpreter_.Flush();
}

}  // namespace redouble::inline v0_1::memory
