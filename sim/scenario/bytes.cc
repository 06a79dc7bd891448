#include "sim/scenario/bytes.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"

namespace redouble::sim {
namespace {

constexpr std::string_view kPrefix = "bytes:";

absl::Status BadEscape(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", base::ToAbsl(text),
                   "\": behind \"bytes:\" a backslash is \\\\ or \\xhh, for instance "
                   "bytes:\\x00\\xff"));
}

// What a first byte says of its sequence: its length, and the smallest code point that needs it.
struct Utf8Lead {
  int length;
  uint32_t value;
  uint32_t smallest;
};

Utf8Lead ReadLead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xc2 && byte < 0xe0) return {2, byte & 0x1fu, 0x80};
  if (byte >= 0xe0 && byte < 0xf0) return {3, byte & 0x0fu, 0x800};
  if (byte >= 0xf0 && byte < 0xf5) return {4, byte & 0x07u, 0x10000};
  return {0, 0, 0};
}

// The length of the sequence at the front of `bytes`; 0 when there is no valid one.
int SequenceLength(std::string_view bytes) {
  const Utf8Lead lead = ReadLead(static_cast<unsigned char>(bytes[0]));
  if (lead.length == 0 || bytes.size() < static_cast<size_t>(lead.length)) return 0;
  uint32_t code_point = lead.value;
  for (int i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code_point = code_point << 6 | (byte & 0x3f);
  }
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < lead.smallest || code_point > 0x10ffff || surrogate) return 0;
  return lead.length;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const int length = SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

absl::StatusOr<std::string> DecodeBytes(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::string(text);
  std::string bytes;
  for (size_t i = kPrefix.size(); i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes.push_back(text[i]);
    } else if (text.substr(i).starts_with("\\\\")) {
      bytes.push_back('\\');
      ++i;
    } else if (i + 3 < text.size() && text[i + 1] == 'x' && absl::ascii_isxdigit(text[i + 2]) &&
               absl::ascii_isxdigit(text[i + 3])) {
      bytes += absl::HexStringToBytes(base::ToAbsl(text.substr(i + 2, 2)));
      i += 3;
    } else {
      return BadEscape(text);
    }
  }
  return bytes;
}

std::string EncodeBytes(std::string_view bytes) {
  if (IsUtf8(bytes) && !bytes.starts_with(kPrefix)) return std::string(bytes);
  std::string text(kPrefix);
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

}  // namespace redouble::sim
