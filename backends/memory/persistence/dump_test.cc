#include "redouble/backends/memory/persistence/dump.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::memory {
namespace {

// The value after DUMP and RESTORE.
Value Restored(const Value& value) {
  const std::string payload = DumpValue(value);
  EXPECT_TRUE(DumpIsIntact(payload));
  return LoadDump(payload, EncodingLimits()).value();
}

std::string TextOf(const Value& value) {
  Value::TextBuffer buffer;
  return std::string(value.Text(buffer));
}

// A payload of `body` with a correct trailer.
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
  Set set;
  set.Add("1", {});
  set.Add("70000", {});
  const Value value = Value::Of(std::move(set));
  EXPECT_EQ(Restored(value).encoding(), "intset");
  value.As<Set>()->Add(std::string(65, 'x'), {});
  const Value copy = Restored(value);
  EXPECT_EQ(copy.encoding(), "hashtable");
  EXPECT_EQ(copy.As<Set>()->size(), 3u);
  EXPECT_TRUE(copy.As<Set>()->Contains("70000"));
}

TEST(Dump, OfHashesInBothEncodings) {
  Hash hash;
  hash.Set("a", "1", {});
  const Value value = Value::Of(std::move(hash));
  EXPECT_EQ(Restored(value).encoding(), "listpack");
  value.As<Hash>()->ConvertIfTooLong(std::string(65, 'x'), {});
  value.As<Hash>()->Set("b", std::string(65, 'x'), {});
  const Value copy = Restored(value);
  EXPECT_EQ(copy.encoding(), "hashtable");
  EXPECT_EQ(copy.As<Hash>()->Get("a"), "1");
  EXPECT_EQ(copy.As<Hash>()->Get("b"), std::string(65, 'x'));
}

TEST(Dump, OfSortedSetsInBothEncodings) {
  SortedSet set;
  set.Set("a", -0.25, {});
  set.Set("b", 3, {});
  const Value value = Value::Of(std::move(set));
  EXPECT_EQ(Restored(value).encoding(), "listpack");
  value.As<SortedSet>()->Set(std::string(65, 'x'), std::numeric_limits<double>::infinity(), {});
  const Value copy = Restored(value);
  EXPECT_EQ(copy.encoding(), "skiplist");
  EXPECT_EQ(copy.As<SortedSet>()->size(), 3u);
  EXPECT_EQ(copy.As<SortedSet>()->Score("a"), -0.25);
  EXPECT_EQ(copy.As<SortedSet>()->Score(std::string(65, 'x')),
            std::numeric_limits<double>::infinity());
}

// A stream with entries, some of them deleted, two groups, a consumer with pending entries and one
// without.
Value MadeStream() {
  auto stream = std::make_unique<Stream>();
  const std::string_view fields[] = {"field", "value"};
  for (uint64_t i = 1; i <= 250; ++i) stream->Append({i, i % 3}, fields, {});
  stream->Delete({1, 1});
  stream->Delete({7, 1});
  stream->AddGroup("one", {{100, 0}, 42});
  stream->AddGroup("two", {{3, 0}, std::nullopt});
  StreamGroup& group = *stream->FindGroup("one");
  StreamConsumer& ann = group.AddConsumer("ann", 1234);
  group.AddConsumer("bob", 5678);
  group.Deliver({9, 0}, ann, 2000);
  group.Deliver({10, 1}, ann, 3000);
  group.FindPending({10, 1})->deliveries = 7;
  return Value::Of(std::move(stream));
}

TEST(Dump, OfStreamsKeepsEverything) {
  const Value value = MadeStream();
  const Value copy = Restored(value);
  const Stream& stream = *copy.As<Stream>();
  EXPECT_EQ(stream.size(), 248u);
  EXPECT_EQ(stream.node_count(), 3u);
  EXPECT_EQ(stream.first_id(), (StreamId{2, 2}));
  EXPECT_EQ(stream.last_id(), (StreamId{250, 1}));
  EXPECT_EQ(stream.max_deleted_id(), (StreamId{7, 1}));
  EXPECT_EQ(stream.entries_added(), 250u);
  ASSERT_EQ(stream.groups().size(), 2u);
  EXPECT_EQ(stream.groups().at("two").position.entries_read, std::nullopt);
  const StreamGroup& group = stream.groups().at("one");
  EXPECT_EQ(group.position.entries_read, 42);
  EXPECT_EQ(group.pending().at({10, 1}).deliveries, 7);
  EXPECT_EQ(group.pending().at({10, 1}).consumer->name, "ann");
  EXPECT_EQ(group.consumers().at("bob")->seen_ms, 5678);
  EXPECT_EQ(DumpValue(copy), DumpValue(value));
}

TEST(Dump, OfAStreamThatIsEmpty) {
  const Value copy = Restored(Value::Of(std::make_unique<Stream>()));
  EXPECT_EQ(copy.As<Stream>()->size(), 0u);
  EXPECT_EQ(copy.As<Stream>()->last_id(), StreamId::Min());
}

TEST(Dump, OfAStreamWhoseLastIdIsBelowAnEntryIsRefused) {
  const std::string_view fields[] = {"field", "value"};
  for (const StreamId last : {StreamId{5, 1}, StreamId{5, 0}, StreamId{0, 9}}) {
    auto stream = std::make_unique<Stream>();
    stream->Append({5, 1}, fields, {});
    stream->set_last_id(last);
    const std::string payload = DumpValue(Value::Of(std::move(stream)));
    EXPECT_EQ(LoadDump(payload, {}).has_value(), (last == StreamId{5, 1})) << last;
  }
}

// A truncated or modified payload is rejected, or yields a value that can be walked.
TEST(Dump, OfStreamsIsReadWithCare) {
  const std::string payload = DumpValue(MadeStream());
  const std::string body = payload.substr(0, payload.size() - 10);
  for (size_t size = 1; size < body.size(); size += 3) {
    EXPECT_FALSE(LoadDump(body.substr(0, size), {}).has_value()) << size;
  }
  for (size_t at = 1; at < body.size(); ++at) {
    for (const int bit : {1, 16, 128}) {
      std::string changed = body;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      const std::optional<Value> value = LoadDump(changed, {});
      if (!value) continue;
      const Stream& stream = *value->As<Stream>();
      size_t entries = 0;
      for (Stream::Cursor entry = stream.From(StreamId::Min()); entry.valid(); entry.Next()) {
        entry.VisitFields([](ListpackValue, ListpackValue) {});
        ++entries;
      }
      EXPECT_EQ(entries, stream.size());
    }
  }
}

TEST(Dump, IsIntactOnlyAsItWasWritten) {
  const std::string payload = DumpValue(Value::String("hello"));
  for (size_t i = 0; i < payload.size(); ++i) {
    std::string changed = payload;
    changed[i] ^= 1;
    EXPECT_FALSE(DumpIsIntact(changed)) << i;
  }
  EXPECT_FALSE(DumpIsIntact(payload.substr(0, payload.size() - 1)));
  EXPECT_FALSE(DumpIsIntact("short"));
}

TEST(Dump, RefusesEmptyCollectionsAndUnknownTypes) {
  for (const char type : {1, 2, 3, 4, 5, 6, 7, 9, 10, 14, 18, 20, 99}) {
    EXPECT_FALSE(LoadDump(Payload({type, 0}), {}).has_value()) << int{type};
  }
}

TEST(Dump, RefusesAListpackOfPairsWithoutItsLast) {
  Listpack listpack;
  listpack.Append("field");
  for (const char type : {16, 17}) {
    std::string body(1, type);
    AppendRdbString(listpack.bytes(), body);
    EXPECT_FALSE(LoadDump(Payload(body), {}).has_value()) << int{type};
  }
}

TEST(Dump, RefusesAListpackWhoseScoreIsNoNumber) {
  Listpack listpack;
  listpack.Append("member");
  listpack.Append("high");
  std::string body(1, 17);
  AppendRdbString(listpack.bytes(), body);
  EXPECT_FALSE(LoadDump(Payload(body), {}).has_value());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
