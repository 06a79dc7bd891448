#include "redouble/core/python/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::python {
namespace {

using base::IsOkAndHolds;
using ::testing::Eq;

TEST(PythonText, StripsTheWhiteSpaceOfUnicode) {
  for (const std::string_view space :
       {"\t",     "\n",     "\v",     "\f",     "\r",     "\x1C",   "\x1D",
        "\x1E",   "\x1F",   " ",      "\u0085", "\u00A0", "\u1680", "\u2000",
        "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"}) {
    const std::string padded = std::string(space) + "a b" + std::string(space) + " ";
    EXPECT_EQ(Strip(padded), "a b");
    EXPECT_EQ(Strip(space), "");
  }
}

TEST(PythonText, KeepsOtherCharacters) {
  for (const std::string_view text :
       {"", "a", "\u200B", "\uFEFF", "\x1B", "\x80", "\xC2", "\u00E9"}) {
    EXPECT_EQ(Strip(text), text);
  }
}

// Recorded from CPython 3.13.
TEST(PythonText, LowersAllOfUnicode) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", ""},
      {"QUEUED x_1", "queued x_1"},
      {"\u00C9\u00D7\u00DE", "\u00E9\u00D7\u00FE"},
      {"\u0130", "i\u0307"},
      {"\u0100\u0101\u0178", "\u0101\u0101\u00FF"},
      {"\u1E9E\u2126\u212A", "\u00DF\u03C9k"},
      {"\u13A0\uAB70", "\uAB70\uAB70"},
      {"\U00010400\U0001E900", "\U00010428\U0001E922"},
      {"\u0410\u042F", "\u0430\u044F"},
  };
  for (const auto& [text, lower] : rows) EXPECT_EQ(Lower(text), lower) << text;
}

TEST(PythonText, EndsAWordWithAFinalSigma) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"\u03A3", "\u03C3"},
      {"\u0391\u03A3", "\u03B1\u03C2"},
      {"\u0391\u03A3\u0391", "\u03B1\u03C3\u03B1"},
      {"\u0391\u03A3 \u0391", "\u03B1\u03C2 \u03B1"},
      {"\u0391.\u03A3", "\u03B1.\u03C2"},
      {"\u0391\u03A3.\u0391", "\u03B1\u03C3.\u03B1"},
      {"1\u03A3", "1\u03C3"},
  };
  for (const auto& [text, lower] : rows) EXPECT_EQ(Lower(text), lower) << text;
}

TEST(PythonText, LeavesBytesThatAreNoText) { EXPECT_EQ(Lower("A\xFF"), "A\xFF"); }

TEST(PythonText, WritesValuesAsStrDoes) {
  EXPECT_THAT(TextOf(Value()), IsOkAndHolds("None"));
  EXPECT_THAT(TextOf(true), IsOkAndHolds("True"));
  EXPECT_THAT(TextOf(false), IsOkAndHolds("False"));
  EXPECT_THAT(TextOf(42), IsOkAndHolds("42"));
  EXPECT_THAT(TextOf(1e16), IsOkAndHolds("1e+16"));
  EXPECT_THAT(TextOf(" t "), IsOkAndHolds(" t "));
  EXPECT_THAT(TextOf(DateTime{absl::FromUnixMicros(1767268800000000)}),
              IsOkAndHolds("2026-01-01 12:00:00+00:00"));
  EXPECT_THAT(TextOf(Opaque{"UUID", "x-y"}), IsOkAndHolds("x-y"));
}

TEST(PythonText, RefusesTheTextOfAnArrayOrAnObject) {
  EXPECT_TRUE(absl::IsInvalidArgument(TextOf(Array()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TextOf(Object()).status()));
}

TEST(PythonText, NormalizesAnOptionalField) {
  const auto normalized = [](const Value& value) { return *NormalizedText(&value); };
  EXPECT_THAT(NormalizedText(nullptr), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ(normalized(Value()), std::nullopt);
  EXPECT_EQ(normalized(" \u00A0"), std::nullopt);
  EXPECT_EQ(normalized(" t1 "), "t1");
  EXPECT_EQ(normalized(0), "0");
  EXPECT_EQ(normalized(false), "False");
  const Value array = Array();
  EXPECT_TRUE(absl::IsInvalidArgument(NormalizedText(&array).status()));
}

}  // namespace
}  // namespace redouble::inline v0_1::python
