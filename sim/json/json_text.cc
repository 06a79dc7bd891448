#include "redouble/sim/json/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "nlohmann/json.hpp"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

// Whether a JSON string has the byte as it is.
bool IsPlain(unsigned char c) {
  static constexpr auto kPlain = [] {
    std::array<bool, 256> plain = {};
    for (size_t i = ' '; i < 0x7f; ++i) plain[i] = i != '"' && i != '\\';
    return plain;
  }();
  return kPlain[c];
}

}  // namespace

void JsonText::AddInteger(int64_t number) {
  constexpr size_t kLongest = std::numeric_limits<int64_t>::digits10 + 2;
  char* const start = Room(kLongest);
  size_ += static_cast<size_t>(std::to_chars(start, start + kLongest, number).ptr - start);
}

void JsonText::AddBytes(std::string_view bytes) {
  const bool is_plain =
      !bytes.starts_with(kBytesPrefix) && std::all_of(bytes.begin(), bytes.end(), IsPlain);
  if (!is_plain) return Add(nlohmann::json(EncodeBytes(bytes)).dump());
  char* const start = Room(bytes.size() + 2);
  *start = '"';
  bytes.copy(start + 1, bytes.size());
  start[bytes.size() + 1] = '"';
  size_ += bytes.size() + 2;
}

void JsonText::Grow(size_t bytes) {
  constexpr size_t kLeast = 256;
  buffer_.resize(std::max({kLeast, 2 * buffer_.size(), size_ + bytes}));
}

}  // namespace redouble::inline v0_1::sim
