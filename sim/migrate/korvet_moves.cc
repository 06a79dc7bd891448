#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/topics/topic_hash.h"
#include "redouble/sim/migrate/family_move.h"

namespace redouble::inline v0_1::sim {
namespace {

using korvet::ConfigField;
using store::KeyLayout;

constexpr std::string_view kTopic = "korvet.topic";
constexpr std::string_view kCopy = "korvet.topic_copy";

// The epoch of a topic that was moved. The next change raises it to the time of Redis.
constexpr std::string_view kFirstEpoch = "1";

KeyValue HashOf(std::vector<ConfigField> fields, std::optional<int64_t> deadline_ms) {
  KeyValue hash{store::KeyType::kHash, {}, deadline_ms};
  for (auto& [field, value] : fields) {
    hash.parts.push_back(std::move(field));
    hash.parts.push_back(std::move(value));
  }
  SortFields(hash.parts);
  return hash;
}

// The fields of the topic's hash without its epoch.
absl::StatusOr<std::vector<ConfigField>> FieldsOf(const KeyValue& value) {
  if (value.type != store::KeyType::kHash) {
    return absl::InvalidArgumentError("a topic must be a hash");
  }
  std::vector<ConfigField> fields;
  for (size_t i = 0; i + 1 < value.parts.size(); i += 2) {
    if (value.parts[i] == korvet::kTopicEpoch) continue;
    fields.emplace_back(value.parts[i], value.parts[i + 1]);
  }
  return fields;
}

absl::StatusOr<std::string> TopicKeyOf(const Conversion& conversion) {
  std::optional<std::string> key = conversion.Spell();
  if (key) return *std::move(key);
  return absl::InvalidArgumentError("the other layout cannot spell the name of the topic");
}

// What Topics::Create leaves in the cluster layout: the hash with an epoch, and a copy of it for
// each partition. A hash that is no topic, which a crash left, stays as it is.
absl::StatusOr<std::vector<MovedKey>> MoveTopicToCluster(const Conversion& conversion) {
  const KeyValue& value = *conversion.values[0];
  REDOUBLE_ASSIGN_OR_RETURN(std::string key, TopicKeyOf(conversion));
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<ConfigField> fields, FieldsOf(value));
  const std::string* const name = korvet::FieldOf(fields, korvet::kTopicName);
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<korvet::Topic> topic,
                            korvet::TopicOfHash(name == nullptr ? std::string_view() : *name,
                                                fields, KeyLayout::kDocumented));
  if (!topic) return std::vector<MovedKey>{{std::move(key), value}};
  if (name == nullptr) return absl::InvalidArgumentError("the hash has no name");
  const ConfigField epoch = {std::string(korvet::kTopicEpoch), std::string(kFirstEpoch)};
  std::vector<ConfigField> copied = korvet::HashOf(*topic);
  copied.push_back(epoch);
  const KeyValue copy = HashOf(std::move(copied), std::nullopt);
  fields.push_back(epoch);
  std::vector<MovedKey> moved = {{std::move(key), HashOf(std::move(fields), value.deadline_ms)}};
  for (int32_t partition = 0; partition < topic->partitions; ++partition) {
    const std::string number = absl::StrCat(partition);
    const store::KeyBinding more[] = {{"partition", number}};
    std::optional<std::string> copy_key =
        conversion.translator.Spell(conversion.key, kTopic, kCopy, more);
    if (!copy_key) return absl::InvalidArgumentError("a partition has no key");
    moved.push_back({*std::move(copy_key), copy});
  }
  return moved;
}

absl::StatusOr<std::vector<MovedKey>> MoveTopicToDocumented(const Conversion& conversion) {
  const KeyValue& value = *conversion.values[0];
  REDOUBLE_ASSIGN_OR_RETURN(std::string key, TopicKeyOf(conversion));
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<ConfigField> fields, FieldsOf(value));
  for (const std::string_view step :
       {korvet::kTopicMaking, korvet::kTopicAdding, korvet::kTopicRemoving}) {
    if (korvet::FieldOf(fields, step) == nullptr) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the topic is in a change that has not ended (", base::ToAbsl(step),
                     "), which the documented layout cannot express; run Topics::Repair"));
  }
  // A hash with nothing but an epoch is no topic.
  std::optional<KeyValue> hash;
  if (!fields.empty()) hash = HashOf(std::move(fields), value.deadline_ms);
  return std::vector<MovedKey>{{std::move(key), std::move(hash)}};
}

constexpr std::array kMoves = {
    FamilyMove{kTopic, KeyLayout::kCluster, MoveTopicToCluster},
    FamilyMove{kTopic, KeyLayout::kDocumented, MoveTopicToDocumented},
    FamilyMove{.family = kCopy, .to = KeyLayout::kDocumented, .follows_from = kTopic},
};

}  // namespace

std::span<const FamilyMove> KorvetMoves() { return kMoves; }

}  // namespace redouble::inline v0_1::sim
