#include "redouble/core/korvet/keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/topic_name.h"
#include "redouble/core/store/keyspace/key_family_testing.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOkAndHolds;
using store::KeyType;

const Keys& DefaultKeys() {
  static const Keys* const keys = new Keys(Keys::Create().value());
  return *keys;
}

Keys ClusterKeys() { return Keys::Create("korvet", store::KeyLayout::kCluster).value(); }

rc::Gen<std::string> GenTopicName() {
  const auto character = rc::gen::elementOf(std::string("abcXYZ019._-"));
  return rc::gen::suchThat(rc::gen::container<std::string>(character),
                           [](const std::string& name) { return CheckTopicName(name).ok(); });
}

TEST(KorvetKeys, AreTheExamplesOfTheSeed) {
  EXPECT_THAT(DefaultKeys().Stream({"orders", 0}), IsOkAndHolds("korvet:stream:orders:0"));
  EXPECT_THAT(DefaultKeys().Stream({"orders", 1}), IsOkAndHolds("korvet:stream:orders:1"));
  EXPECT_THAT(DefaultKeys().Stream({"orders", 2}), IsOkAndHolds("korvet:stream:orders:2"));
  EXPECT_THAT(DefaultKeys().Stream({"payments", 0}), IsOkAndHolds("korvet:stream:payments:0"));
  EXPECT_THAT(DefaultKeys().Topic("orders"), IsOkAndHolds("korvet:topic:orders"));
  EXPECT_EQ(DefaultKeys().Topics(), "korvet:topics");
  EXPECT_EQ(DefaultKeys().TopicIds(), "korvet:topic-ids");
  EXPECT_EQ(DefaultKeys().keyspace(), "korvet");
}

TEST(KorvetKeys, BeginWithTheKeyspaceWhateverItIs) {
  for (const std::string keyspace : {"k", "a:b", "a:topic:b", "{tag}", "x stream:"}) {
    const Keys keys = Keys::Create(keyspace).value();
    const std::string stream = keys.Stream({"orders", 7}).value();
    EXPECT_EQ(stream, keyspace + ":stream:orders:7");
    EXPECT_EQ(keys.ParseStream(stream), (TopicPartition{"orders", 7})) << keyspace;
    EXPECT_EQ(keys.ParseTopic(keys.Topic("orders").value()), "orders") << keyspace;
    EXPECT_EQ(keys.Topics(), keyspace + ":topics");
    EXPECT_EQ(keys.TopicIds(), keyspace + ":topic-ids");
    EXPECT_EQ(DefaultKeys().ParseStream(stream), std::nullopt) << keyspace;
  }
}

TEST(KorvetKeys, RefuseAnEmptyKeyspace) {
  EXPECT_EQ(ErrorCodeOf(Keys::Create("").status()), ErrorCode::kInvalidConfig);
}

TEST(KorvetKeys, OfAGroupTakeAnyName) {
  EXPECT_THAT(DefaultKeys().Group("my-group"), IsOkAndHolds("korvet:group:my-group"));
  EXPECT_THAT(DefaultKeys().GroupMembers("a:b"), IsOkAndHolds("korvet:group-members:a:b"));
  EXPECT_THAT(DefaultKeys().GroupPartitions("a b"), IsOkAndHolds("korvet:group-partitions:a b"));
  EXPECT_EQ(ErrorCodeOf(DefaultKeys().Group("").status()), ErrorCode::kInvalidGroupId);
}

TEST(KorvetKeys, RefuseAnIllegalTopicName) {
  for (const std::string_view name : {"", ".", "..", "a:b", "a b", "\xff"}) {
    EXPECT_EQ(ErrorCodeOf(DefaultKeys().Stream({name, 0}).status()), ErrorCode::kInvalidTopic)
        << name;
    EXPECT_EQ(ErrorCodeOf(DefaultKeys().Topic(name).status()), ErrorCode::kInvalidTopic) << name;
  }
}

TEST(KorvetKeys, CountPartitionsFromZero) {
  constexpr int32_t kLast = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(DefaultKeys().Stream({"t", kLast}), IsOkAndHolds("korvet:stream:t:2147483647"));
  EXPECT_EQ(ErrorCodeOf(DefaultKeys().Stream({"t", -1}).status()),
            ErrorCode::kUnknownTopicOrPartition);
}

TEST(KorvetKeys, HaveAWrittenBatchForADay) {
  EXPECT_THAT(DefaultKeys().WrittenBatch({"orders", 7}, "b1"),
              IsOkAndHolds("korvet:batch:orders:7:b1"));
  EXPECT_EQ(ErrorCodeOf(DefaultKeys().WrittenBatch({"orders", -1}, "b1").status()),
            ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(BatchTtl(), absl::Hours(24));
}

TEST(KorvetKeys, DoNotParseForeignKeys) {
  for (const std::string_view key :
       {"korvet:stream:orders:-1", "korvet:stream:orders:00", "korvet:stream:orders:2147483648",
        "korvet:stream:orders:", "korvet:stream::0", "korvet:stream:a:b:0", "korvet:stream:a b:0",
        "korvet:orders:0", "korvet:topic:orders", "orders", ""}) {
    EXPECT_EQ(DefaultKeys().ParseStream(key), std::nullopt) << key;
  }
  for (const std::string_view key : {"korvet:topic:", "korvet:topic:a:b", "korvet:topic:..",
                                     "korvet:topics", "korvet:topic-ids", ""}) {
    EXPECT_EQ(DefaultKeys().ParseTopic(key), std::nullopt) << key;
  }
}

TEST(KorvetKeys, FillEveryColumnOfTheInventory) {
  ASSERT_EQ(KeyFamilies().size(), 8u);
  const std::span<const store::KeyFamily> families = KeyFamilies(store::KeyLayout::kCluster);
  ASSERT_EQ(families.size(), 9u) << "and the copies of topics";
  const KeyType types[] = {KeyType::kStream, KeyType::kHash, KeyType::kSet,
                           KeyType::kHash,   KeyType::kHash, KeyType::kHash,
                           KeyType::kHash,   KeyType::kHash, KeyType::kHash};
  for (size_t i = 0; i < families.size(); ++i) {
    const store::KeyFamily& family = families[i];
    EXPECT_EQ(family.system, "korvet");
    EXPECT_EQ(family.type, types[i]) << family.id;
    EXPECT_EQ(family.ttl.has_value(), family.id == "korvet.batch") << family.id;
    for (const std::string_view text :
         {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
      EXPECT_FALSE(text.empty()) << family.id;
    }
  }
}

TEST(KorvetKeys, HaveTagsInTheClusterLayout) {
  const Keys keys = ClusterKeys();
  EXPECT_THAT(keys.Stream({"orders", 7}), IsOkAndHolds("korvet:stream:{orders:7}"));
  EXPECT_THAT(keys.Metadata({"orders", 7}), IsOkAndHolds("korvet:topic-copy:{orders:7}"));
  EXPECT_THAT(keys.WrittenBatch({"orders", 7}, "a:b"), IsOkAndHolds("korvet:batch:{orders:7}:a:b"));
  EXPECT_THAT(keys.Topic("orders"), IsOkAndHolds("korvet:topic:{orders}"));
  EXPECT_EQ(keys.Topics(), "korvet:{topics}");
  EXPECT_EQ(keys.TopicIds(), "korvet:{topics}:ids");
  EXPECT_THAT(keys.Group("g"), IsOkAndHolds("korvet:group:{group:g}"));
  EXPECT_THAT(keys.GroupMembers("g"), IsOkAndHolds("korvet:group-members:{group:g}"));
  EXPECT_THAT(keys.GroupPartitions("g"), IsOkAndHolds("korvet:group-partitions:{group:g}"));
  EXPECT_EQ(keys.ParseStream("korvet:stream:{orders:7}"), (TopicPartition{"orders", 7}));
  EXPECT_EQ(keys.ParseStream("korvet:stream:orders:7"), std::nullopt);
  EXPECT_EQ(keys.ParseTopic("korvet:topic:{orders}"), "orders");
  EXPECT_EQ(keys.layout(), store::KeyLayout::kCluster);
  EXPECT_EQ(ErrorCodeOf(keys.Metadata({"..", 0}).status()), ErrorCode::kInvalidTopic);
  EXPECT_EQ(ErrorCodeOf(keys.Metadata({"orders", -1}).status()),
            ErrorCode::kUnknownTopicOrPartition);
}

TEST(KorvetKeys, ReadTheTopicsHashInTheDocumentedLayout) {
  EXPECT_THAT(DefaultKeys().Metadata({"orders", 7}), IsOkAndHolds("korvet:topic:orders"));
  EXPECT_EQ(DefaultKeys().layout(), store::KeyLayout::kDocumented);
}

TEST(KorvetKeys, RefuseAKeyspaceThatChangesTheTags) {
  for (const std::string_view keyspace : {"{korvet}", "a{b", "a}b"}) {
    EXPECT_EQ(ErrorCodeOf(Keys::Create(keyspace, store::KeyLayout::kCluster).status()),
              ErrorCode::kInvalidConfig)
        << keyspace;
  }
}

TEST(KorvetKeys, OfAPartitionAndOfAGroupAreInOneSlotOfACluster) {
  const Keys keys = ClusterKeys();
  for (const std::string_view topic : {"orders", "a.b-c_d", "topics"}) {
    EXPECT_EQ(base::KeySlot(keys.Stream({topic, 12}).value()),
              base::KeySlot(keys.Metadata({topic, 12}).value()));
    EXPECT_EQ(base::KeySlot(keys.Stream({topic, 12}).value()),
              base::KeySlot(keys.WrittenBatch({topic, 12}, "{b}").value()));
  }
  EXPECT_EQ(base::KeySlot(keys.Topics()), base::KeySlot(keys.TopicIds()));
  for (const std::string_view group : {"g", "}", "{", "{}", "a}b", " "}) {
    const int slot = base::KeySlot(keys.Group(group).value());
    EXPECT_EQ(base::KeySlot(keys.GroupMembers(group).value()), slot) << group;
    EXPECT_EQ(base::KeySlot(keys.GroupPartitions(group).value()), slot) << group;
  }
}

TEST(KorvetKeys, OfManyPartitionsSpreadOverACluster) {
  std::vector<std::string> keys;
  for (int32_t partition = 0; partition < 6000; ++partition) {
    keys.push_back(ClusterKeys().Stream({"orders", partition}).value());
  }
  store::ExpectEvenSpread(keys, /*masters=*/6);
}

TEST(KorvetKeys, RoundTripInAKeyspace) {
  for (const std::string_view keyspace : {"korvet", "a:topic:b"}) {
    const store::KeyBinding bindings[] = {{"keyspace", keyspace}};
    store::ExpectKeyFamiliesRoundTrip(KeyFamilies(), bindings);
    store::ExpectKeyFamiliesRoundTrip(KeyFamilies(store::KeyLayout::kCluster), bindings);
  }
}

RC_GTEST_PROP(KorvetKeys, GiveBackThePartitionThatTheyWereBuiltFrom, ()) {
  const std::string topic = *GenTopicName();
  const auto partition = *rc::gen::inRange<int32_t>(0, std::numeric_limits<int32_t>::max());
  const std::string key = DefaultKeys().Stream({topic, partition}).value();
  RC_ASSERT(DefaultKeys().ParseStream(key) == (TopicPartition{topic, partition}));
  RC_ASSERT(DefaultKeys().ParseTopic(key) == std::nullopt);
  RC_ASSERT(DefaultKeys().ParseTopic(DefaultKeys().Topic(topic).value()) == topic);
}

RC_GTEST_PROP(KorvetKeys, BuildAgainWhateverTheyRead, (const std::string& tail)) {
  const std::string key = "korvet:stream:" + tail;
  const auto partition = DefaultKeys().ParseStream(key);
  if (partition) RC_ASSERT(DefaultKeys().Stream(*partition).value() == key);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
