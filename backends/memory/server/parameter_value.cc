#include "redouble/backends/memory/server/parameter_value.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr char kNotMemory[] = "argument must be a memory value";

bool Is(std::string_view text, std::string_view name) {
  return absl::EqualsIgnoreCase(base::ToAbsl(text.substr(0, text.find('\0'))), base::ToAbsl(name));
}

std::string OutOfRange(int64_t low, int64_t high) {
  return absl::StrCat("argument must be between ", low, " and ", high, " inclusive");
}

}  // namespace

ValueError ReadNumber(std::string_view text, int64_t low, int64_t high, int64_t& value) {
  const std::optional<int64_t> number = base::ParseInt64(text);
  if (!number) return "argument couldn't be parsed into an integer";
  if (*number < low || *number > high) return OutOfRange(low, high);
  value = *number;
  return std::nullopt;
}

ValueError ReadSize(std::string_view text, int64_t low, int64_t high, int64_t& value) {
  const std::optional<uint64_t> bytes = ReadMemory(text);
  if (!bytes) return kNotMemory;
  if (*bytes < static_cast<uint64_t>(low) || *bytes > static_cast<uint64_t>(high)) {
    return OutOfRange(low, high);
  }
  value = static_cast<int64_t>(*bytes);
  return std::nullopt;
}

ValueError ReadUnsignedSize(std::string_view text, uint64_t& value) {
  const std::optional<uint64_t> bytes = ReadMemory(text);
  if (!bytes) return kNotMemory;
  value = *bytes;
  return std::nullopt;
}

ValueError ReadSwitch(std::string_view text, bool& value) {
  const bool yes = Is(text, "yes");
  if (!yes && !Is(text, "no")) return "argument must be 'yes' or 'no'";
  value = yes;
  return std::nullopt;
}

ValueError ReadChoice(std::string_view text, std::span<const std::string_view> names,
                      size_t& index) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](std::string_view name) { return Is(text, name); });
  if (found == names.end()) {
    const auto append = [](std::string* out, std::string_view name) { out->append(name); };
    return "argument(s) must be one of the following: " + absl::StrJoin(names, ", ", append);
  }
  index = static_cast<size_t>(found - names.begin());
  return std::nullopt;
}

ValueError CheckFileName(std::string_view text) {
  if (text.find('/') == text.npos) return std::nullopt;
  return "dbfilename can't be a path, just a filename";
}

}  // namespace redouble::inline v0_1::memory
