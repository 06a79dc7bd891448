#include "redouble/backends/memory/persistence/rdb_value.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {
namespace {

TEST(RdbValue, KnowsTheTypesThatItReads) {
  int read = 0;
  for (int number = 0; number < 256; ++number) {
    const auto type = static_cast<RdbType>(number);
    if (!ReadsRdbType(type)) continue;
    ++read;
    EXPECT_FALSE(NameOfRdbType(type).empty()) << number;
  }
  EXPECT_EQ(read, 21);
  EXPECT_EQ(NameOfRdbType(RdbType::kHashWithExpiries), "hash with field expiries");
  EXPECT_EQ(NameOfRdbType(static_cast<RdbType>(8)), "") << "no version has it";
  EXPECT_FALSE(ReadsRdbType(RdbType::kModule));
  EXPECT_FALSE(ReadsRdbType(RdbType::kPreReleaseHashWithExpiries));
}

TEST(RdbValue, IsWrittenAsTheTypeOfItsEncoding) {
  EXPECT_EQ(RdbTypeOf(Value::String("x")), RdbType::kString);
  EXPECT_EQ(RdbTypeOf(Value::Empty<Set>()), RdbType::kSetIntset);
  Set set;
  set.Add("x", {});
  EXPECT_EQ(RdbTypeOf(Value::Of(std::move(set))), RdbType::kSet);
  EXPECT_EQ(RdbTypeOf(Value::Empty<Hash>()), RdbType::kHashListpack);
  EXPECT_EQ(RdbTypeOf(Value::Of(std::make_unique<Stream>())), RdbType::kStream7);
}

TEST(RdbValue, IsCompressedOnRequest) {
  const std::string text(1000, 'x');
  Hash hash;
  hash.Set("f", text, {});
  const Value value = Value::Of(std::move(hash));
  for (const RdbCompression compression : {RdbCompression::kOn, RdbCompression::kOff}) {
    std::string out;
    AppendRdbValue(value, out, {.version = kRdbVersionOfRedis70, .compression = compression});
    EXPECT_EQ(out.size() < text.size(), compression == RdbCompression::kOn);
    RdbReader reader(out);
    const std::optional<Value> copy = ReadRdbValue(RdbTypeOf(value), reader, {});
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ(copy->As<Hash>()->Get("f"), text);
  }
}

// What DUMP of Redis 8.0.2 returns, without the trailer, is in tests/conformance/versions.
TEST(RdbValue, KeepsTheDeadlinesOfFields) {
  for (const size_t packed_fields : {size_t{512}, size_t{0}}) {
    EncodingLimits limits;
    limits.hash_max_listpack_entries = packed_fields;
    Hash hash;
    hash.Set("a", "1", limits);
    hash.Set("b", "2", limits);
    hash.Set("c", "3", limits);
    const Value value = Value::Of(std::move(hash));
    const FieldTimes times = {{"b", 2000}, {"c", 1000}};
    constexpr RdbFormat kRedis74{.version = 12};
    std::string out;
    AppendRdbValue(value, out, kRedis74, &times);
    RdbReader reader(out);
    std::optional<FieldTimes> read;
    const RdbType type = RdbTypeOf(value, kRedis74, &times);
    EXPECT_EQ(type,
              packed_fields == 0 ? RdbType::kHashWithExpiries : RdbType::kHashListpackWithExpiries);
    const std::optional<Value> copy = ReadRdbValue(type, reader, limits, &read);
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ(copy->As<Hash>()->Get("a"), "1");
    ASSERT_TRUE(read.has_value());
    std::sort(read->begin(), read->end());
    EXPECT_EQ(*read, times);
  }
}

TEST(RdbValue, RefusesATypeThatItDoesNotRead) {
  RdbReader reader("\x01");
  EXPECT_FALSE(ReadRdbValue(RdbType::kHashWithExpiries, reader, {}).has_value());
  EXPECT_EQ(reader.failure()->expected, "a type that this engine has");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
