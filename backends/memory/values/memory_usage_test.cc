#include "redouble/backends/memory/values/memory_usage.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"

// The replies of a redis-server for small keys are recorded in tests/conformance/cases/memory.txt.
// These tests check how the numbers grow.

namespace redouble::inline v0_1::memory {
namespace {

TEST(MemoryUsage, RoundsBlocksUpAsTheAllocatorOfRedisDoes) {
  EXPECT_EQ(AllocatedBytes(1), 8u);
  EXPECT_EQ(AllocatedBytes(8), 8u);
  EXPECT_EQ(AllocatedBytes(9), 16u);
  EXPECT_EQ(AllocatedBytes(17), 32u);
  EXPECT_EQ(AllocatedBytes(113), 128u);
  EXPECT_EQ(AllocatedBytes(129), 160u);
  EXPECT_EQ(AllocatedBytes(161), 192u);
  EXPECT_EQ(AllocatedBytes(257), 320u);
  EXPECT_EQ(AllocatedBytes(4096), 4096u);
  EXPECT_EQ(AllocatedBytes(4097), 5120u);
}

TEST(MemoryUsage, CountsTheKeyAndTheText) {
  EXPECT_EQ(MemoryUsage("k", Value::Integer(5)), 16u + 8u + 24u);
  EXPECT_EQ(MemoryUsage("k", Value::String("x")), 32u + 8u + 24u);
  EXPECT_EQ(MemoryUsage("k", Value::String(std::string(300, 'x'))) -
                MemoryUsage("k", Value::String(std::string(200, 'x'))),
            320u - 224u);
}

TEST(MemoryUsage, CountsTheKeyWhereTheVersionHasIt) {
  using Keys = MemoryModel::Keys;
  const Value value = Value::String("v");
  const std::string long_key(50, 'k');
  const auto usage = [&](const std::string& key, Keys keys, std::string_view encoding) {
    return MemoryUsage(key, value, kUsageSamples, {.keys = keys, .encoding = encoding});
  };
  // The numbers are those of Redis 8.0.2, Valkey 8.0.1 and Valkey 8.1.1.
  EXPECT_EQ(usage("a", Keys::kApart, "embstr"), 64u);
  EXPECT_EQ(usage(long_key, Keys::kApart, "embstr"), 120u);
  EXPECT_EQ(usage("a", Keys::kInEntry, "embstr"), 64u);
  EXPECT_EQ(usage(long_key, Keys::kInEntry, "embstr"), 112u);
  EXPECT_EQ(usage("", Keys::kInEntry, "embstr"), 64u);
  EXPECT_EQ(usage(std::string(300, 'k'), Keys::kInEntry, "embstr"), 416u);
  EXPECT_EQ(usage(std::string(70'000, 'k'), Keys::kInEntry, "embstr"), 81'952u);
  EXPECT_EQ(usage("a", Keys::kInValue, "embstr"), 32u);
  EXPECT_EQ(usage(long_key, Keys::kInValue, "raw"), 24u);
}

TEST(MemoryUsage, LooksAtSoManyElementsAndTakesThemForAll) {
  const EncodingLimits limits{.hash_max_listpack_entries = 0};
  Hash hash;
  for (int i = 0; i < 4; ++i) hash.Set("small" + std::to_string(i), "v", limits);
  for (int i = 0; i < 4; ++i) {
    hash.Set("large" + std::to_string(i), std::string(1000, 'v'), limits);
  }
  const Value value = Value::Of(std::move(hash));
  const size_t sampled = MemoryUsage("k", value, 4);
  EXPECT_LT(sampled, 1000u);
  EXPECT_GT(MemoryUsage("k", value, 0), 4000u);
  EXPECT_EQ(MemoryUsage("k", value, 0), MemoryUsage("k", value, 100));
}

TEST(MemoryUsage, GrowsWithEveryTypeOfTable) {
  const EncodingLimits limits{
      .hash_max_listpack_entries = 0, .set_max_intset_entries = 0, .zset_max_listpack_entries = 0};
  Set set;
  SortedSet sorted;
  Hash hash;
  size_t last = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(1000 + i);
    set.Add(name, limits);
    sorted.Set(name, i, limits);
    hash.Set(name, name, limits);
    const size_t all = MemoryUsage("k", Value::Of(set.Clone())) +
                       MemoryUsage("k", Value::Of(sorted.Clone())) +
                       MemoryUsage("k", Value::Of(hash.Clone()));
    EXPECT_GT(all, last);
    last = all;
  }
}

TEST(MemoryUsage, CountsTheGroupsOfAStream) {
  auto stream = std::make_unique<Stream>();
  const std::string_view fields[] = {"f", "v"};
  for (uint64_t i = 1; i <= 1000; ++i) stream->Append({i, 0}, fields, {});
  Stream& entries = *stream;
  const Value value = Value::Of(std::move(stream));
  const size_t without = MemoryUsage("k", value);
  EXPECT_GT(without, 1000u * 5);
  entries.AddGroup("g", StreamGroup::Position{});
  StreamGroup& group = *entries.FindGroup("g");
  const size_t empty = MemoryUsage("k", value);
  EXPECT_GT(empty, without);
  StreamConsumer& consumer = group.AddConsumer("c", 0);
  for (uint64_t i = 1; i <= 10; ++i) group.Deliver({i, 0}, consumer, 0);
  EXPECT_GT(MemoryUsage("k", value), empty + 10 * 24);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
