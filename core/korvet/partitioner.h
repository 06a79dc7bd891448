// Partitioner: which partition of its topic a record goes to.
//
// Records of one key must meet in one partition, also when producers in other languages write to
// the same topic; so a key's partition is computed exactly as Kafka's Java client does. A record
// without a key goes round, deterministically: Kafka's own "sticky" choice draws at random.
//
//   Partitioner partitioner;
//   *partitioner.Choose("orders", 3, {.key = "order-123"});     // 1, always
//   *partitioner.Choose("orders", 3, {});                       // 0, then 1, 2, 0, ...
//   *partitioner.Choose("orders", 3, {.partition = 2});         // 2
//
// Adding partitions to a topic moves keys: only new records follow the new count.
//
// Thread-safety: one thread per Partitioner; the functions are pure.
// Source: reference/korvet.md 4.1 (the hash is Kafka's).
#ifndef REDOUBLE_CORE_KORVET_PARTITIONER_H_
#define REDOUBLE_CORE_KORVET_PARTITIONER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace redouble::korvet {

// Kafka's 32-bit variant of MurmurHash2: seed 0x9747b28c, bytes unsigned, words little-endian, and
// a signed result, as Java has it. Linear in the key.
int32_t Murmur2(std::string_view key);

// The partition of a key, the empty one included: the hash without its sign bit, modulo the count,
// which must be above 0. (Without the bit, not the absolute value: the two differ.)
int32_t PartitionOfKey(std::string_view key, int32_t partitions);

class Partitioner {
 public:
  // What a record says of its partition: the partition itself, which wins, or its key, or nothing.
  struct Route {
    std::optional<int32_t> partition = std::nullopt;
    std::optional<std::string_view> key = std::nullopt;
  };

  // The partition of a record of `topic`, which has `partitions` of them. Only a record with
  // neither partition nor key moves the topic's round on; a round begins at 0 and is this object's
  // own. Errors: UNKNOWN_TOPIC_OR_PARTITION (error_code.h) when the partition that the record names
  // is not one of 0 to partitions - 1, or when there are none.
  absl::StatusOr<int32_t> Choose(std::string_view topic, int32_t partitions, const Route& route);

 private:
  // Records without a key so far, by topic.
  absl::flat_hash_map<std::string, uint32_t> rounds_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_PARTITIONER_H_
