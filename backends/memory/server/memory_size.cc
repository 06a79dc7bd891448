#include "redouble/backends/memory/server/memory_size.h"

#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
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
  constexpr size_t kMostDigits = 127;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  text = text.substr(0, text.find('\0'));
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) {
    ++digits;
  }
  if (digits > kMostDigits) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (!absl::EqualsIgnoreCase(base::ToAbsl(text.substr(digits)), base::ToAbsl(unit.name))) {
      continue;
    }
    uint64_t number = 0;
    const bool fits = absl::SimpleAtoi(base::ToAbsl(text.substr(0, digits)), &number);
    return (fits || digits == 0 ? number : kMost) * unit.bytes;
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
