#include "redouble/core/base/text/hex.h"

#include <cstddef>

namespace redouble::base {

std::optional<std::string> HexToBytes(std::string_view digits) {
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

}  // namespace redouble::base
