#include "redouble/backends/memory/server/memory_size.h"

#include <limits>

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

TEST(ReadMemory, StopsAtTheMostThatThereIs) {
  EXPECT_EQ(ReadMemory("99999999999gb"), std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
