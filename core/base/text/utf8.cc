#include "redouble/core/base/text/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace redouble::inline v0_1::base {
namespace {

// A row of the Unicode Standard's table of well-formed sequences: the range of the first byte, the
// range of the second, and the number of bytes after the first. Later bytes are always 80..BF.
struct Sequence {
  unsigned char first_least, first_most;
  unsigned char second_least, second_most;
  size_t followers;
};
constexpr std::array kSequences = {
    Sequence{0x00, 0x7f, 0x00, 0x00, 0}, Sequence{0xc2, 0xdf, 0x80, 0xbf, 1},
    Sequence{0xe0, 0xe0, 0xa0, 0xbf, 2}, Sequence{0xe1, 0xec, 0x80, 0xbf, 2},
    Sequence{0xed, 0xed, 0x80, 0x9f, 2}, Sequence{0xee, 0xef, 0x80, 0xbf, 2},
    Sequence{0xf0, 0xf0, 0x90, 0xbf, 3}, Sequence{0xf1, 0xf3, 0x80, 0xbf, 3},
    Sequence{0xf4, 0xf4, 0x80, 0x8f, 3},
};

bool IsBetween(char byte, unsigned char least, unsigned char most) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= least && value <= most;
}

// Returns the length of the sequence at the front; 0 if it is ill-formed.
size_t SequenceLength(std::string_view bytes) {
  for (const Sequence& row : kSequences) {
    if (!IsBetween(bytes[0], row.first_least, row.first_most)) continue;
    if (bytes.size() <= row.followers) return 0;
    if (row.followers > 0 && !IsBetween(bytes[1], row.second_least, row.second_most)) return 0;
    for (size_t i = 2; i <= row.followers; ++i) {
      if (!IsBetween(bytes[i], 0x80, 0xbf)) return 0;
    }
    return row.followers + 1;
  }
  return 0;
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

size_t CountCodePoints(std::string_view text) {
  // Continuation bytes begin no code point.
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsBetween(c, 0x80, 0xbf); }));
}

}  // namespace redouble::inline v0_1::base
