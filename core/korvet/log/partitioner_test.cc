#include "redouble/core/korvet/log/partitioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>
#include <vector>

#include "nlohmann/json.hpp"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;
using Route = Partitioner::Route;

std::vector<int32_t> ChooseTimes(Partitioner& partitioner, std::string_view topic,
                                 int32_t partitions, int times) {
  std::vector<int32_t> chosen;
  for (int i = 0; i < times; ++i) {
    chosen.push_back(partitioner.Choose(topic, partitions, Route()).value());
  }
  return chosen;
}

TEST(Murmur2, HasTheHashAndPartitionsOfEveryRowOfTheTable) {
  const Json golden =
      Json::parse(std::ifstream("tests/data/golden/korvet/murmur2_partitioner.json"));
  ASSERT_EQ(golden["rows"].size(), 29u);
  for (const Json& row : golden["rows"]) {
    const std::string key = base::HexToBytes(row["key_hex"].get<std::string>()).value();
    EXPECT_EQ(Murmur2(key), row["murmur2_signed"].get<int32_t>()) << row["key_hex"];
    ASSERT_FALSE(row["partition"].empty());
    for (const auto& [partitions, expected] : row["partition"].items()) {
      EXPECT_EQ(PartitionOfKey(key, std::stoi(partitions)), expected.get<int32_t>())
          << row["key_hex"] << " of " << partitions;
    }
  }
}

TEST(Murmur2, HasTheVectorsOfKafkasOwnTest) {
  EXPECT_EQ(Murmur2("21"), -973932308);
  EXPECT_EQ(Murmur2("foobar"), -790332482);
  EXPECT_EQ(Murmur2("a-little-bit-long-string"), -985981536);
  EXPECT_EQ(Murmur2("a-little-bit-longer-string"), -1486304829);
  EXPECT_EQ(Murmur2("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"), -58897971);
  EXPECT_EQ(Murmur2("abc"), 479470107);
}

TEST(Partitioner, SendsAKeyToThePartitionOfItsHash) {
  Partitioner partitioner;
  EXPECT_THAT(partitioner.Choose("orders", 3, {.key = "order-123"}), IsOkAndHolds(1));
  EXPECT_THAT(partitioner.Choose("orders", 3, {.key = "order-124"}), IsOkAndHolds(2));
  EXPECT_THAT(partitioner.Choose("payments", 3, {.key = "order-124"}), IsOkAndHolds(2));
}

TEST(Partitioner, TakesTheEmptyKeyForAKey) {
  Partitioner partitioner;
  EXPECT_THAT(partitioner.Choose("orders", 10, {.key = ""}), IsOkAndHolds(1));
  EXPECT_THAT(partitioner.Choose("orders", 10, {.key = ""}), IsOkAndHolds(1));
}

TEST(Partitioner, ObeysARecordThatNamesItsPartition) {
  Partitioner partitioner;
  EXPECT_THAT(partitioner.Choose("orders", 3, {.partition = 2, .key = "order-123"}),
              IsOkAndHolds(2));
  EXPECT_THAT(partitioner.Choose("orders", 3, {.partition = 0}), IsOkAndHolds(0));
}

TEST(Partitioner, RefusesAPartitionThatTheTopicDoesNotHave) {
  Partitioner partitioner;
  for (const int32_t partition :
       {-1, 3, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
    const absl::Status status = partitioner.Choose("orders", 3, {.partition = partition}).status();
    EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownTopicOrPartition) << partition;
  }
  EXPECT_THAT(std::string(partitioner.Choose("orders", 3, {.partition = 3}).status().message()),
              HasSubstr("the topic orders has 3 partitions, so no partition 3"));
}

TEST(Partitioner, RefusesATopicWithoutPartitions) {
  Partitioner partitioner;
  for (const int32_t partitions : {0, -1}) {
    EXPECT_EQ(ErrorCodeOf(partitioner.Choose("orders", partitions, Route()).status()),
              ErrorCode::kUnknownTopicOrPartition);
    EXPECT_EQ(ErrorCodeOf(partitioner.Choose("orders", partitions, {.key = "k"}).status()),
              ErrorCode::kUnknownTopicOrPartition);
  }
}

TEST(Partitioner, SendsRecordsWithoutAKeyRoundEachTopicOnItsOwn) {
  Partitioner partitioner;
  EXPECT_THAT(ChooseTimes(partitioner, "orders", 3, 4), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(ChooseTimes(partitioner, "payments", 2, 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(ChooseTimes(partitioner, "orders", 3, 2), ElementsAre(1, 2));
}

TEST(Partitioner, GoesOnWithTheRoundWhenPartitionsAreAdded) {
  Partitioner partitioner;
  EXPECT_THAT(ChooseTimes(partitioner, "orders", 2, 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(ChooseTimes(partitioner, "orders", 5, 3), ElementsAre(3, 4, 0));
}

TEST(Partitioner, MovesTheRoundForRecordsWithoutKeyAndPartitionOnly) {
  Partitioner partitioner;
  EXPECT_THAT(ChooseTimes(partitioner, "orders", 3, 1), ElementsAre(0));
  ASSERT_THAT(partitioner.Choose("orders", 3, {.key = "order-123"}), IsOk());
  ASSERT_THAT(partitioner.Choose("orders", 3, {.partition = 2}), IsOk());
  ASSERT_THAT(partitioner.Choose("orders", 3, {.partition = 9}), Not(IsOk()));
  EXPECT_THAT(ChooseTimes(partitioner, "orders", 3, 1), ElementsAre(1));
}

RC_GTEST_PROP(Partitioner, ChoosesOneOfThePartitions, (const std::string& key)) {
  const auto partitions = *rc::gen::inRange<int32_t>(1, 1000);
  const int32_t partition = PartitionOfKey(key, partitions);
  RC_ASSERT(partition >= 0 && partition < partitions);
  Partitioner partitioner;
  RC_ASSERT(partitioner.Choose("t", partitions, {.key = key}).value() == partition);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
