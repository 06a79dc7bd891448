// Which texts of numbers later versions take where Redis 7.0 calls strtod: not those with leading
// spaces, and no hexadecimal numbers (Feature::kDecimalNumbers).
//
//   IsDecimal("-1.5e3");  // true; so is "inf"
//   IsDecimal("0x1");     // false
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_DECIMAL_NUMBER_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_DECIMAL_NUMBER_H_

#include <string_view>

namespace redouble::inline v0_1::memory {

// Returns false for a text that begins with a space or that is a hexadecimal number; the rest is
// for the caller's parser.
inline bool IsDecimal(std::string_view text) {
  return text.find_first_of(" \t\n\v\f\r") != 0 &&
         text.substr(0, text.find('\0')).find_first_of("xX") == std::string_view::npos;
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_DECIMAL_NUMBER_H_
