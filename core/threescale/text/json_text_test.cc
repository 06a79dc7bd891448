#include "redouble/core/threescale/text/json_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <string>

namespace redouble::inline v0_1::threescale {
namespace {

TEST(JsonText, KeepsTheOrderOfFields) {
  EXPECT_EQ(JsonObject().Add("b", 1).Add("a", "x").Add("c", 0.5).text(),
            R"({"b":1,"a":"x","c":0.5})");
  EXPECT_EQ(JsonObject().text(), "{}");
}

TEST(JsonText, Nests) {
  EXPECT_EQ(JsonObject().Add("o", JsonObject().Add("n", int64_t{-3})).AddJson("x", "null").text(),
            R"({"o":{"n":-3},"x":null})");
}

TEST(JsonText, EscapesQuotesBackslashesAndControlCharactersOnly) {
  EXPECT_EQ(JsonString("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(JsonString("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(JsonString(std::string("\x00\x1f", 2)), R"("\u0000\u001F")");
  EXPECT_EQ(JsonString("a/b<c>\x7f"), "\"a/b<c>\x7f\"");
  EXPECT_EQ(JsonString("h\u00e9"), "\"h\u00e9\"");
  EXPECT_EQ(JsonString("\xff"), "\"\xff\"");
}

TEST(JsonText, WritesDoublesAsTheDocumentedSystemDoes) {
  EXPECT_EQ(JsonDouble(1), "1.0");
  EXPECT_EQ(JsonDouble(0.8), "0.8");
  EXPECT_EQ(JsonDouble(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(JsonDouble(1.15), "1.15");
  EXPECT_EQ(JsonDouble(0), "0.0");
  EXPECT_EQ(JsonDouble(1e21), "1.0e+21");
  EXPECT_EQ(JsonDouble(1.25e300), "1.25e+300");
}

TEST(JsonText, ChangesToExponentsAtTheEdges) {
  EXPECT_EQ(JsonDouble(0.0001), "0.0001");
  EXPECT_EQ(JsonDouble(0.00001), "1.0e-05");
  EXPECT_EQ(JsonDouble(0.000099), "9.9e-05");
  EXPECT_EQ(JsonDouble(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(JsonDouble(1e16), "1.0e+16");
}

RC_GTEST_PROP(JsonTextProperty, ReadsBackTheSameDouble, (double number)) {
  RC_ASSERT(std::strtod(JsonDouble(number).c_str(), nullptr) == number);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
