#include "redouble/backends/memory/persistence/ziplist.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"

namespace redouble::inline v0_1::memory {
namespace {

using namespace std::string_literals;

using Texts = std::vector<std::string>;

// A ziplist with the given entries, whose number is `count`. The last one has `last_bytes`.
std::string Ziplist(const std::string& entries, uint64_t count, size_t last_bytes) {
  std::string bytes;
  AppendLittleEndian(entries.size() + 11, 4, bytes);
  AppendLittleEndian(10 + entries.size() - last_bytes, 4, bytes);
  AppendLittleEndian(count, 2, bytes);
  return bytes + entries + "\xff";
}
std::string Ziplist(const std::string& entry, uint64_t count) {
  return Ziplist(entry, count, entry.size());
}

TEST(Ziplist, HoldsStringsOfEveryLength) {
  const std::string middle(100, 'm');
  const std::string large(20'000, 'l');
  const std::string entries =
      "\x00\x02"
      "ab"s +
      "\x04\x40\x64"s + middle + "\x67\x80\x00\x00\x4e\x20"s + large + "\xfe\x26\x4e\x00\x00\x00"s;
  EXPECT_EQ(ReadZiplist(Ziplist(entries, 4, 6)), (Texts{"ab", middle, large, ""}));
}

TEST(Ziplist, HoldsIntegersOfEverySize) {
  const std::string entries =
      "\x00\xf1\x02\xfd\x02\xfe\x80\x03\xc0\x00\x80"
      "\x04\xf0\x00\x00\x80\x05\xd0\x00\x00\x00\x80\x06\xe0\x00\x00\x00\x00\x00\x00\x00\x80"s;
  EXPECT_EQ(ReadZiplist(Ziplist(entries, 7, 10)), (Texts{"0", "12", "-128", "-32768", "-8388608",
                                                         "-2147483648", "-9223372036854775808"}));
}

TEST(Ziplist, MayLeaveItsEntriesUncounted) {
  EXPECT_EQ(ReadZiplist(Ziplist("\x00\xf2"s, 0xFFFF)), Texts{"1"});
}

TEST(Ziplist, MayBeEmpty) { EXPECT_EQ(ReadZiplist(Ziplist("", 0)), Texts{}); }

TEST(Ziplist, RefusesWhatIsNone) {
  const std::string good = Ziplist(
      "\x00\x02"
      "ab\x04\xc0\x01\x02"s,
      2, 4);
  ASSERT_TRUE(ReadZiplist(good).has_value());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(ReadZiplist(good.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(ReadZiplist(good + "x"), std::nullopt) << "bytes behind the end";
  EXPECT_EQ(ReadZiplist(Ziplist("\x00\xf2"s, 2)), std::nullopt) << "a wrong count";
  EXPECT_EQ(ReadZiplist(Ziplist("\x00\xc1"s, 1)), std::nullopt) << "an unknown integer";
  EXPECT_EQ(ReadZiplist(Ziplist("\x00\x81"s, 1)), std::nullopt) << "an unknown string";
  EXPECT_EQ(ReadZiplist(Ziplist("\xfe\x00"s, 1)), std::nullopt) << "half a long size";
  EXPECT_EQ(ReadZiplist(Ziplist("\x00\x09"s, 1)), std::nullopt) << "a text that is not there";
}

TEST(Ziplist, RefusesWrongSizesOfPreviousEntries) {
  const auto read = [](const std::string& second, size_t last_bytes) {
    return ReadZiplist(Ziplist("\x00\x02"
                               "ab"s +
                                   second,
                               2, last_bytes))
        .has_value();
  };
  EXPECT_TRUE(read("\x04\xf1"s, 2));
  EXPECT_TRUE(read("\xfe\x04\x00\x00\x00\xf1"s, 6));
  EXPECT_FALSE(read("\x03\xf1"s, 2));
  EXPECT_FALSE(read("\xfe\x05\x00\x00\x00\xf1"s, 6));
  EXPECT_FALSE(read("\x04\xf1"s, 6)) << "the place of the last entry";
  EXPECT_FALSE(ReadZiplist(Ziplist("\x01\xf1"s, 1)).has_value()) << "nothing is before it";
}

TEST(Zipmap, HoldsFieldsAndValues) {
  const std::string large(300, 'l');
  EXPECT_EQ(ReadZipmap("\x02\x01"
                       "a\x02\x00"
                       "bc\x01"
                       "d\x01\x02"
                       "exx\xff"s),
            (Texts{"a", "bc", "d", "e"}));
  EXPECT_EQ(ReadZipmap("\x01\x01"
                       "a\xfe\x2c\x01\x00\x00\x00"s +
                       large + "\xff"),
            (Texts{"a", large}));
  EXPECT_EQ(ReadZipmap("\x00\xff"s), Texts{});
}

TEST(Zipmap, RefusesWhatIsNone) {
  const std::string good =
      "\x01\x01"
      "a\x02\x01"
      "bcx\xff"s;
  ASSERT_TRUE(ReadZipmap(good).has_value());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(ReadZipmap(good.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(ReadZipmap(good + "x"), std::nullopt) << "bytes behind the end";
  EXPECT_EQ(ReadZipmap("\x01\x01"
                       "a\xff"s),
            std::nullopt)
      << "a field without a value";
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
