#include "redouble/core/korvet/keys.h"

#include <array>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/topic_name.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::KeyFamily;
using store::KeyLayout;
using store::KeyPattern;
using store::KeyType;
using store::LayoutRow;
using store::LayoutTable;

constexpr std::string_view kSystem = "korvet";
constexpr std::string_view kSource = "docs/systems/korvet.md 1";
constexpr std::string_view kKeyspace = "keyspace";
constexpr std::string_view kNoTtl = "no TTL: the key stays until the topic is deleted";

constexpr KeyFamily kStream = {
    .id = "korvet.stream",
    .system = kSystem,
    .pattern = "{keyspace}:stream:{topic}:{partition:int}",
    .type = KeyType::kStream,
    .ttl_rule = kNoTtl,
    .lifecycle =
        "created by the first record or consumer group of the partition; trimmed by retention; "
        "deleted with the topic, its groups with it",
    .purpose = "the log of one partition, one entry per record; its consumer groups",
    .source = kSource,
};

constexpr KeyFamily kTopic = {
    .id = "korvet.topic",
    .system = kSystem,
    .pattern = "{keyspace}:topic:{topic}",
    .type = KeyType::kHash,
    .ttl_rule = kNoTtl,
    .lifecycle = "created and deleted with the topic; changed with its options",
    .purpose = "id, name, number of partitions and options of one topic",
    .source = kSource,
};

constexpr KeyFamily kTopics = {
    .id = "korvet.topics",
    .system = kSystem,
    .pattern = "{keyspace}:topics",
    .type = KeyType::kSet,
    .ttl_rule = "no TTL: the key stays while there is a topic",
    .lifecycle = "a member is added and removed with its topic",
    .purpose = "the names of all topics",
    .source = kSource,
};

constexpr KeyFamily kTopicIds = {
    .id = "korvet.topic_ids",
    .system = kSystem,
    .pattern = "{keyspace}:topic-ids",
    .type = KeyType::kHash,
    .ttl_rule = kTopics.ttl_rule,
    .lifecycle = "a field is added and removed with its topic",
    .purpose = "maps the id of a topic to its name",
    .source = kSource,
};

constexpr std::string_view kGroupTtl = "no TTL: the key stays until the group is deleted";

constexpr KeyFamily kGroup = {
    .id = "korvet.group",
    .system = kSystem,
    .pattern = "{keyspace}:group:{group}",
    .type = KeyType::kHash,
    .ttl_rule = kGroupTtl,
    .lifecycle = "created when the first member joins; deleted with the group",
    .purpose = "epoch, assignor and last known time of a consumer group",
    .source = kSource,
};

constexpr KeyFamily kGroupMembers = {
    .id = "korvet.group_members",
    .system = kSystem,
    .pattern = "{keyspace}:group-members:{group}",
    .type = KeyType::kHash,
    .ttl_rule = "no TTL: the key stays while the group has a member",
    .lifecycle =
        "a field is added when a member joins, rewritten by its heartbeats, and removed when it "
        "leaves or its session ends",
    .purpose = "maps a member to its deadline, session, last call and subscriptions",
    .source = kSource,
};

constexpr KeyFamily kGroupPartitions = {
    .id = "korvet.group_partitions",
    .system = kSystem,
    .pattern = "{keyspace}:group-partitions:{group}",
    .type = KeyType::kHash,
    .ttl_rule = "no TTL: the key stays while the group has a partition",
    .lifecycle = "a field changes with the owner or the target of its partition",
    .purpose = "maps a partition to the member that has it and the member that shall have it",
    .source = kSource,
};

constexpr KeyFamily kBatch = {
    .id = "korvet.batch",
    .system = kSystem,
    .pattern = "{keyspace}:batch:{topic}:{partition:int}:{batch:any}",
    .type = KeyType::kHash,
    .ttl_rule = "set with each part of the batch",
    .ttl = absl::Hours(24),
    .lifecycle =
        "only with write_batches_once: a field is added when a part of the batch is "
        "written; expires",
    .purpose = "what the script replied to each part of a batch of a producer",
    .source = "docs/systems/korvet.md 4.7",
};

// In the cluster layout only. The partition's stream and its copy have one tag.
constexpr KeyFamily kTopicCopy = {
    .id = "korvet.topic_copy",
    .system = kSystem,
    .pattern = "{keyspace}:topic-copy:{{{topic}:{partition:int}}}",
    .type = KeyType::kHash,
    .ttl_rule = "no TTL while the topic exists; one day from its deletion on",
    .lifecycle =
        "written with the topic, with each change of its options and when partitions are added; "
        "holds only the epoch after the topic's deletion",
    .purpose = "the topic's hash for the scripts and fetches of one partition",
    .source = "docs/systems/korvet.md 1.2",
};

// A topic and a group are tags, and so is each partition. The word before the name of a group keeps
// the tag from being empty, which would make Redis hash the whole key. The set of names and the
// index of ids are written together.
constexpr std::array kRows = {
    LayoutRow{kStream, "{keyspace}:stream:{{{topic}:{partition:int}}}"},
    LayoutRow{kTopic, "{keyspace}:topic:{{{topic}}}"},
    LayoutRow{kTopics, "{keyspace}:{{topics}}"},
    LayoutRow{kTopicIds, "{keyspace}:{{topics}}:ids"},
    LayoutRow{kGroup, "{keyspace}:group:{{group:{group:any}}}"},
    LayoutRow{kGroupMembers, "{keyspace}:group-members:{{group:{group:any}}}"},
    LayoutRow{kGroupPartitions, "{keyspace}:group-partitions:{{group:{group:any}}}"},
    LayoutRow{kBatch, "{keyspace}:batch:{{{topic}:{partition:int}}}:{batch:any}"},
    LayoutRow{kTopicCopy, {}},
};

// The indexes of the rows.
enum Row : size_t {
  kStreamRow,
  kTopicRow,
  kTopicsRow,
  kTopicIdsRow,
  kGroupRow,
  kGroupMembersRow,
  kGroupPartitionsRow,
  kBatchRow,
  kTopicCopyRow,  // The documented layout ends before it.
};

const LayoutTable& Table() {
  static const LayoutTable& table = *new LayoutTable(kRows);
  return table;
}

// The keyspace must not be empty; every other text is allowed.
KeyPattern PatternOf(Row row, std::string_view keyspace, KeyLayout layout) {
  return Table().pattern(layout, row).Bind(kKeyspace, keyspace).value();
}

// The key of a family whose only placeholder is the keyspace.
std::string OnlyKeyOf(Row row, std::string_view keyspace, KeyLayout layout) {
  return std::string(PatternOf(row, keyspace, layout).prefix());
}

absl::StatusOr<std::string> GroupKeyOf(const KeyPattern& pattern, std::string_view group) {
  if (group.empty()) {
    return MakeError(ErrorCode::kInvalidGroupId, "the name of the group is empty");
  }
  return pattern.Build(group);
}

absl::Status CheckPartition(TopicPartition partition) {
  REDOUBLE_RETURN_IF_ERROR(CheckTopicName(partition.topic));
  if (partition.partition >= 0) return absl::OkStatus();
  return MakeError(ErrorCode::kUnknownTopicOrPartition,
                   absl::StrCat("partition ", partition.partition, " is below 0"));
}

}  // namespace

std::span<const KeyFamily> KeyFamilies(KeyLayout layout) {
  const std::span<const KeyFamily> families = Table().families(layout);
  return layout == KeyLayout::kCluster ? families : families.first(kTopicCopyRow);
}

Keys::Keys(std::string_view keyspace, KeyLayout layout)
    : keyspace_(keyspace),
      layout_(layout),
      stream_(PatternOf(kStreamRow, keyspace, layout)),
      topic_(PatternOf(kTopicRow, keyspace, layout)),
      topic_copy_(PatternOf(kTopicCopyRow, keyspace, layout)),
      batch_(PatternOf(kBatchRow, keyspace, layout)),
      group_(PatternOf(kGroupRow, keyspace, layout)),
      group_members_(PatternOf(kGroupMembersRow, keyspace, layout)),
      group_partitions_(PatternOf(kGroupPartitionsRow, keyspace, layout)),
      topics_(OnlyKeyOf(kTopicsRow, keyspace, layout)),
      topic_ids_(OnlyKeyOf(kTopicIdsRow, keyspace, layout)) {}

absl::StatusOr<Keys> Keys::Create(std::string_view keyspace, KeyLayout layout) {
  if (keyspace.empty()) return MakeError(ErrorCode::kInvalidConfig, "the keyspace is empty");
  if (layout == KeyLayout::kCluster && keyspace.find_first_of("{}") != std::string_view::npos) {
    return MakeError(ErrorCode::kInvalidConfig,
                     absl::StrCat("the keyspace \"", absl::CEscape(base::ToAbsl(keyspace)),
                                  "\" has a brace, which changes the tags of the cluster layout"));
  }
  return Keys(keyspace, layout);
}

absl::StatusOr<std::string> Keys::Group(std::string_view group) const {
  return GroupKeyOf(group_, group);
}

absl::StatusOr<std::string> Keys::GroupMembers(std::string_view group) const {
  return GroupKeyOf(group_members_, group);
}

absl::StatusOr<std::string> Keys::GroupPartitions(std::string_view group) const {
  return GroupKeyOf(group_partitions_, group);
}

absl::StatusOr<std::string> Keys::Stream(TopicPartition partition) const {
  REDOUBLE_RETURN_IF_ERROR(CheckPartition(partition));
  return stream_.Build(partition.topic, partition.partition);
}

absl::StatusOr<std::string> Keys::Metadata(TopicPartition partition) const {
  if (layout_ == KeyLayout::kDocumented) return Topic(partition.topic);
  REDOUBLE_RETURN_IF_ERROR(CheckPartition(partition));
  return topic_copy_.Build(partition.topic, partition.partition);
}

absl::StatusOr<std::string> Keys::WrittenBatch(TopicPartition partition,
                                               std::string_view batch_id) const {
  REDOUBLE_RETURN_IF_ERROR(CheckPartition(partition));
  return batch_.Build(partition.topic, partition.partition, batch_id);
}

absl::StatusOr<std::string> Keys::Topic(std::string_view topic) const {
  REDOUBLE_RETURN_IF_ERROR(CheckTopicName(topic));
  return topic_.Build(topic);
}

absl::Duration BatchTtl() { return *kBatch.ttl; }

std::optional<TopicPartition> Keys::ParseStream(std::string_view key) const {
  const std::optional<store::KeyValues> values = stream_.Parse(key);
  if (!values || !CheckTopicName((*values)[0]).ok()) return std::nullopt;
  const std::optional<int64_t> partition = base::ParseInt64((*values)[1]);
  if (!partition || *partition < 0 || *partition > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return TopicPartition{(*values)[0], static_cast<int32_t>(*partition)};
}

std::optional<std::string_view> Keys::ParseTopic(std::string_view key) const {
  const std::optional<store::KeyValues> values = topic_.Parse(key);
  if (!values || !CheckTopicName((*values)[0]).ok()) return std::nullopt;
  return (*values)[0];
}

}  // namespace redouble::inline v0_1::korvet
