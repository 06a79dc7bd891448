// ScriptCache: the scripts of an engine, by SHA-1 (SCRIPT LOAD, EVAL, EVALSHA).
//
// A script stays in the cache until SCRIPT FLUSH. The cache owns the interpreter in which its
// scripts are compiled.
//
//   ScriptCache cache(compatibility);
//   const std::string& sha = cache.ShaOf(body);
//   if (auto error = cache.Load(sha, body)) return *error;
//
// Thread-safety: one thread.
// Source: Redis 7.0 SCRIPT LOAD, SCRIPT EXISTS, SCRIPT FLUSH.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_CACHE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_CACHE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/interpreter.h"
#include "redouble/backends/memory/scripting/shebang.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ScriptCache {
 public:
  // The scripts of an engine of this version, which must outlive the cache.
  explicit ScriptCache(const Compatibility& compatibility)
      : compatibility_(compatibility),
        interpreter_(compatibility),
        keeps_texts_(compatibility.HasCommand(store::CommandId::kScriptShow)) {}

  // Compiles a script unless it is cached already. Returns nullopt on success, otherwise the error
  // reply.
  std::optional<store::Reply> Load(std::string_view sha, std::string_view body);
  bool Has(std::string_view sha) const { return flags_.contains(sha); }
  // The SHA-1 of a script's text. The last one is remembered, because EVAL is often called with the
  // same script. Valid until the next call.
  const std::string& ShaOf(std::string_view body);
  size_t size() const { return flags_.size(); }
  // The size of the texts and their digests.
  size_t text_bytes() const { return text_bytes_; }
  // The memory used by Lua.
  size_t lua_bytes() const { return interpreter_.MemoryBytes(); }
  // The flags of a cached script.
  ScriptFlags FlagsOf(std::string_view sha) const { return flags_.find(sha)->second; }
  // The text of a cached script. Requires a version with SCRIPT SHOW.
  const std::string& TextOf(std::string_view sha) const { return texts_.find(sha)->second; }
  void Flush();

  // DEBUG SET-DISABLE-DENY-SCRIPTS: scripts and functions may call commands that Redis keeps from
  // scripts, except those that run a script.
  bool allows_denied_commands() const { return allows_denied_commands_; }
  void set_allows_denied_commands(bool value) { allows_denied_commands_ = value; }

  const Compatibility& compatibility() const { return compatibility_; }
  Interpreter& interpreter() { return interpreter_; }

 private:
  const Compatibility& compatibility_;
  Interpreter interpreter_;
  absl::btree_map<std::string, ScriptFlags, std::less<>> flags_;
  const bool keeps_texts_;
  absl::btree_map<std::string, std::string, std::less<>> texts_;
  size_t text_bytes_ = 0;
  bool allows_denied_commands_ = false;
  std::string last_body_;
  std::string last_sha_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_CACHE_H_
