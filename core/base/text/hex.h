// HexDigit and HexToBytes: the values of hexadecimal digits.
//
//   HexToBytes("00ff")  // "\x00\xff"
//   HexToBytes("0g")    // nullopt
//
// absl::BytesToHexString writes digits. Its counterpart that reads them has another signature in
// newer releases, and reports no mistakes in older ones.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_BASE_TEXT_HEX_H_
#define REDOUBLE_CORE_BASE_TEXT_HEX_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::base {

// Returns the value of a hexadecimal digit (0 to 15), or nullopt for another character. Both cases
// of letters are digits.
constexpr std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Returns one byte for each pair of digits, or nullopt if there is another character or half a
// pair.
inline std::optional<std::string> HexToBytes(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const std::optional<int> high = HexDigit(digits[i]);
    const std::optional<int> low = HexDigit(digits[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  return bytes;
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_HEX_H_
