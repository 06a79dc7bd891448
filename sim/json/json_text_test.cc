#include "redouble/sim/json/json_text.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "rapidcheck/gtest.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

RC_GTEST_PROP(JsonText, HasTheTextOfBytesAsAString, (const std::string& bytes)) {
  JsonText json;
  json.Add("before ");
  json.AddBytes(bytes);
  RC_ASSERT(json.text() == "before " + nlohmann::json(EncodeBytes(bytes)).dump());
}

TEST(JsonText, EscapesWhatJsonEscapes) {
  JsonText json;
  json.AddBytes("a \"quoted\" \\ line\n");
  EXPECT_EQ(json.text(), R"("a \"quoted\" \\ line\n")");
}

TEST(JsonText, HasAllNumbers) {
  JsonText json;
  for (const int64_t number : {int64_t{0}, int64_t{-7}, std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max()}) {
    json.AddInteger(number);
    json.Add(",");
  }
  EXPECT_EQ(json.text(), "0,-7,-9223372036854775808,9223372036854775807,");
}

TEST(JsonText, BeginsAgain) {
  JsonText json;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    json.AddBytes("word");
    expected += "\"word\"";
  }
  EXPECT_EQ(json.text(), expected);
  json.Clear();
  EXPECT_EQ(json.text(), "");
  json.Add("{}");
  EXPECT_EQ(json.text(), "{}");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
