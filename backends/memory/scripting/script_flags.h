// The flags by which a script or a function says how it wants to be run.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_FLAGS_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_FLAGS_H_

#include <string_view>

namespace redouble::memory {

struct ScriptFlags {
  // A script without the line that declares them runs as scripts did before Redis 7.0. A function
  // always declares them.
  bool declared = false;
  bool no_writes = false;
  bool allow_oom = false;
  bool allow_stale = false;
  bool no_cluster = false;
  bool allow_cross_slot_keys = false;
};

// Their names, in the order in which FUNCTION LIST tells them.
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

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_FLAGS_H_
