#include "redouble/core/threescale/text/query_text.h"

#include <optional>

#include "redouble/core/base/text/hex.h"

namespace redouble::inline v0_1::threescale {
std::string DecodeQueryText(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    std::optional<std::string> byte;
    if (text[i] == '%' && i + 2 < text.size()) byte = base::HexToBytes(text.substr(i + 1, 2));
    if (byte) {
      decoded += *byte;
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace redouble::inline v0_1::threescale
