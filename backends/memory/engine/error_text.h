// Error replies that several commands share, byte for byte as redis-server 7.0.15 writes them.
//
// An error text that only one command returns is defined in that command's file. Clients compare
// these texts, so each is written once.
//
// Thread-safety: constants.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_ERROR_TEXT_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_ERROR_TEXT_H_

#include <string_view>

namespace redouble::inline v0_1::memory::error_text {

inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kSyntax = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotAFloat = "ERR value is not a valid float";
inline constexpr std::string_view kMustBePositive = "ERR value is out of range, must be positive";
inline constexpr std::string_view kNumKeysTooSmall = "ERR numkeys should be greater than 0";
inline constexpr std::string_view kCountTooSmall = "ERR count should be greater than 0";
inline constexpr std::string_view kIncrementOverflow = "ERR increment or decrement would overflow";
inline constexpr std::string_view kIncrementNotFinite =
    "ERR increment would produce NaN or Infinity";
inline constexpr std::string_view kOutOfRange = "ERR value is out of range";
inline constexpr std::string_view kNoSuchKey = "ERR no such key";
inline constexpr std::string_view kIndexOutOfRange = "ERR index out of range";
inline constexpr std::string_view kInvalidCursor = "ERR invalid cursor";
inline constexpr std::string_view kExecAbort =
    "EXECABORT Transaction discarded because of previous errors.";
inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kNoReplicas = "NOREPLICAS Not enough good replicas to write.";
inline constexpr std::string_view kSaveFailed =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). "
    "Please check the Redis logs for details about the RDB error.";
inline constexpr std::string_view kLoading = "LOADING Redis is loading the dataset in memory";
inline constexpr std::string_view kShutdownFailed = "ERR Errors trying to SHUTDOWN. Check logs.";
inline constexpr std::string_view kNoAuth = "NOAUTH Authentication required.";
inline constexpr std::string_view kDbIndexOutOfRange = "ERR DB index is out of range";
// Redis has no such error, because it can always save its keys.
inline constexpr std::string_view kNothingIsSaved =
    "ERR nothing is saved: this server keeps its keys in memory only";

}  // namespace redouble::inline v0_1::memory::error_text

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_ERROR_TEXT_H_
