#include "redouble/core/base/json/json_reading.h"

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::base {
namespace {

constexpr size_t kAbbreviatedBytes = 80;

}  // namespace

std::optional<int64_t> AsInt64(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  // The library stores a positive number as unsigned.
  constexpr uint64_t kGreatest = std::numeric_limits<int64_t>::max();
  if (value.is_number_unsigned() && value.get<uint64_t>() > kGreatest) return std::nullopt;
  return value.get<int64_t>();
}

std::string PointerPart(std::string_view name) {
  return absl::StrCat("/", absl::StrReplaceAll(ToAbsl(name), {{"~", "~0"}, {"/", "~1"}}));
}

std::string Abbreviated(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= kAbbreviatedBytes) return text;
  size_t cut = kAbbreviatedBytes;
  // Not in the middle of a character.
  while ((static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

std::string Expected(std::string_view what, const Json& got) {
  return absl::StrCat("expected ", ToAbsl(what), ", got ", Abbreviated(got));
}

}  // namespace redouble::inline v0_1::base
