#include "redouble/backends/memory/commands/geo/geohash.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr GeoPosition kPalermo = {13.361389, 38.115556};
constexpr GeoPosition kCatania = {15.087269, 37.502669};

double AnyDegrees(double max) {
  const auto micro = static_cast<int64_t>(max * 1e6);
  return static_cast<double>(*rc::gen::inRange<int64_t>(-micro, micro + 1)) / 1e6;
}

GeoPosition AnyPosition() {
  const double longitude = AnyDegrees(180);
  return {longitude, AnyDegrees(85)};
}

bool IsSearched(const GeoShape& shape, const GeoPosition& position) {
  const auto score = static_cast<double>(EncodePosition(position));
  const std::vector<GeoScoreRange> ranges = SearchRanges(shape);
  return std::any_of(ranges.begin(), ranges.end(), [&](const GeoScoreRange& range) {
    return score >= range.min && score < range.max;
  });
}

TEST(Geohash, EncodesAsRedisDoes) {
  EXPECT_EQ(EncodePosition(kPalermo), 3479099956230698u);
  EXPECT_EQ(EncodePosition(kCatania), 3479447370796909u);
  EXPECT_EQ(EncodePosition({-180, -kMaxLatitude}), 0u);
}

TEST(Geohash, WritesTheUsualText) {
  EXPECT_EQ(GeohashText(DecodePosition(3479099956230698)), "sqc8b49rny0");
  EXPECT_EQ(GeohashText(DecodePosition(3479447370796909)), "sqdtr74hyu0");
}

TEST(Geohash, KnowsTheEdgesOfTheMap) {
  EXPECT_TRUE(IsOnMap({180, 85.05112878}));
  EXPECT_TRUE(IsOnMap({-180, -85.05112878}));
  EXPECT_FALSE(IsOnMap({180.1, 0}));
  EXPECT_FALSE(IsOnMap({0, -85.06}));
  EXPECT_FALSE(IsOnMap({std::nan(""), 0}));
}

RC_GTEST_PROP(Geohash, KeepsAPositionWithinAMetre, ()) {
  const GeoPosition position = AnyPosition();
  const GeoPosition kept = DecodePosition(static_cast<double>(EncodePosition(position)));
  RC_ASSERT(DistanceMeters(position, kept) < 1.0);
}

TEST(GeoDistance, IsMeasuredOnASphere) {
  EXPECT_NEAR(DistanceMeters(kPalermo, kCatania), 166274.15, 0.5);
  EXPECT_EQ(DistanceMeters(kPalermo, kPalermo), 0);
  // A quarter of a meridian.
  EXPECT_NEAR(DistanceMeters({0, 0}, {0, 90}), 6372797.560856 * M_PI / 2, 1e-6);
}

TEST(GeoShape, ContainsWhatIsNearEnough) {
  GeoShape circle;
  circle.center = kPalermo;
  circle.radius_m = 166'000;
  EXPECT_FALSE(Contains(circle, kCatania));
  circle.radius_m = 167'000;
  EXPECT_TRUE(Contains(circle, kCatania));
}

TEST(GeoShape, OfABoxLooksAtBothSides) {
  GeoShape box;
  box.kind = GeoShape::Kind::kBox;
  box.center = kPalermo;
  box.width_m = 310'000;
  box.height_m = 140'000;
  EXPECT_TRUE(Contains(box, kCatania));
  box.width_m = 300'000;
  EXPECT_FALSE(Contains(box, kCatania));
  box.width_m = 310'000;
  box.height_m = 130'000;
  EXPECT_FALSE(Contains(box, kCatania));
}

// Far from the poles and the date line, where Redis's cells cover the shape.
RC_GTEST_PROP(GeoSearch, FindsWhatTheShapeContains, ()) {
  GeoShape circle;
  circle.center.longitude = AnyDegrees(90);
  circle.center.latitude = AnyDegrees(50);
  circle.radius_m = *rc::gen::inRange(1, 500'000);
  const double reach = circle.radius_m / 111'000;
  GeoPosition position = circle.center;
  position.longitude += AnyDegrees(1) * reach;
  position.latitude += AnyDegrees(1) * reach;
  if (Contains(circle, position)) RC_ASSERT(IsSearched(circle, position));
}

TEST(GeoSearch, LooksAtFewSquaresOfASmallCircle) {
  GeoShape circle;
  circle.center = kPalermo;
  EXPECT_EQ(SearchRanges(circle).size(), 1u);
  circle.radius_m = 1000;
  EXPECT_LE(SearchRanges(circle).size(), 9u);
  EXPECT_FALSE(IsSearched(circle, kCatania));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
