// RewriteConfig: CONFIG REWRITE and DEBUG CONFIG-REWRITE-FORCE-ALL.
//
// The host (server/host.h) owns the configuration file. As in Redis, its comments and the order of
// its lines are kept; lines of parameters with changed values are replaced, further ones are
// appended. server/config_file.h edits the text.
//
//   if (engine.administration().host() != nullptr) {
//     const absl::Status status = RewriteConfig(engine, RewriteScope::kChanged);
//   }
//
// Thread-safety: one thread, the one that uses the engine.
// Source: Redis 7.0 config.c, rewriteConfig.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_REWRITE_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_REWRITE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine_core.h"

namespace redouble::inline v0_1::memory {

enum class RewriteScope : uint8_t {
  kChanged,  // Parameters that differ from their defaults, and those of the file.
  kAll,
};

// Replaces the host's configuration file by one with the present values. The host must have one.
// Errors: those of Host::ReadTextFile and Host::ReplaceTextFile.
absl::Status RewriteConfig(EngineCore& engine, RewriteScope scope);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_CONFIG_REWRITE_H_
