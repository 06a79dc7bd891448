// What the geo commands read alike: positions, units and distances.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_ARGUMENTS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_ARGUMENTS_H_

#include <optional>
#include <string_view>

#include "backends/memory/command_context.h"
#include "backends/memory/values/geohash.h"

namespace redouble::memory {

// Each reads into its last parameter and gives the error to reply, if any.

// A longitude and a latitude.
std::optional<Reply> ReadPosition(Arguments words, GeoPosition& position);
// How many metres the unit has.
std::optional<Reply> ReadGeoUnit(std::string_view word, double& unit_m);
// A number. `what` is its name in the error: "radius", "width".
std::optional<Reply> ReadLength(std::string_view word, std::string_view what, double& length);

// A position as GEOPOS and WITHCOORD reply it.
Reply PositionReply(const GeoPosition& position);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_ARGUMENTS_H_
