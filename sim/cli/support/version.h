// The version of Redouble, and of the Redis that it behaves as.
//
// Thread-safety: constants.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_VERSION_H_
#define REDOUBLE_SIM_CLI_SUPPORT_VERSION_H_

#include "redouble/backends/memory/redis_version.h"
#include "redouble/version.h"

namespace redouble::sim {

inline constexpr char kVersion[] = REDOUBLE_VERSION_STRING;
using memory::kRedisVersion;

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_VERSION_H_
