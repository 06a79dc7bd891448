// ScriptFlags: the flags that a script declares in its first line, or a function when it is
// registered.
//
// kScriptFlags is the table of their names; the parsers and FUNCTION LIST use it.
//
//   ScriptFlags flags{.declared = true, .no_writes = true};
//
// Thread-safety: constant data and plain values.
// Source: Redis 7.0 scripting, "Script flags".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_FLAGS_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_FLAGS_H_

#include <string_view>

namespace redouble::inline v0_1::memory {

struct ScriptFlags {
  // False for a script without a "#!" line, which runs with the rules from before Redis 7.0. Always
  // true for a function.
  bool declared = false;
  bool no_writes = false;
  bool allow_oom = false;
  bool allow_stale = false;
  bool no_cluster = false;
  bool allow_cross_slot_keys = false;
};

// The names of the flags, in the order of FUNCTION LIST.
struct ScriptFlagRow {
  std::string_view name;
  bool ScriptFlags::*member;
};
inline constexpr ScriptFlagRow kScriptFlags[] = {
    {"no-writes", &ScriptFlags::no_writes},
    {"allow-oom", &ScriptFlags::allow_oom},
    {"allow-stale", &ScriptFlags::allow_stale},
    {"no-cluster", &ScriptFlags::no_cluster},
    {"allow-cross-slot-keys", &ScriptFlags::allow_cross_slot_keys},
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_FLAGS_H_
