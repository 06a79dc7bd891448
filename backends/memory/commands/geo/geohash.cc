#include "redouble/backends/memory/commands/geo/geohash.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace redouble::inline v0_1::memory {
namespace {

constexpr int kMaxStep = 26;
constexpr double kEarthRadiusMeters = 6372797.560856;
constexpr double kMercatorMaxMeters = 20037726.37;
constexpr double kDegree = M_PI / 180.0;

// The area that is divided into cells.
struct Map {
  double max_longitude;
  double max_latitude;
};
constexpr Map kRedisMap = {kMaxLongitude, kMaxLatitude};
constexpr Map kWholeMap = {180, 90};

double Radians(double degrees) { return degrees * kDegree; }
double Degrees(double radians) { return radians / kDegree; }

// A cell: `step` bits of each coordinate.
struct Square {
  uint32_t x;  // Longitude.
  uint32_t y;  // Latitude.
  int step;
};

struct Bounds {
  double min_longitude;
  double max_longitude;
  double min_latitude;
  double max_latitude;
};

// Inserts a zero bit before each bit.
uint64_t Spread(uint32_t value) {
  uint64_t bits = value;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

uint32_t Gather(uint64_t bits) {
  bits &= 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return static_cast<uint32_t>(bits | bits >> 16);
}

uint64_t BitsOf(const Square& square) { return Spread(square.y) | Spread(square.x) << 1; }

uint32_t Coordinate(double value, double max, int step) {
  const double offset = (value + max) / (max + max);
  return static_cast<uint32_t>(offset * static_cast<double>(uint64_t{1} << step));
}

Square SquareAt(const Map& map, const GeoPosition& position, int step) {
  return {Coordinate(position.longitude, map.max_longitude, step),
          Coordinate(position.latitude, map.max_latitude, step), step};
}

double Edge(uint32_t index, double max, int step) {
  const auto squares = static_cast<double>(uint64_t{1} << step);
  return -max + (static_cast<double>(index) / squares) * (max + max);
}

Bounds BoundsOf(const Square& square) {
  return {Edge(square.x, kMaxLongitude, square.step),
          Edge(square.x + 1, kMaxLongitude, square.step), Edge(square.y, kMaxLatitude, square.step),
          Edge(square.y + 1, kMaxLatitude, square.step)};
}

// The cell that many cells to the east and to the north, wrapping around at the edges of the map.
Square Neighbor(const Square& square, int east, int north) {
  const uint32_t mask = (uint32_t{1} << square.step) - 1;
  // A position exactly on the edge has its own cell, which only a move folds back.
  const uint32_t x = east == 0 ? square.x : (square.x + static_cast<uint32_t>(east)) & mask;
  const uint32_t y = north == 0 ? square.y : (square.y + static_cast<uint32_t>(north)) & mask;
  return {x, y, square.step};
}

double LatitudeDistance(double a, double b) {
  return kEarthRadiusMeters * std::fabs(Radians(b) - Radians(a));
}

// The bounding box of the shape.
Bounds BoundsOf(const GeoShape& shape) {
  const bool circle = shape.kind == GeoShape::Kind::kCircle;
  const double height = circle ? shape.radius_m : shape.height_m / 2;
  const double width = circle ? shape.radius_m : shape.width_m / 2;
  const auto [longitude, latitude] = shape.center;
  const double latitude_delta = Degrees(height / kEarthRadiusMeters);
  // A degree of longitude is shortest at the edge nearest to a pole.
  const double edge = latitude < 0 ? latitude - latitude_delta : latitude + latitude_delta;
  const double longitude_delta = Degrees(width / kEarthRadiusMeters / std::cos(Radians(edge)));
  return {longitude - longitude_delta, longitude + longitude_delta, latitude - latitude_delta,
          latitude + latitude_delta};
}

// The precision at which a cell and its eight neighbors cover the shape.
int EstimateStep(double radius_m, double latitude) {
  if (radius_m == 0) return kMaxStep;
  int step = 1;
  for (; radius_m < kMercatorMaxMeters; radius_m *= 2) ++step;
  step -= 2;
  // Cells are narrower towards the poles.
  if (std::fabs(latitude) > 66) --step;
  if (std::fabs(latitude) > 80) --step;
  return std::clamp(step, 1, kMaxStep);
}

bool CoversWithNeighbors(const Square& square, const Bounds& bounds) {
  return BoundsOf(Neighbor(square, 0, 1)).max_latitude >= bounds.max_latitude &&
         BoundsOf(Neighbor(square, 0, -1)).min_latitude <= bounds.min_latitude &&
         BoundsOf(Neighbor(square, 1, 0)).max_longitude >= bounds.max_longitude &&
         BoundsOf(Neighbor(square, -1, 0)).min_longitude <= bounds.min_longitude;
}

// The cell at the center of the search.
Square MiddleSquare(const GeoShape& shape, const Bounds& bounds) {
  const double radius_m = shape.kind == GeoShape::Kind::kCircle
                              ? shape.radius_m
                              : std::sqrt((shape.width_m / 2) * (shape.width_m / 2) +
                                          (shape.height_m / 2) * (shape.height_m / 2));
  const int step = EstimateStep(radius_m, shape.center.latitude);
  const Square square = SquareAt(kRedisMap, shape.center, step);
  if (step == 1 || CoversWithNeighbors(square, bounds)) return square;
  return SquareAt(kRedisMap, shape.center, step - 1);
}

struct Direction {
  int east;
  int north;
};
constexpr Direction kSearchOrder[] = {{0, 0}, {0, 1},  {0, -1}, {1, 0},  {-1, 0},
                                      {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};

// True if the shape does not reach beyond the center cell in that direction.
bool IsUseless(const Direction& direction, const Bounds& middle, const Bounds& bounds) {
  return (direction.north < 0 && middle.min_latitude < bounds.min_latitude) ||
         (direction.north > 0 && middle.max_latitude > bounds.max_latitude) ||
         (direction.east < 0 && middle.min_longitude < bounds.min_longitude) ||
         (direction.east > 0 && middle.max_longitude > bounds.max_longitude);
}

}  // namespace

bool IsOnMap(const GeoPosition& position) {
  return position.longitude >= -kMaxLongitude && position.longitude <= kMaxLongitude &&
         position.latitude >= -kMaxLatitude && position.latitude <= kMaxLatitude;
}

uint64_t EncodePosition(const GeoPosition& position) {
  return BitsOf(SquareAt(kRedisMap, position, kMaxStep));
}

GeoPosition DecodePosition(double score) {
  const auto bits = static_cast<uint64_t>(score);
  const Bounds bounds = BoundsOf(Square{Gather(bits >> 1), Gather(bits), kMaxStep});
  const double longitude = (bounds.min_longitude + bounds.max_longitude) / 2;
  const double latitude = (bounds.min_latitude + bounds.max_latitude) / 2;
  return {std::clamp(longitude, -kMaxLongitude, kMaxLongitude),
          std::clamp(latitude, -kMaxLatitude, kMaxLatitude)};
}

std::string GeohashText(const GeoPosition& position) {
  constexpr std::string_view kAlphabet = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr int kBitsPerLetter = 5;
  const uint64_t bits = BitsOf(SquareAt(kWholeMap, position, kMaxStep));
  std::string text;
  for (int shift = 2 * kMaxStep - kBitsPerLetter; shift >= 0; shift -= kBitsPerLetter) {
    text += kAlphabet[(bits >> shift) & 0x1f];
  }
  // Two bits remain: Redis fills the eleventh character with zeros.
  return text + '0';
}

double DistanceMeters(const GeoPosition& a, const GeoPosition& b) {
  const double v = std::sin((Radians(b.longitude) - Radians(a.longitude)) / 2);
  if (v == 0.0) return LatitudeDistance(a.latitude, b.latitude);
  const double latitude_a = Radians(a.latitude);
  const double latitude_b = Radians(b.latitude);
  const double u = std::sin((latitude_b - latitude_a) / 2);
  const double h = u * u + std::cos(latitude_a) * std::cos(latitude_b) * v * v;
  return 2.0 * kEarthRadiusMeters * std::asin(std::sqrt(h));
}

bool Contains(const GeoShape& shape, const GeoPosition& position) {
  if (shape.kind == GeoShape::Kind::kCircle) {
    return DistanceMeters(shape.center, position) <= shape.radius_m;
  }
  if (LatitudeDistance(position.latitude, shape.center.latitude) > shape.height_m / 2) return false;
  const GeoPosition beside = {shape.center.longitude, position.latitude};
  return DistanceMeters(position, beside) <= shape.width_m / 2;
}

std::vector<GeoScoreRange> SearchRanges(const GeoShape& shape) {
  const Bounds bounds = BoundsOf(shape);
  const Square middle = MiddleSquare(shape, bounds);
  const Bounds middle_bounds = BoundsOf(middle);
  std::vector<GeoScoreRange> ranges;
  std::optional<uint64_t> previous;
  for (const Direction& direction : kSearchOrder) {
    if (middle.step >= 2 && IsUseless(direction, middle_bounds, bounds)) continue;
    const uint64_t bits = BitsOf(Neighbor(middle, direction.east, direction.north));
    // On a map of few cells two directions may lead to the same cell. As in Redis, only the cell
    // searched just before is skipped, and never the center.
    if (previous == bits) continue;
    if (direction.east != 0 || direction.north != 0) previous = bits;
    const int shift = 2 * (kMaxStep - middle.step);
    ranges.push_back(
        {static_cast<double>(bits << shift), static_cast<double>((bits + 1) << shift)});
  }
  return ranges;
}

}  // namespace redouble::inline v0_1::memory
