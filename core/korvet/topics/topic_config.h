// TopicConfig: the options of a topic, their text in the topic's hash, and their Kafka names.
//
//   | field              | Kafka's name     | values                        | default   | change |
//   | ------------------ | ---------------- | ----------------------------- | --------- | ------ |
//   | retentionTime      | retention.ms     | milliseconds; -1: unlimited   | 604800000 | yes    |
//   | retentionBytes     | retention.bytes  | per partition; -1: unlimited  | -1        | yes    |
//   | compression        | compression.type | none, gzip, snappy, lz4, zstd | none      | yes    |
//   | valueType          |                  | JSON, BYTES                   | not known | no     |
//   | offsetSequenceBits |                  | 10 to 16                      | 10        | no     |
//   | messageBytes       |                  | average size, at least 1      | 1024      | yes    |
//
// An option can be given by either name. The column "change" states whether the option of an
// existing topic can be altered. The number of sequence bits is fixed, because a change would
// change the meaning of every offset that clients have stored (offset.h).
//
//   const ConfigEntry entries[] = {{"retention.ms", "60000"}};
//   absl::StatusOr<TopicConfig> config = ParseTopicConfig(entries);
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/korvet.md 2.2, 4.5, D5.
#ifndef REDOUBLE_CORE_KORVET_TOPICS_TOPIC_CONFIG_H_
#define REDOUBLE_CORE_KORVET_TOPICS_TOPIC_CONFIG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/korvet/offset.h"

namespace redouble::inline v0_1::korvet {

// A label of the topic. It does not change the stored bytes (D12).
enum class Compression { kNone, kGzip, kSnappy, kLz4, kZstd };
enum class ValueType { kJson, kBytes };

// Returns the compression named "none", "gzip", "snappy", "lz4" or "zstd", or nullopt for any other
// text.
std::optional<Compression> FindCompression(std::string_view name);

// Returns "JSON" or "BYTES".
std::string_view ValueTypeName(ValueType type);
// Returns the value type of that name, or nullopt for any other text.
std::optional<ValueType> FindValueType(std::string_view name);

struct TopicConfig {
  int64_t retention_time_ms = 604'800'000;  // Seven days; -1: unlimited.
  int64_t retention_bytes = -1;             // Per partition; -1: unlimited.
  Compression compression = Compression::kNone;
  std::optional<ValueType> value_type = std::nullopt;  // Nullopt until the first value is written.
  OffsetCodec offsets = OffsetCodec();                 // The field offsetSequenceBits.
  int64_t message_bytes = 1024;                        // The assumed average size of a record.

  friend bool operator==(const TopicConfig&, const TopicConfig&) = default;
};

// An option as given by a caller. Does not own its texts.
struct ConfigEntry {
  std::string_view name;
  std::string_view value;
};

// A field of the topic's hash and its value.
using ConfigField = std::pair<std::string, std::string>;

// Returns the defaults with `entries` applied. If an option is given twice, the last value is used.
// Errors: INVALID_CONFIG (errors.h), with the option and the value, if the option is unknown or
// the table does not allow the value.
absl::StatusOr<TopicConfig> ParseTopicConfig(std::span<const ConfigEntry> entries);

// Returns the hash fields that change an existing topic, in the order of the entries. Errors: as
// ParseTopicConfig; INVALID_CONFIG also for an option that cannot be changed.
absl::StatusOr<std::vector<ConfigField>> ParseConfigChanges(std::span<const ConfigEntry> entries);

// Returns the config stored in a topic's hash. Missing fields have the default; unknown fields are
// ignored. Errors: UNKNOWN_SERVER_ERROR, with the field and the value, if the table does not allow
// the value.
absl::StatusOr<TopicConfig> ReadTopicConfig(std::span<const ConfigField> fields);

// Returns the hash fields of a config, in the order of the table. valueType is omitted until it is
// known.
std::vector<ConfigField> FormatTopicConfig(const TopicConfig& config);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPICS_TOPIC_CONFIG_H_
