// Partitioner: chooses the partition of a record.
//
// Records with one key must be in one partition, also if producers in other languages write to the
// same topic. The partition of a key is therefore computed exactly as by Kafka's Java client.
// Records without a key are assigned in turn, so that equal runs give equal results (D6).
//
//   Partitioner partitioner;
//   *partitioner.Choose("orders", 3, {.key = "order-123"});     // 1, always
//   *partitioner.Choose("orders", 3, {});                       // 0, then 1, 2, 0, ...
//   *partitioner.Choose("orders", 3, {.partition = 2});         // 2
//
// After partitions were added to a topic, new records may go to other partitions than before.
//
// Thread-safety: one thread per Partitioner; the functions are pure.
// Source: docs/systems/korvet.md 4.6, D6.
#ifndef REDOUBLE_CORE_KORVET_LOG_PARTITIONER_H_
#define REDOUBLE_CORE_KORVET_LOG_PARTITIONER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::korvet {

// Returns Kafka's 32-bit variant of MurmurHash2: seed 0x9747b28c, unsigned bytes, little-endian
// words, signed result as in Java. O(length of the key).
int32_t Murmur2(std::string_view key);

// Returns the partition of a key, which may be empty: the hash without its sign bit, modulo
// `partitions`, which must be above 0. Clearing the sign bit is not the same as the absolute value.
int32_t PartitionOfKey(std::string_view key, int32_t partitions);

class Partitioner {
 public:
  // How a record selects its partition: by the partition itself, which takes precedence, by its
  // key, or by neither.
  struct Route {
    std::optional<int32_t> partition = std::nullopt;
    std::optional<std::string_view> key = std::nullopt;
  };

  // Returns the partition of a record of `topic`, which has `partitions` partitions. Only a record
  // with neither partition nor key advances the topic's counter. Each object has its own counters,
  // which start at 0. Errors: UNKNOWN_TOPIC_OR_PARTITION (errors.h) if the given partition is
  // not between 0 and partitions - 1, or if the topic has no partitions.
  absl::StatusOr<int32_t> Choose(std::string_view topic, int32_t partitions, const Route& route);

 private:
  // The number of records without a key so far, by topic.
  absl::flat_hash_map<std::string, uint32_t> rounds_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_PARTITIONER_H_
