#include "redouble/sim/json/bytes.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"

namespace redouble::inline v0_1::sim {
namespace {

absl::Status BadEscape(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", base::ToAbsl(text),
                   "\": behind \"bytes:\" a backslash is \\\\ or \\xhh, for instance "
                   "bytes:\\x00\\xff"));
}

}  // namespace

absl::StatusOr<std::string> DecodeBytes(std::string_view text) {
  if (!text.starts_with(kBytesPrefix)) return std::string(text);
  std::string bytes;
  for (size_t i = kBytesPrefix.size(); i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes.push_back(text[i]);
    } else if (text.substr(i).starts_with("\\\\")) {
      bytes.push_back('\\');
      ++i;
    } else {
      const std::string_view escape = text.substr(i + 1, 3);
      std::optional<std::string> byte;
      if (escape.size() == 3 && escape[0] == 'x') byte = base::HexToBytes(escape.substr(1));
      if (!byte) return BadEscape(text);
      bytes += *byte;
      i += 3;
    }
  }
  return bytes;
}

std::string EncodeBytes(std::string_view bytes) {
  if (base::IsValidUtf8(bytes) && !bytes.starts_with(kBytesPrefix)) return std::string(bytes);
  std::string text(kBytesPrefix);
  for (const char c : bytes) {
    if (c == '\\') {
      text += "\\\\";
    } else if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      text.push_back(c);
    } else {
      absl::StrAppend(&text, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return text;
}

}  // namespace redouble::inline v0_1::sim
