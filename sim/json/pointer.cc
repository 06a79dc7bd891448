#include "redouble/sim/json/pointer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::sim {
namespace {

constexpr size_t kAbbreviatedBytes = 80;

}  // namespace

std::string PointerPart(std::string_view name) {
  return absl::StrCat("/", absl::StrReplaceAll(base::ToAbsl(name), {{"~", "~0"}, {"/", "~1"}}));
}

std::string Abbreviated(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= kAbbreviatedBytes) return text;
  size_t cut = kAbbreviatedBytes;
  // Not in the middle of a character.
  while ((static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

Json JsonDouble(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace redouble::sim
