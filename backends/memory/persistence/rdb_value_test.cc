#include "redouble/backends/memory/persistence/rdb_value.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::memory {
namespace {

TEST(RdbValue, KnowsTheTypesThatItReads) {
  int read = 0;
  for (int number = 0; number < 256; ++number) {
    const auto type = static_cast<RdbType>(number);
    if (!ReadsRdbType(type)) continue;
    ++read;
    EXPECT_FALSE(NameOfRdbType(type).empty()) << number;
  }
  EXPECT_EQ(read, 19);
  EXPECT_EQ(NameOfRdbType(RdbType::kHashWithExpiries), "hash with field expiries");
  EXPECT_EQ(NameOfRdbType(static_cast<RdbType>(8)), "") << "no version has it";
  EXPECT_FALSE(ReadsRdbType(RdbType::kModule));
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
    AppendRdbValue(value, out, compression);
    EXPECT_EQ(out.size() < text.size(), compression == RdbCompression::kOn);
    RdbReader reader(out);
    const std::optional<Value> copy = ReadRdbValue(RdbTypeOf(value), reader, {});
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ(copy->As<Hash>()->Get("f"), text);
  }
}

TEST(RdbValue, RefusesATypeThatItDoesNotRead) {
  RdbReader reader("\x01");
  EXPECT_FALSE(ReadRdbValue(RdbType::kHashWithExpiries, reader, {}).has_value());
  EXPECT_EQ(reader.failure()->expected, "a type that this engine has");
}

}  // namespace
}  // namespace redouble::memory
