#include "redouble/core/korvet/log/retention.h"

#include <gtest/gtest.h>

#include <limits>

namespace redouble::inline v0_1::korvet {
namespace {

constexpr int64_t kNow = 1234567892000;

TopicConfig Config(int64_t retention_time_ms, int64_t retention_bytes,
                   int64_t message_bytes = 1000) {
  TopicConfig config;
  config.retention_time_ms = retention_time_ms;
  config.retention_bytes = retention_bytes;
  config.message_bytes = message_bytes;
  return config;
}

TEST(Retention, CutsByAgeAtNowLessTheRetentionTime) {
  EXPECT_EQ(RetentionOf(Config(1500, -1), kNow).min_id_ms, 1234567890500);
  EXPECT_EQ(RetentionOf(Config(0, -1), kNow).min_id_ms, kNow);
  EXPECT_EQ(RetentionOf(Config(1500, -1), kNow).max_length, std::nullopt);
}

TEST(Retention, DoesNotCutByAgeWithoutATimeOrBeforeItHasPassedOnce) {
  EXPECT_EQ(RetentionOf(Config(-1, -1), kNow), RetentionBounds());
  EXPECT_EQ(RetentionOf(Config(kNow, -1), kNow), RetentionBounds());
  EXPECT_EQ(RetentionOf(Config(kNow - 1, -1), kNow).min_id_ms, 1);
  EXPECT_EQ(RetentionOf(Config(std::numeric_limits<int64_t>::max(), -1), kNow), RetentionBounds());
}

TEST(Retention, CutsBySizeToACountOfAverageRecords) {
  EXPECT_EQ(RetentionOf(Config(-1, 3000), kNow).max_length, 3);
  EXPECT_EQ(RetentionOf(Config(-1, 3999), kNow).max_length, 3);
  EXPECT_EQ(RetentionOf(Config(-1, 3072, 1024), kNow).max_length, 3);
  EXPECT_EQ(RetentionOf(Config(-1, 3000), kNow).min_id_ms, std::nullopt);
}

TEST(Retention, KeepsAtLeastTheRecordThatIsBeingWritten) {
  EXPECT_EQ(RetentionOf(Config(-1, 0), kNow).max_length, 1);
  EXPECT_EQ(RetentionOf(Config(-1, 999), kNow).max_length, 1);
}

TEST(Retention, KnowsHowRedisSpellsExactness) {
  EXPECT_EQ(TrimmingSign(Trimming::kExact), "=");
  EXPECT_EQ(TrimmingSign(Trimming::kApproximate), "~");
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
