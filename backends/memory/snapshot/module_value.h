// Values of Redis modules in an RDB file, which can be skipped but not read.
//
// A module writes numbers and strings with a tag each, so that a server without the module can find
// the end of the value.
//
//   std::optional<std::string> module = SkipModuleValue(reader);   // "ReJSON-RL"
//
// Thread-safety: free functions.
// Source: the RDB file format, RDB_TYPE_MODULE_2 and RDB_OPCODE_MODULE_AUX.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_MODULE_VALUE_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_MODULE_VALUE_H_

#include <optional>
#include <string>

#include "redouble/backends/memory/persistence/rdb_codec.h"

namespace redouble::inline v0_1::memory {

// Skips the value of a key, or the data that a module keeps besides keys, which has the same form.
// Returns the name of the module's type, nine characters; nullopt if the bytes are not such data,
// and reader.failure() says why.
std::optional<std::string> SkipModuleValue(RdbReader& reader);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_MODULE_VALUE_H_
