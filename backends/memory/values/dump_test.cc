#include "backends/memory/values/dump.h"

#include <memory>
#include <string>

#include "backends/memory/values/hash.h"
#include "backends/memory/values/list.h"
#include "backends/memory/values/rdb_codec.h"
#include "backends/memory/values/set.h"
#include "backends/memory/values/stream.h"
#include "core/base/crc.h"
#include "gtest/gtest.h"

namespace redouble::memory {
namespace {

// A copy by way of the payload.
Value Restored(const Value& value) {
  const std::optional<std::string> payload = DumpValue(value);
  EXPECT_TRUE(DumpIsIntact(*payload));
  return *LoadDump(*payload, EncodingLimits());
}

std::string TextOf(const Value& value) {
  Value::TextBuffer buffer;
  return std::string(value.Text(buffer));
}

// A payload with a right trailer around whatever is given.
std::string Payload(std::string body) {
  AppendLittleEndian(10, 2, body);
  AppendLittleEndian(base::Crc64(body), 8, body);
  return body;
}

TEST(Dump, OfStrings) {
  const std::string kTexts[] = {"", "hello", "42", "-2147483649", std::string(100'000, 'x')};
  for (const std::string& text : kTexts) {
    EXPECT_EQ(TextOf(Restored(Value::String(text))), text);
  }
}

TEST(Dump, OfListsKeepsTheOrder) {
  auto list = std::make_unique<List>();
  for (int i = 0; i < 5000; ++i) list->Push(List::End::kBack, "element " + std::to_string(i));
  const Value value = Value::Of(std::move(list));
  const Value copy = Restored(value);
  const List& copied = *copy.As<List>();
  ASSERT_EQ(copied.size(), 5000u);
  EXPECT_EQ(copied.First().value().ToString(), "element 0");
  EXPECT_EQ(copied.At(4321).value().ToString(), "element 4321");
}

TEST(Dump, OfSetsInBothEncodings) {
  auto set = std::make_unique<Set>();
  set->Add("1", {});
  set->Add("70000", {});
  const Value value = Value::Of(std::move(set));
  EXPECT_EQ(Restored(value).encoding(), "intset");
  value.As<Set>()->Add("x", {});
  const Value copy = Restored(value);
  EXPECT_EQ(copy.encoding(), "hashtable");
  EXPECT_EQ(copy.As<Set>()->size(), 3u);
  EXPECT_TRUE(copy.As<Set>()->Contains("70000"));
}

TEST(Dump, OfHashesInBothEncodings) {
  auto hash = std::make_unique<Hash>();
  hash->Set("a", "1", {});
  const Value value = Value::Of(std::move(hash));
  EXPECT_EQ(Restored(value).encoding(), "listpack");
  value.As<Hash>()->ConvertIfTooLong(std::string(65, 'x'), {});
  value.As<Hash>()->Set("b", std::string(65, 'x'), {});
  const Value copy = Restored(value);
  EXPECT_EQ(copy.encoding(), "hashtable");
  EXPECT_EQ(copy.As<Hash>()->Get("a"), "1");
  EXPECT_EQ(copy.As<Hash>()->Get("b"), std::string(65, 'x'));
}

TEST(Dump, DoesNotKnowStreams) {
  EXPECT_EQ(DumpValue(Value::Of(std::make_unique<Stream>())), std::nullopt);
}

TEST(Dump, IsIntactOnlyAsItWasWritten) {
  const std::string payload = *DumpValue(Value::String("hello"));
  for (size_t i = 0; i < payload.size(); ++i) {
    std::string changed = payload;
    changed[i] ^= 1;
    EXPECT_FALSE(DumpIsIntact(changed)) << i;
  }
  EXPECT_FALSE(DumpIsIntact(payload.substr(0, payload.size() - 1)));
  EXPECT_FALSE(DumpIsIntact("short"));
}

TEST(Dump, RefusesEmptyCollectionsAndUnknownTypes) {
  for (const char type : {1, 2, 4, 18, 15, 99}) {
    EXPECT_FALSE(LoadDump(Payload({type, 0}), {}).has_value()) << int{type};
  }
}

TEST(Dump, RefusesAHashListpackWithoutALastValue) {
  Listpack listpack;
  listpack.Append("field");
  std::string body(1, 16);
  AppendRdbString(listpack.bytes(), body);
  EXPECT_FALSE(LoadDump(Payload(body), {}).has_value());
}

}  // namespace
}  // namespace redouble::memory
