// The fields of a topic's hash, and the errors about it.
//
// For Topics, TopicSteps, their tests, and the move of topics to another layout (sim/migrate).
// Other code uses those classes.
//
//   std::vector<ConfigField> fields = HashOf(topic);                    // For HSET.
//   absl::StatusOr<std::optional<Topic>> read = TopicOfHash("orders", fields, layout);
//
// Thread-safety: pure functions.
// Source: docs/systems/korvet.md 2.2.
#ifndef REDOUBLE_CORE_KORVET_TOPICS_TOPIC_HASH_H_
#define REDOUBLE_CORE_KORVET_TOPICS_TOPIC_HASH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/keyspace/key_layout.h"

namespace redouble::inline v0_1::korvet {

// Fields of the hash that are not options.
inline constexpr std::string_view kTopicId = "id";
inline constexpr std::string_view kTopicName = "name";
inline constexpr std::string_view kTopicPartitions = "partitions";
// Fields of the cluster layout only. The last three hold numbers of partitions.
inline constexpr std::string_view kTopicEpoch = "epoch";
inline constexpr std::string_view kTopicMaking = "making";      // Half made.
inline constexpr std::string_view kTopicAdding = "adding";      // Partitions are being added.
inline constexpr std::string_view kTopicRemoving = "removing";  // Half deleted.

// Returns the value of a field, or null if the hash does not have it.
const std::string* FieldOf(std::span<const ConfigField> fields, std::string_view name);

// Reads the field `id` of the hash of topic `name`. Errors: UNKNOWN_SERVER_ERROR for an illegal
// one.
absl::StatusOr<TopicId> ReadTopicId(std::string_view name, std::string_view text);

// Returns the topic of a hash; nullopt if the hash is not a topic, because it has no id or no
// number of partitions. Errors: UNKNOWN_SERVER_ERROR for an illegal value.
absl::StatusOr<std::optional<Topic>> TopicOfHash(std::string_view name,
                                                 std::span<const ConfigField> fields,
                                                 store::KeyLayout layout);

// Returns the fields of a topic in the documented order, without the epoch.
std::vector<ConfigField> HashOf(const Topic& topic);

// UNKNOWN_TOPIC_OR_PARTITION.
absl::Status NoSuchTopic(std::string_view name);
// INCONSISTENT_TOPIC_ID.
absl::Status AnotherTopic(std::string_view name);
// UNKNOWN_SERVER_ERROR.
absl::Status UnreadableHash(std::string_view topic, absl::string_view what);
// INVALID_PARTITIONS: a total that is not above the current number.
absl::Status NotMorePartitions(std::string_view topic, int64_t current, int32_t total);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPICS_TOPIC_HASH_H_
