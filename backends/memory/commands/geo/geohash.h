// Geohashes as Redis stores them: 52 bits, as the score of a sorted set's member.
//
// The bits of latitude and longitude alternate, so that close positions usually have close scores,
// and a square of the map is a range of scores.
//
//   const uint64_t score = EncodePosition({13.361389, 38.115556});  // 3479099956230698
//   DistanceMeters(DecodePosition(score), {15.087269, 37.502669});  // some 166 km
//
// Thread-safety: pure functions.
// Source: Redis 7.0 GEOADD, GEOHASH, GEOSEARCH.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_GEOHASH_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_GEOHASH_H_

#include <cstdint>
#include <string>
#include <vector>

namespace redouble::inline v0_1::memory {

// In degrees.
struct GeoPosition {
  double longitude = 0;
  double latitude = 0;
};

// The greatest longitude and latitude that Redis accepts, in degrees.
inline constexpr double kMaxLongitude = 180;
inline constexpr double kMaxLatitude = 85.05112878;

// Returns whether Redis accepts the position.
bool IsOnMap(const GeoPosition& position);

// Returns the score of a position for which IsOnMap() is true.
uint64_t EncodePosition(const GeoPosition& position);
// The center of the cell that the score encodes.
GeoPosition DecodePosition(double score);

// The standard geohash of 11 characters; the last one is always "0".
std::string GeohashText(const GeoPosition& position);

// The haversine distance on a sphere of Redis's radius.
double DistanceMeters(const GeoPosition& a, const GeoPosition& b);

// A circle, or a box with sides along meridians and parallels, around `center`.
struct GeoShape {
  enum class Kind { kCircle, kBox };
  Kind kind = Kind::kCircle;
  GeoPosition center;
  double radius_m = 0;
  double width_m = 0;
  double height_m = 0;
};

// True if the position is within the shape.
bool Contains(const GeoShape& shape, const GeoPosition& position);

// Scores from `min`, inclusive, to `max`, exclusive.
struct GeoScoreRange {
  double min;
  double max;
};

// The cells that cover the shape: the center cell first, then in the order in which Redis searches.
std::vector<GeoScoreRange> SearchRanges(const GeoShape& shape);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_GEO_GEOHASH_H_
