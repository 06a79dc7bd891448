#include "redouble/core/korvet/keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/topic_name.h"
#include "redouble/core/store/keyspace/key_family_testing.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOkAndHolds;
using store::KeyType;

const Keys& DefaultKeys() {
  static const Keys* const keys = new Keys(Keys::Create().value());
  return *keys;
}

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
  ASSERT_EQ(KeyFamilies().size(), 7u);
  const KeyType types[] = {KeyType::kStream, KeyType::kHash, KeyType::kSet, KeyType::kHash,
                           KeyType::kHash,   KeyType::kHash, KeyType::kHash};
  for (size_t i = 0; i < KeyFamilies().size(); ++i) {
    const store::KeyFamily& family = KeyFamilies()[i];
    EXPECT_EQ(family.system, "korvet");
    EXPECT_EQ(family.type, types[i]) << family.id;
    EXPECT_FALSE(family.ttl.has_value()) << family.id;
    for (const std::string_view text :
         {family.ttl_rule, family.lifecycle, family.purpose, family.source}) {
      EXPECT_FALSE(text.empty()) << family.id;
    }
  }
}

TEST(KorvetKeys, RoundTripInAKeyspace) {
  for (const std::string_view keyspace : {"korvet", "a:topic:b"}) {
    const store::KeyBinding bindings[] = {{"keyspace", keyspace}};
    store::ExpectKeyFamiliesRoundTrip(KeyFamilies(), bindings);
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
