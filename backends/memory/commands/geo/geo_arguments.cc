#include "redouble/backends/memory/commands/geo/geo_arguments.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/shortest_double.h"

namespace redouble::inline v0_1::memory {
namespace {

struct Unit {
  std::string_view word;
  double meters;
};
constexpr auto kUnits =
    std::to_array<Unit>({{"m", 1}, {"km", 1000}, {"ft", 0.3048}, {"mi", 1609.34}});

}  // namespace

std::optional<Reply> ReadPosition(Arguments words, GeoPosition& position) {
  const std::optional<double> longitude = base::ParseDouble(words[0]);
  if (!longitude) return Reply::Error(error_text::kNotAFloat);
  const std::optional<double> latitude = base::ParseDouble(words[1]);
  if (!latitude) return Reply::Error(error_text::kNotAFloat);
  position = {*longitude, *latitude};
  if (IsOnMap(position)) return std::nullopt;
  return Reply::Error(
      absl::StrFormat("ERR invalid longitude,latitude pair %f,%f", *longitude, *latitude));
}

std::optional<Reply> ReadGeoUnit(std::string_view word, double& unit_m) {
  for (const Unit& unit : kUnits) {
    if (!IsWord(word, unit.word)) continue;
    unit_m = unit.meters;
    return std::nullopt;
  }
  return Reply::Error("ERR unsupported unit provided. please use M, KM, FT, MI");
}

std::optional<Reply> ReadLength(std::string_view word, std::string_view what, double& length) {
  const std::optional<double> number = base::ParseDouble(word);
  if (!number) return Reply::Error(absl::StrCat("ERR need numeric ", base::ToAbsl(what)));
  length = *number;
  return std::nullopt;
}

Reply PositionReply(const CommandContext& context, const GeoPosition& position) {
  const bool is_shortest = context.engine().Has(Feature::kShortestPositions);
  const auto text = [&](double degrees) {
    return Reply::Double(is_shortest ? base::FormatShortestDouble(degrees)
                                     : base::FormatLongDoubleHuman(base::Extended(degrees)));
  };
  return Reply::Array({text(position.longitude), text(position.latitude)});
}

}  // namespace redouble::inline v0_1::memory
