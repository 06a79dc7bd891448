// The slots are replies of CLUSTER KEYSLOT and the payloads replies of DUMP, of redis-server
// 7.0.15.

#include "redouble/core/base/hash/crc.h"

#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::base {
namespace {

using std::string_view_literals::operator""sv;

TEST(Crc16, MatchesTheKnownVectors) {
  EXPECT_EQ(Crc16("123456789"), 0x31C3);
  EXPECT_EQ(Crc16(""), 0);
  EXPECT_EQ(Crc16("A"), 0x58E5);
}

TEST(HashTag, IsTheFirstNonEmptyPairOfBraces) {
  EXPECT_EQ(HashTag("{user1000}.following"), "user1000");
  EXPECT_EQ(HashTag("foo{bar}{zap}"), "bar");
  EXPECT_EQ(HashTag("foo{{bar}}zap"), "{bar");
  EXPECT_EQ(HashTag("}{a}"), "a");
}

TEST(HashTag, IsTheWholeKeyWithoutSuchAPair) {
  for (const std::string_view key : {"", "plain", "foo{}{bar}", "{", "}", "{}", "a{b", "a}b"}) {
    EXPECT_EQ(HashTag(key), key);
  }
}

TEST(KeySlot, MatchesClusterKeySlot) {
  const struct {
    std::string key;
    int slot;
  } kRows[] = {
      {"", 0},
      {"a", 15495},
      {"foo", 12182},
      {"123456789", 12739},
      {"{user1000}.following", 3443},
      {"{user1000}.followers", 3443},
      {"user1000", 3443},
      {"foo{}{bar}", 8363},
      {"foo{{bar}}zap", 4015},
      {"{bar", 4015},
      {"foo{bar}{zap}", 5061},
      {"bar", 5061},
      {"{", 4092},
      {"}", 12090},
      {"{}", 15257},
      {"{}a", 10875},
      {"}{a}", 15495},
      {"a{b", 13340},
      {"a}b{c}d", 7365},
      {"zap", 6469},
      {std::string("{\0}x"sv), 0},
      {"\xff\xfe", 3374},
      {std::string(1000, 'x'), 3195},
      {"Hello World", 6442},
  };
  for (const auto& row : kRows) EXPECT_EQ(KeySlot(row.key), row.slot) << row.key;
}

TEST(Crc64, MatchesTheKnownVector) {
  EXPECT_EQ(Crc64("123456789"), 0xe9c6d914c4b8d9caULL);
  EXPECT_EQ(Crc64(""), 0u);
}

TEST(Crc64, ClosesDumpPayloads) {
  for (const std::string_view hex : {
           "0001610a00bffeef9b8f367db4",
           "00c139300a009d94ea2793fc08b9",
           "001e68656c6c6f20776f726c642c20746869732069732061207061796c6f61640a00fe03186039bc94aa",
           "0b0e02000000030000000100020003000a00a5025ce26d6e4d1b",
           "0b2808000000040000000080ffffffffffffffffffffffffffff0300000000000000ffe30b54020000000a0"
           "0fb9cb571efd8031b",
           "114044440000000c00816302dffd0281660293302e313030303030303030303030303030303114816102010"
           "181620283322e350481"
           "65028531652b32300681640283696e6604ff0a006e94505493f5ab43",
       }) {
    const std::string payload = HexToBytes(hex).value();
    const std::string_view body = std::string_view(payload).substr(0, payload.size() - 8);
    std::string trailer;
    const uint64_t crc = Crc64(body);
    for (int byte = 0; byte < 8; ++byte) trailer.push_back(static_cast<char>(crc >> (8 * byte)));
    EXPECT_EQ(trailer, payload.substr(body.size())) << hex;
  }
}

// The definition, bit by bit.
uint64_t BitwiseCrc64(std::string_view bytes) {
  uint64_t crc = 0;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool out = ((crc >> 63) & 1) != ((static_cast<uint8_t>(c) >> bit) & 1);
      crc = (crc << 1) ^ (out ? 0xad93d23594c935a9ULL : 0);
    }
  }
  uint64_t reflected = 0;
  for (int bit = 0; bit < 64; ++bit) reflected |= ((crc >> bit) & 1) << (63 - bit);
  return reflected;
}

RC_GTEST_PROP(Crc64, EqualsItsBitwiseDefinition, (const std::string& bytes)) {
  RC_ASSERT(Crc64(bytes) == BitwiseCrc64(bytes));
}

RC_GTEST_PROP(Crc64, MayBeFedInParts, (const std::string& first, const std::string& second)) {
  RC_ASSERT(Crc64(second, Crc64(first)) == Crc64(first + second));
}

RC_GTEST_PROP(KeySlot, DependsOnTheHashTagOnly,
              (const std::string& prefix, const std::string& suffix)) {
  RC_PRE(prefix.find('{') == std::string::npos);
  RC_ASSERT(KeySlot(prefix + "{tag}" + suffix) == KeySlot("tag"));
}

TEST(NumberInSlot, HasTheSlotAndIsTheSmallestSuchNumber) {
  for (int slot = 0; slot < kClusterSlots; ++slot) {
    EXPECT_EQ(KeySlot(std::to_string(NumberInSlot(slot))), slot);
  }
  for (int number = 0; number < 100; ++number) {
    EXPECT_LE(NumberInSlot(KeySlot(std::to_string(number))), number);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::base
