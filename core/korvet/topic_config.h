// TopicConfig: the options of a topic, their texts in the topic's hash, and what Kafka calls them.
//
//   | field              | Kafka's name     | values                        | default   | change |
//   | ------------------ | ---------------- | ----------------------------- | --------- | ------ |
//   | retentionTime      | retention.ms     | milliseconds; -1: unlimited   | 604800000 | yes    |
//   | retentionBytes     | retention.bytes  | per partition; -1: unlimited  | -1        | yes    |
//   | compression        | compression.type | none, gzip, snappy, lz4, zstd | none      | yes    |
//   | valueType          |                  | JSON, BYTES                   | not known | no     |
//   | offsetSequenceBits |                  | 10 to 16                      | 10        | no     |
//   | messageBytes       |                  | average size, from 1 up       | 1024      | yes    |
//
// An option can be named either way; `change` says whether a topic that exists can take another
// value. The sequence bits are fixed when a topic is created, because other bits would give every
// offset that was handed out another meaning (offset.h).
//
//   const ConfigEntry entries[] = {{"retention.ms", "60000"}};
//   absl::StatusOr<TopicConfig> config = ParseTopicConfig(entries);
//
// Thread-safety: plain values and pure functions.
// Source: seed 003 "Topic Hash Fields"; reference/korvet.md 1.1, 3.5.
#ifndef REDOUBLE_CORE_KORVET_TOPIC_CONFIG_H_
#define REDOUBLE_CORE_KORVET_TOPIC_CONFIG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/korvet/offset.h"

namespace redouble::korvet {

// A label of the topic that fetches carry along; it changes no stored byte.
enum class Compression { kNone, kGzip, kSnappy, kLz4, kZstd };
enum class ValueType { kJson, kBytes };

// "none", "gzip", "snappy", "lz4", "zstd"; none for any other text.
std::optional<Compression> FindCompression(std::string_view name);

struct TopicConfig {
  int64_t retention_time_ms = 604'800'000;  // Seven days; -1: unlimited.
  int64_t retention_bytes = -1;             // Of each partition; -1: unlimited.
  Compression compression = Compression::kNone;
  std::optional<ValueType> value_type = std::nullopt;  // None until it is known.
  OffsetCodec offsets = OffsetCodec();                 // offsetSequenceBits
  int64_t message_bytes = 1024;                        // What a record is taken to weigh.

  friend bool operator==(const TopicConfig&, const TopicConfig&) = default;
};

// An option as somebody wrote it. Views: whoever wrote it owns it.
struct ConfigEntry {
  std::string_view name;
  std::string_view value;
};

// A field of the topic's hash with its text.
using ConfigField = std::pair<std::string, std::string>;

// The defaults with `entries` applied; of two entries for one option the later counts. Errors:
// INVALID_CONFIG (error_code.h), naming option and value: no such option, or a value that is not
// one of the table's.
absl::StatusOr<TopicConfig> ParseTopicConfig(std::span<const ConfigEntry> entries);

// The hash fields of changes to a topic that exists, in the order of the entries. Errors: as
// ParseTopicConfig; INVALID_CONFIG also for an option that cannot change.
absl::StatusOr<std::vector<ConfigField>> ParseConfigChanges(std::span<const ConfigEntry> entries);

// The config that a topic's hash holds. Missing fields take the default, unknown ones are left out.
// Errors: UNKNOWN_SERVER_ERROR, naming field and value: what it holds is not one of the table's.
absl::StatusOr<TopicConfig> ReadTopicConfig(std::span<const ConfigField> fields);

// The hash fields of a config, all of them in the order of the table; valueType only when known.
std::vector<ConfigField> FormatTopicConfig(const TopicConfig& config);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPIC_CONFIG_H_
