// The first line of a script that says how it wants to be run: "#!lua flags=no-writes".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SHEBANG_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SHEBANG_H_

#include <optional>
#include <string_view>

#include "backends/memory/scripting/script_flags.h"
#include "core/store/reply.h"

namespace redouble::memory {

struct Shebang {
  ScriptFlags flags;
  // What Lua gets: the line is cut, its end kept, so that line numbers stay.
  std::string_view code;
  std::optional<store::Reply> error;
};

Shebang ReadShebang(std::string_view body);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SHEBANG_H_
