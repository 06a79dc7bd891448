#include "redouble/core/korvet/topics/topic_hash.h"

#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {

const std::string* FieldOf(std::span<const ConfigField> fields, std::string_view name) {
  for (const auto& [field, value] : fields) {
    if (field == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<TopicId> ReadTopicId(std::string_view name, std::string_view text) {
  const std::optional<TopicId> id = TopicId::Parse(text);
  if (id) return *id;
  return UnreadableHash(name, absl::StrCat("id is \"", absl::CEscape(base::ToAbsl(text)), "\""));
}

absl::StatusOr<std::optional<Topic>> TopicOfHash(std::string_view name,
                                                 std::span<const ConfigField> fields,
                                                 store::KeyLayout layout) {
  const std::string* id_text = FieldOf(fields, kTopicId);
  const std::string* partitions_text = FieldOf(fields, kTopicPartitions);
  // A crashed creator or a deletion that raced with a change left this hash, or in the cluster
  // layout one of the two is running.
  if (id_text == nullptr || partitions_text == nullptr) return std::nullopt;

  REDOUBLE_ASSIGN_OR_RETURN(const TopicId id, ReadTopicId(name, *id_text));
  const std::optional<int64_t> partitions = base::ParseInt64(*partitions_text);
  if (!partitions || *partitions < 1 || *partitions > std::numeric_limits<int32_t>::max()) {
    return UnreadableHash(name,
                          absl::StrCat("partitions is \"", absl::CEscape(*partitions_text), "\""));
  }
  absl::StatusOr<TopicConfig> config = ReadTopicConfig(fields);
  if (!config.ok()) return UnreadableHash(name, config.status().message());
  Topic topic{id, std::string(name), static_cast<int32_t>(*partitions), *std::move(config)};
  const std::string* epoch_text = FieldOf(fields, kTopicEpoch);
  if (layout == store::KeyLayout::kCluster && epoch_text != nullptr) {
    const std::optional<int64_t> epoch = base::ParseInt64(*epoch_text);
    if (!epoch || *epoch < 0) {
      return UnreadableHash(name, absl::StrCat("epoch is \"", absl::CEscape(*epoch_text), "\""));
    }
    topic.epoch = *epoch;
  }
  return topic;
}

std::vector<ConfigField> HashOf(const Topic& topic) {
  std::vector<ConfigField> fields = {
      {std::string(kTopicId), topic.id.ToString()},
      {std::string(kTopicName), topic.name},
      {std::string(kTopicPartitions), base::FormatInt64(topic.partitions)}};
  for (ConfigField& option : FormatTopicConfig(topic.config)) fields.push_back(std::move(option));
  return fields;
}

absl::Status NoSuchTopic(std::string_view name) {
  return MakeError(ErrorCode::kUnknownTopicOrPartition,
                   absl::StrCat("there is no topic ", base::ToAbsl(name)));
}

absl::Status AnotherTopic(std::string_view name) {
  return MakeError(ErrorCode::kInconsistentTopicId, absl::StrCat("the topic ", base::ToAbsl(name),
                                                                 " was deleted and created again"));
}

absl::Status UnreadableHash(std::string_view topic, absl::string_view what) {
  return MakeError(ErrorCode::kUnknownServerError,
                   absl::StrCat("the hash of topic ", base::ToAbsl(topic), ": ", what));
}

absl::Status NotMorePartitions(std::string_view topic, int64_t current, int32_t total) {
  return MakeError(ErrorCode::kInvalidPartitions,
                   absl::StrCat("the topic ", base::ToAbsl(topic), " has ", current,
                                " partitions; ", total, " are not more"));
}

}  // namespace redouble::inline v0_1::korvet
