#include "redouble/backends/memory/server/memory_size.h"

#include <limits>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

TEST(ReadMemory, TakesUnitsOfAThousandAndOf1024) {
  EXPECT_EQ(ReadMemory("17"), 17u);
  EXPECT_EQ(ReadMemory("17b"), 17u);
  EXPECT_EQ(ReadMemory("2k"), 2000u);
  EXPECT_EQ(ReadMemory("2KB"), 2048u);
  EXPECT_EQ(ReadMemory("3mb"), 3u << 20);
  EXPECT_EQ(ReadMemory("1G"), 1'000'000'000u);
  EXPECT_EQ(ReadMemory("mb"), 0u);
  EXPECT_EQ(ReadMemory(""), 0u);
}

TEST(ReadMemory, RefusesWhatIsNoSize) {
  for (const char* text : {"-1", "1tb", "1 mb", "x"}) {
    EXPECT_EQ(ReadMemory(text), std::nullopt) << text;
  }
}

TEST(ReadMemory, OverflowsAsRedisDoes) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(ReadMemory("18446744073709551615"), kMost);
  EXPECT_EQ(ReadMemory("18446744073709551616b"), kMost);
  EXPECT_EQ(ReadMemory("99999999999gb"), 15140462030378500096u);
  EXPECT_EQ(ReadMemory("20000000000g"), 1553255926290448384u);
  EXPECT_EQ(ReadMemory("18446744073709551616kb"), kMost << 10);
}

TEST(ReadMemory, TakesAtMost127Digits) {
  EXPECT_EQ(ReadMemory(std::string(127, '0')), 0u);
  EXPECT_EQ(ReadMemory(std::string(128, '0')), std::nullopt);
}

TEST(ReadMemory, EndsAtAZeroByte) {
  EXPECT_EQ(ReadMemory(std::string_view("1kb\0x", 5)), 1024u);
  EXPECT_EQ(ReadMemory(std::string_view("\0", 1)), 0u);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
