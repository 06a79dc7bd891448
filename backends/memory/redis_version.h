// The version of Redis that the engine behaves as, and that INFO, HELLO, LOLWUT and scripts report.
// The conformance cases are recorded from a redis-server of this version.
//
//   absl::StrAppend(&info, "redis_version:", kRedisVersion, "\r\n");
//
// Thread-safety: a constant.
#ifndef REDOUBLE_BACKENDS_MEMORY_REDIS_VERSION_H_
#define REDOUBLE_BACKENDS_MEMORY_REDIS_VERSION_H_

namespace redouble::inline v0_1::memory {

inline constexpr char kRedisVersion[] = "7.0.15";

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_REDIS_VERSION_H_
