#include "redouble/backends/memory/persistence/lzf.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using namespace std::string_literals;

TEST(Lzf, RepeatsWhatCameBefore) {
  // "ab", then 3 and 10 bytes from two bytes back; the second length needs an additional byte.
  EXPECT_EQ(DecompressLzf("\x01"
                          "ab"
                          "\x20\x01"s,
                          5),
            "ababa");
  EXPECT_EQ(DecompressLzf("\x01"
                          "ab"
                          "\xe0\x01\x01"s,
                          12),
            "abababababab");
  EXPECT_EQ(DecompressLzf("", 0), "");
}

TEST(Lzf, RefusesWhatIsNotCompressed) {
  EXPECT_EQ(DecompressLzf("\x02"
                          "ab",
                          3),
            std::nullopt)
      << "literals that are not there";
  EXPECT_EQ(DecompressLzf("\x00"
                          "a"
                          "\x20"s,
                          4),
            std::nullopt)
      << "a distance that is missing";
  EXPECT_EQ(DecompressLzf("\x00"
                          "a"
                          "\xe0\x00"s,
                          4),
            std::nullopt)
      << "half a long reference";
  EXPECT_EQ(DecompressLzf("\x00"
                          "a"
                          "\x20\x01"s,
                          4),
            std::nullopt)
      << "before the beginning";
  EXPECT_EQ(DecompressLzf("\x00"
                          "a"s,
                          2),
            std::nullopt)
      << "too short";
  EXPECT_EQ(DecompressLzf("\x01"
                          "ab"s,
                          1),
            std::nullopt)
      << "too long";
}

// Recorded from redis-server 7.0.15: the bytes after the two lengths in DUMP payloads.
TEST(Lzf, CompressesAsRedisDoes) {
  EXPECT_EQ(CompressLzf(std::string(30, 'a')),
            "\x01"
            "aa\xe0"
            "\x11"
            "\x00"
            "\x01"
            "aa"s);
  EXPECT_EQ(CompressLzf("abcabcabcabcabcabcabcabcabcabcXYZ"),
            "\x03"
            "abca\xe0"
            "\x11"
            "\x02"
            "\x02"
            "XYZ"s);
  EXPECT_EQ(CompressLzf("one two three, one two three, one two four"),
            "\x0f"
            "one two three, o\xe0"
            "\x0d"
            "\x0e"
            "\x03"
            "four"s);
}

TEST(Lzf, CompressesATextTheSameWhateverCameBefore) {
  const std::string text = "one two three, one two three, one two four";
  const std::optional<std::string> first = CompressLzf(text);
  std::string other;
  for (int i = 0; other.size() < (1 << 20); ++i) other += std::to_string(i * i) + text;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(DecompressLzf(CompressLzf(other).value(), other.size()), other);
    EXPECT_EQ(CompressLzf(text), first);
  }
}

TEST(Lzf, DoesNotCompressTextThatGetsNoSmaller) {
  EXPECT_EQ(CompressLzf(""), std::nullopt);
  EXPECT_EQ(CompressLzf("aaaa"), std::nullopt);
  EXPECT_EQ(CompressLzf("abcdefghijklmnopqrstuvwxyz"), std::nullopt);
}

// Texts of few letters contain many repetitions.
RC_GTEST_PROP(Lzf, GivesBackWhatItCompressed, (const std::vector<uint8_t>& seed, uint8_t letters)) {
  std::string text;
  for (int round = 0; round < 12; ++round) {
    for (const uint8_t byte : seed) {
      text.push_back(static_cast<char>('a' + (byte * (round % 3 + 1)) % (letters % 7 + 1)));
    }
  }
  const std::optional<std::string> compressed = CompressLzf(text);
  if (!compressed) return;
  RC_ASSERT(compressed->size() + 4 <= text.size());
  RC_ASSERT(DecompressLzf(*compressed, text.size()) == text);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
