#include "redouble/core/base/json/json_reading.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

TEST(AsInt64, ReturnsIntegersThatFitOnly) {
  EXPECT_EQ(AsInt64(Json(-7)), -7);
  EXPECT_EQ(AsInt64(Json::parse("9223372036854775807")), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(AsInt64(Json::parse("-9223372036854775808")), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(AsInt64(Json::parse("9223372036854775808")), std::nullopt);
  EXPECT_EQ(AsInt64(Json(1.0)), std::nullopt);
  EXPECT_EQ(AsInt64(Json("1")), std::nullopt);
  EXPECT_EQ(AsInt64(Json(true)), std::nullopt);
}

TEST(PointerPart, EscapesSlashesAndTildes) {
  EXPECT_EQ(PointerPart("name"), "/name");
  EXPECT_EQ(PointerPart("a~/b"), "/a~0~1b");
  EXPECT_EQ(PointerPart(""), "/");
}

TEST(Abbreviated, CutsLongValuesBetweenCharacters) {
  EXPECT_EQ(Abbreviated(Json("short")), "\"short\"");
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "\xc3\xa9";
  const std::string text = Abbreviated(Json(long_text));
  EXPECT_TRUE(text.ends_with("\xc3\xa9...")) << text;
  EXPECT_LE(text.size(), 83u);
}

TEST(Abbreviated, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Abbreviated(Json("\xff")), "\"\xef\xbf\xbd\"");
}

TEST(Expected, SaysWhatWasFound) {
  EXPECT_EQ(Expected("a number", Json({{"a", "x"}})), R"(expected a number, got {"a":"x"})");
}

}  // namespace
}  // namespace redouble::inline v0_1::base
