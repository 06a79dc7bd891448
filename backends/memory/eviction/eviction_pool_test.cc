#include "redouble/backends/memory/eviction/eviction_pool.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

void Offer(EvictionPool& pool, uint64_t score, const std::string& key) {
  pool.Offer({.score = score, .db = 0, .key = key});
}

std::vector<std::string> TakeAll(EvictionPool& pool) {
  std::vector<std::string> keys;
  while (const auto best = pool.TakeBest()) keys.push_back(best->key);
  return keys;
}

TEST(EvictionPool, GivesTheBestFirst) {
  EvictionPool pool;
  EXPECT_EQ(pool.TakeBest(), std::nullopt);
  Offer(pool, 2, "middle");
  Offer(pool, 3, "best");
  Offer(pool, 1, "worst");
  Offer(pool, 3, "as good, and later");
  EXPECT_EQ(TakeAll(pool),
            (std::vector<std::string>{"best", "as good, and later", "middle", "worst"}));
}

TEST(EvictionPool, RemembersWhatWasNotTaken) {
  EvictionPool pool;
  Offer(pool, 5, "a");
  Offer(pool, 9, "b");
  EXPECT_EQ(pool.TakeBest()->key, "b");
  Offer(pool, 4, "c");
  EXPECT_EQ(pool.TakeBest()->key, "a");
}

TEST(EvictionPool, ForgetsEverythingWhenItIsCleared) {
  EvictionPool pool;
  Offer(pool, 5, "a");
  pool.Clear();
  EXPECT_EQ(pool.TakeBest(), std::nullopt);
}

RC_GTEST_PROP(EvictionPool, KeepsTheBestSixteen, (std::vector<uint16_t> scores)) {
  EvictionPool pool;
  for (const uint16_t score : scores) Offer(pool, score, std::to_string(score));
  std::sort(scores.rbegin(), scores.rend());
  scores.resize(std::min(scores.size(), EvictionPool::kSize));
  for (const uint16_t score : scores) RC_ASSERT(pool.TakeBest()->score == score);
  RC_ASSERT(!pool.TakeBest().has_value());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
