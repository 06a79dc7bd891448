// Positions on the earth as Redis keeps them: a geohash of 52 bits, which is the score of a sorted
// set's member.
//
// The bits of latitude and longitude take turns, so that what is close together mostly has close
// scores, and a square of the map is a range of scores.
//
//   const uint64_t score = EncodePosition({13.361389, 38.115556});  // 3479099956230698
//   DistanceMeters(DecodePosition(score), {15.087269, 37.502669});  // some 166 km
//
// Thread-safety: pure functions. Source: Redis 7.0 GEOADD, GEOHASH, GEOSEARCH.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_GEOHASH_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_GEOHASH_H_

#include <cstdint>
#include <string>
#include <vector>

namespace redouble::memory {

// In degrees.
struct GeoPosition {
  double longitude = 0;
  double latitude = 0;
};

// Redis's map ends short of the poles.
inline constexpr double kMaxLongitude = 180;
inline constexpr double kMaxLatitude = 85.05112878;

// False outside of the map.
bool IsOnMap(const GeoPosition& position);

// The score of a position on the map.
uint64_t EncodePosition(const GeoPosition& position);
// The middle of the smallest square that the score names.
GeoPosition DecodePosition(double score);

// The usual geohash of 11 letters, the last of which is always "0".
std::string GeohashText(const GeoPosition& position);

// By the haversine formula, on a sphere of Redis's radius.
double DistanceMeters(const GeoPosition& a, const GeoPosition& b);

// A circle, or a box along the meridians, around a position.
struct GeoShape {
  enum class Kind { kCircle, kBox };
  Kind kind = Kind::kCircle;
  GeoPosition center;
  double radius_m = 0;
  double width_m = 0;
  double height_m = 0;
};

// Whether a position lies within the shape.
bool Contains(const GeoShape& shape, const GeoPosition& position);

// Scores from `min` to before `max`.
struct GeoScoreRange {
  double min;
  double max;
};

// Squares that cover the shape, the middle one first, in the order in which Redis searches them.
std::vector<GeoScoreRange> SearchRanges(const GeoShape& shape);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_GEOHASH_H_
