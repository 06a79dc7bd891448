// Parsers of positions, units and distances that the geo commands share, and the reply of a
// position.
//
// Each parser stores the value in its last parameter and returns the error reply, or nullopt.
//
// Thread-safety: pure functions.
// Source: Redis 7.0 GEOADD, GEOSEARCH.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_GEO_ARGUMENTS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_GEO_ARGUMENTS_H_

#include <optional>
#include <string_view>

#include "redouble/backends/memory/commands/geo/geohash.h"
#include "redouble/backends/memory/engine/command_context.h"

namespace redouble::inline v0_1::memory {

// A longitude and a latitude.
std::optional<Reply> ReadPosition(Arguments words, GeoPosition& position);
// The unit's length in meters.
std::optional<Reply> ReadGeoUnit(std::string_view word, double& unit_m);
// A number. `what` is its name in the error: "radius", "width".
std::optional<Reply> ReadLength(std::string_view word, std::string_view what, double& length);

// A position as GEOPOS and WITHCOORD reply it.
Reply PositionReply(const CommandContext& context, const GeoPosition& position);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_GEO_ARGUMENTS_H_
