#include "redouble/core/korvet/topics/topic_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TopicConfig Parsed(const std::vector<ConfigEntry>& entries) {
  const absl::StatusOr<TopicConfig> config = ParseTopicConfig(entries);
  EXPECT_THAT(config, IsOk());
  return config.value_or(TopicConfig());
}

std::string Refusal(const absl::Status& status) {
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kInvalidConfig) << status;
  return std::string(status.message());
}

TEST(TopicConfig, HasTheDocumentedDefaults) {
  EXPECT_EQ(Parsed({}), TopicConfig());
  EXPECT_THAT(FormatTopicConfig(TopicConfig()),
              ElementsAre(Pair("retentionTime", "604800000"), Pair("retentionBytes", "-1"),
                          Pair("compression", "none"), Pair("offsetSequenceBits", "10"),
                          Pair("messageBytes", "1024")));
}

TEST(TopicConfig, TakesEveryOptionByItsField) {
  const TopicConfig config = Parsed({{"retentionTime", "-1"},
                                     {"retentionBytes", "1048576"},
                                     {"compression", "zstd"},
                                     {"valueType", "JSON"},
                                     {"offsetSequenceBits", "16"},
                                     {"messageBytes", "1"}});
  EXPECT_EQ(config.retention_time_ms, -1);
  EXPECT_EQ(config.retention_bytes, 1048576);
  EXPECT_EQ(config.compression, Compression::kZstd);
  EXPECT_EQ(config.value_type, ValueType::kJson);
  EXPECT_EQ(config.offsets.sequence_bits(), 16);
  EXPECT_EQ(config.message_bytes, 1);
  EXPECT_THAT(FormatTopicConfig(config),
              ElementsAre(Pair("retentionTime", "-1"), Pair("retentionBytes", "1048576"),
                          Pair("compression", "zstd"), Pair("valueType", "JSON"),
                          Pair("offsetSequenceBits", "16"), Pair("messageBytes", "1")));
}

TEST(TopicConfig, TakesKafkasNamesToo) {
  const TopicConfig config =
      Parsed({{"retention.ms", "60000"}, {"retention.bytes", "0"}, {"compression.type", "lz4"}});
  EXPECT_EQ(config.retention_time_ms, 60000);
  EXPECT_EQ(config.retention_bytes, 0);
  EXPECT_EQ(config.compression, Compression::kLz4);
}

TEST(TopicConfig, TakesTheLaterOfTwoEntries) {
  EXPECT_EQ(Parsed({{"retention.ms", "1"}, {"retentionTime", "2"}}).retention_time_ms, 2);
}

TEST(TopicConfig, KnowsEveryWord) {
  for (const std::string_view text : {"none", "gzip", "snappy", "lz4", "zstd"}) {
    const std::vector<ConfigField> fields = FormatTopicConfig(Parsed({{"compression", text}}));
    EXPECT_THAT(fields[2], Pair("compression", text));
  }
  for (const std::string_view text : {"JSON", "BYTES"}) {
    const std::vector<ConfigField> fields = FormatTopicConfig(Parsed({{"valueType", text}}));
    EXPECT_THAT(fields[3], Pair("valueType", text));
  }
}

TEST(TopicConfig, RefusesAnOptionThatATopicDoesNotHave) {
  for (const std::string_view name :
       {"", "cleanup.policy", "retention_ms", "RETENTIONTIME", "id", "name", "partitions"}) {
    const ConfigEntry entries[] = {{name, "1"}};
    EXPECT_THAT(Refusal(ParseTopicConfig(entries).status()),
                HasSubstr("a topic has no option \"" + std::string(name) + "\""));
  }
}

TEST(TopicConfig, RefusesAValueThatIsNotOneOfTheOptions) {
  const std::vector<ConfigEntry> refused = {
      {"retentionTime", "-2"},       {"retentionTime", ""},
      {"retention.ms", "1.5"},       {"retention.ms", "9223372036854775808"},
      {"retentionBytes", "-2"},      {"retention.bytes", "1k"},
      {"compression", "GZIP"},       {"compression.type", "brotli"},
      {"valueType", "json"},         {"valueType", ""},
      {"offsetSequenceBits", "9"},   {"offsetSequenceBits", "17"},
      {"offsetSequenceBits", "ten"}, {"messageBytes", "0"},
      {"messageBytes", "-1"},        {"messageBytes", "01"},
  };
  for (const ConfigEntry& entry : refused) {
    const std::string message = Refusal(ParseTopicConfig({&entry, 1}).status());
    EXPECT_THAT(message, HasSubstr(" is \"" + std::string(entry.value) + "\", not ")) << entry.name;
  }
}

TEST(TopicConfig, NamesFieldValueAndRangeWhenItRefuses) {
  const ConfigEntry entries[] = {{"retention.ms", "-2"}};
  EXPECT_EQ(ParseTopicConfig(entries).status().message(),
            "INVALID_CONFIG: retentionTime is \"-2\", not an integer from -1 up");
}

TEST(ConfigChanges, AreTheFieldsNamedInTheirOrder) {
  const ConfigEntry entries[] = {{"compression.type", "gzip"},
                                 {"retention.ms", "5"},
                                 {"messageBytes", "9"},
                                 {"retentionBytes", "7"}};
  EXPECT_THAT(ParseConfigChanges(entries),
              IsOkAndHolds(ElementsAre(Pair("compression", "gzip"), Pair("retentionTime", "5"),
                                       Pair("messageBytes", "9"), Pair("retentionBytes", "7"))));
  EXPECT_THAT(ParseConfigChanges({}), IsOkAndHolds(IsEmpty()));
}

TEST(ConfigChanges, LeaveAloneWhatIsFixedForGood) {
  const std::vector<ConfigEntry> fixed = {{"offsetSequenceBits", "11"}, {"valueType", "BYTES"}};
  for (const ConfigEntry& entry : fixed) {
    EXPECT_THAT(Refusal(ParseConfigChanges({&entry, 1}).status()),
                HasSubstr(std::string(entry.name) + " of a topic that exists cannot change"));
  }
  for (const std::string_view name : {"id", "name", "partitions"}) {
    const ConfigEntry entries[] = {{name, "1"}};
    Refusal(ParseConfigChanges(entries).status());
  }
}

TEST(ConfigChanges, AreReadAsStrictlyAsANewTopicsOptions) {
  const ConfigEntry entries[] = {{"retention.ms", "5"}, {"compression", "none "}};
  EXPECT_THAT(Refusal(ParseConfigChanges(entries).status()), HasSubstr("compression is \"none \""));
}

TEST(TopicConfig, IsReadFromAHashWithDefaultsForWhatIsMissing) {
  const std::vector<ConfigField> fields = {{"id", "x"},
                                           {"partitions", "3"},
                                           {"retentionTime", "5"},
                                           {"retention.ms", "6"},
                                           {"later", "y"}};
  TopicConfig expected;
  expected.retention_time_ms = 5;
  EXPECT_THAT(ReadTopicConfig(fields), IsOkAndHolds(expected));
  EXPECT_THAT(ReadTopicConfig({}), IsOkAndHolds(TopicConfig()));
}

TEST(TopicConfig, IsNotReadFromAHashWithIllegalValues) {
  const std::vector<ConfigField> fields = {{"offsetSequenceBits", "8"}};
  const absl::Status status = ReadTopicConfig(fields).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("offsetSequenceBits is \"8\", not an integer from 10 to 16"));
}

TEST(TopicConfig, KnowsTheCodecsOfKafka) {
  EXPECT_EQ(FindCompression("none"), Compression::kNone);
  EXPECT_EQ(FindCompression("zstd"), Compression::kZstd);
  EXPECT_EQ(FindCompression("ZSTD"), std::nullopt);
  EXPECT_EQ(FindCompression(""), std::nullopt);
}

RC_GTEST_PROP(TopicConfig, IsReadBackAsItWasWritten, ()) {
  TopicConfig config;
  config.retention_time_ms = *rc::gen::inRange<int64_t>(-1, int64_t{1} << 62);
  config.retention_bytes = *rc::gen::inRange<int64_t>(-1, int64_t{1} << 62);
  config.compression = static_cast<Compression>(*rc::gen::inRange(0, 5));
  if (*rc::gen::arbitrary<bool>()) {
    config.value_type = static_cast<ValueType>(*rc::gen::inRange(0, 2));
  }
  config.offsets = OffsetCodec::Create(*rc::gen::inRange(10, 17)).value();
  config.message_bytes = *rc::gen::inRange<int64_t>(1, int64_t{1} << 62);
  RC_ASSERT(ReadTopicConfig(FormatTopicConfig(config)).value() == config);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
