#include "redouble/core/store/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::store {
namespace {

TEST(CommandLine, QuotesOnlyWordsThatNeedIt) {
  const std::vector<std::string_view> words = {"SET", "k:1",  "two words",   "",    "it's",
                                               "\"",  "\x01", "caf\xc3\xa9", "a\\b"};
  EXPECT_EQ(CommandLine(words), R"(SET k:1 "two words" "" "it's" "\"" "\x01" "caf\xc3\xa9" a\b)");
}

TEST(CommandLine, TakesStringsAndNothing) {
  EXPECT_EQ(CommandLine(std::vector<std::string>{"GET", "k"}), "GET k");
  EXPECT_EQ(CommandLine(std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
