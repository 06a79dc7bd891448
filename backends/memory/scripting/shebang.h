// The first line of a script that declares its flags: "#!lua flags=no-writes".
//
// EVAL and SCRIPT LOAD read it before the script is compiled.
//
//   const Shebang shebang = ReadShebang("#!lua flags=no-writes\nreturn 1", compatibility);
//   shebang.flags.no_writes;       // true
//   shebang.code;                  // "\nreturn 1"
//
// Thread-safety: a pure function. `code` points into the argument.
// Source: Redis 7.0 scripting, "Script flags".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SHEBANG_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SHEBANG_H_

#include <optional>
#include <string_view>

#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/script_flags.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

struct Shebang {
  ScriptFlags flags;
  // The text for Lua: the script without its first line but with that line's end, so that line
  // numbers do not change.
  std::string_view code;
  std::optional<store::Reply> error;
};

Shebang ReadShebang(std::string_view body, const Compatibility& compatibility);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SHEBANG_H_
