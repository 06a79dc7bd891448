#include "redouble/core/studio/registry/ip_address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::studio {
namespace {

constexpr size_t kIpv4Bytes = 4;
constexpr size_t kIpv6Bytes = 16;
constexpr int kByteBits = 8;

// A number of at most `max_digits` digits, without sign and spaces.
std::optional<uint32_t> Number(std::string_view digits, int base, size_t max_digits) {
  uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number, base);
  if (digits.size() > max_digits || error != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::optional<std::string> Ipv4Bytes(std::string_view text) {
  constexpr uint32_t kMaxByte = 255;
  std::string bytes;
  for (const absl::string_view part : absl::StrSplit(base::ToAbsl(text), '.')) {
    const std::optional<uint32_t> number = Number(base::ToStd(part), 10, 3);
    if (!number || *number > kMaxByte || (part.size() > 1 && part.front() == '0')) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(*number));
  }
  if (bytes.size() != kIpv4Bytes) return std::nullopt;
  return bytes;
}

// The groups on one side of a `::`, or none for an empty text. At the end of an address the last
// two groups may be an IPv4 address.
std::optional<std::string> GroupBytes(std::string_view text, bool at_end) {
  constexpr size_t kGroupDigits = 4;
  std::string bytes;
  if (text.empty()) return bytes;
  const std::vector<std::string> groups = absl::StrSplit(base::ToAbsl(text), ':');
  for (size_t i = 0; i < groups.size(); ++i) {
    if (at_end && i + 1 == groups.size() && groups[i].find('.') != std::string::npos) {
      const std::optional<std::string> last = Ipv4Bytes(groups[i]);
      if (!last) return std::nullopt;
      bytes += *last;
      break;
    }
    const std::optional<uint32_t> group = Number(groups[i], 16, kGroupDigits);
    if (!group) return std::nullopt;
    bytes.push_back(static_cast<char>(*group >> kByteBits));
    bytes.push_back(static_cast<char>(*group));
  }
  return bytes;
}

std::optional<std::string> Ipv6Bytes(std::string_view text) {
  if (const size_t percent = text.find('%'); percent != text.npos) {
    const std::string_view zone = text.substr(percent + 1);
    if (zone.empty() || zone.find('%') != zone.npos) return std::nullopt;
    text = text.substr(0, percent);
  }
  const size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    std::optional<std::string> bytes = GroupBytes(text, /*at_end=*/true);
    if (!bytes || bytes->size() != kIpv6Bytes) return std::nullopt;
    return bytes;
  }
  const std::optional<std::string> head = GroupBytes(text.substr(0, gap), /*at_end=*/false);
  const std::optional<std::string> tail = GroupBytes(text.substr(gap + 2), /*at_end=*/true);
  // A `::` replaces at least one group.
  if (!head || !tail || head->size() + tail->size() > kIpv6Bytes - 2) return std::nullopt;
  return *head + std::string(kIpv6Bytes - head->size() - tail->size(), '\0') + *tail;
}

}  // namespace

std::optional<std::string> IpAddressBytes(std::string_view text) {
  return text.find(':') == std::string_view::npos ? Ipv4Bytes(text) : Ipv6Bytes(text);
}

}  // namespace redouble::inline v0_1::studio
