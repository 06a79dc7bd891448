// ScriptCache: the scripts that the engine knows, by their SHA-1.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPT_CACHE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPT_CACHE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "backends/memory/scripting/interpreter.h"
#include "backends/memory/scripting/shebang.h"
#include "core/store/reply.h"

namespace redouble::memory {

class ScriptCache {
 public:
  // Compiles the script unless it is known; no value, or the error reply.
  std::optional<store::Reply> Load(std::string_view sha, std::string_view body);
  bool Has(std::string_view sha) const { return flags_.contains(sha); }
  // The digest of a script's text. The last one is remembered: EVAL mostly comes with the same
  // script. Good until the next call.
  const std::string& ShaOf(std::string_view body);
  size_t size() const { return flags_.size(); }
  // Of the texts and their digests.
  size_t text_bytes() const { return text_bytes_; }
  // What their Lua has taken.
  size_t lua_bytes() const { return interpreter_.MemoryBytes(); }
  // Of a known script.
  ScriptFlags FlagsOf(std::string_view sha) const { return flags_.find(sha)->second; }
  void Flush();

  Interpreter& interpreter() { return interpreter_; }

 private:
  Interpreter interpreter_;
  absl::btree_map<std::string, ScriptFlags, std::less<>> flags_;
  size_t text_bytes_ = 0;
  std::string last_body_;
  std::string last_sha_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPT_CACHE_H_
