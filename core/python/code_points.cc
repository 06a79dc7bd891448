#include "redouble/core/python/code_points.h"

namespace redouble::inline v0_1::python {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the length of the sequence that begins with `lead`; 0 if none does.
size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC0) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF8 ? 4 : 0;
}

}  // namespace

std::optional<char32_t> TakeCodePoint(std::string_view& text) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = SequenceLength(lead);
  if (length == 0 || length > text.size()) return std::nullopt;
  char32_t code_point = length == 1 ? lead : lead & (0xFF >> (length + 1));
  for (const char c : text.substr(1, length - 1)) {
    if (!IsContinuation(c)) return std::nullopt;
    code_point = (code_point << 6) | (static_cast<unsigned char>(c) & 0x3F);
  }
  if (code_point < kLeast[length] || code_point > 0x10FFFF) return std::nullopt;
  text.remove_prefix(length);
  return code_point;
}

void AppendCodePoint(std::string& text, char32_t code_point) {
  const auto append = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) return append(code_point);
  if (code_point < 0x800) {
    append(0xC0 | (code_point >> 6));
  } else {
    if (code_point < 0x10000) {
      append(0xE0 | (code_point >> 12));
    } else {
      append(0xF0 | (code_point >> 18));
      append(0x80 | ((code_point >> 12) & 0x3F));
    }
    append(0x80 | ((code_point >> 6) & 0x3F));
  }
  append(0x80 | (code_point & 0x3F));
}

}  // namespace redouble::inline v0_1::python
