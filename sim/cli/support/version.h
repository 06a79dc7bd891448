// The version of Redouble, and of the Redis that it behaves as.
//
// `redouble --version` and the first line of `redouble serve` print both. kVersion comes from
// include/redouble/version.h, which releases change.
//
// Thread-safety: constants.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_VERSION_H_
#define REDOUBLE_SIM_CLI_SUPPORT_VERSION_H_

#include "redouble/backends/memory/redis_version.h"
#include "redouble/version.h"

namespace redouble::inline v0_1::sim {

inline constexpr char kVersion[] = REDOUBLE_VERSION_STRING;
using memory::kRedisVersion;

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_VERSION_H_
