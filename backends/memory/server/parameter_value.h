// Values of parameters, as redis.conf and CONFIG SET write them.
//
// Each function returns the text of Redis's error for an invalid value, and otherwise nullopt and
// the value. All but numbers end at the first zero byte, as C strings do.
//
//   int64_t samples = 0;
//   ReadNumber("0", 1, 10, samples);  // "argument must be between 1 and 10 inclusive"
//
// Thread-safety: pure functions.
// Source: Redis 7.0 config.c.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_PARAMETER_VALUE_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_PARAMETER_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::memory {

using ValueError = std::optional<std::string>;

ValueError ReadNumber(std::string_view text, int64_t low, int64_t high, int64_t& value);
// Bytes, with an optional unit (memory_size.h). `low` is not negative.
ValueError ReadSize(std::string_view text, int64_t low, int64_t high, int64_t& value);
// The same, up to the maximum of 64 bits.
ValueError ReadUnsignedSize(std::string_view text, uint64_t& value);
// "yes" or "no".
ValueError ReadSwitch(std::string_view text, bool& value);
// One of `names`, in letters of any case; its index.
ValueError ReadChoice(std::string_view text, std::span<const std::string_view> names,
                      size_t& index);
// A file's name without a folder: dbfilename.
ValueError CheckFileName(std::string_view text);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_PARAMETER_VALUE_H_
