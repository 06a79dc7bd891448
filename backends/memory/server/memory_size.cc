#include "redouble/backends/memory/server/memory_size.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {

std::optional<uint64_t> ReadMemory(std::string_view text) {
  struct Unit {
    std::string_view name;
    uint64_t bytes;
  };
  constexpr Unit kUnits[] = {{"", 1},           {"b", 1},           {"k", 1000},
                             {"kb", 1 << 10},   {"m", 1000 * 1000}, {"mb", 1 << 20},
                             {"g", 1000000000}, {"gb", 1 << 30}};
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) {
    ++digits;
  }
  for (const Unit& unit : kUnits) {
    if (!absl::EqualsIgnoreCase(base::ToAbsl(text.substr(digits)), base::ToAbsl(unit.name))) {
      continue;
    }
    unsigned __int128 bytes = 0;
    for (const char digit : text.substr(0, std::min<size_t>(digits, 20))) {
      bytes = bytes * 10 + static_cast<unsigned>(digit - '0');
    }
    bytes *= unit.bytes;
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    return bytes > kMost ? kMost : static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

std::string MemoryText(uint64_t bytes) {
  constexpr std::pair<int, const char*> kShifts[] = {{30, "gb"}, {20, "mb"}, {10, "kb"}};
  for (const auto& [shift, unit] : kShifts) {
    if (bytes != 0 && (bytes >> shift) << shift == bytes) return absl::StrCat(bytes >> shift, unit);
  }
  return absl::StrCat(bytes);
}

}  // namespace redouble::inline v0_1::memory
