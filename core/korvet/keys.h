// Keys: Korvet's key families, and the functions that build and parse their keys.
//
// A topic is a hash, a member of the set of names, a field of the index of ids, and one stream per
// partition. The membership of a consumer group is three hashes. All keys begin with the keyspace,
// a configured text. Use this class wherever a key of Korvet is needed; never concatenate keys by
// hand.
//
//   absl::StatusOr<korvet::Keys> keys = korvet::Keys::Create("korvet");
//   keys->Stream({"orders", 0});                      // "korvet:stream:orders:0"
//   keys->Topic("orders");                            // "korvet:topic:orders"
//   keys->ParseStream("korvet:stream:orders:0");      // {"orders", 0}
//
// Group commands use the stream key as well (D2).
//
// In the cluster layout the topic, each partition and each group are hash tags, such as
// "korvet:stream:{orders:0}". What a script or a fetch of a partition reads of its topic, it then
// reads from a copy in the partition's tag; Metadata returns the key for either layout.
//
// Thread-safety: constant after construction.
// Source: docs/systems/korvet.md 1, 1.2, D2.
#ifndef REDOUBLE_CORE_KORVET_KEYS_H_
#define REDOUBLE_CORE_KORVET_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::korvet {

inline constexpr std::string_view kDefaultKeyspace = "korvet";

// The families, in the order of the documentation. The keyspace is a placeholder of each pattern.
// The cluster layout has one family more, korvet.topic_copy.
std::span<const store::KeyFamily> KeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// One partition of a topic. Partitions are numbered from 0. Does not own the name.
struct TopicPartition {
  std::string_view topic;
  int32_t partition = 0;

  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

// Builds and parses the keys of one keyspace.
class Keys {
 public:
  // Returns the keys of `keyspace`. Any text except the empty one is allowed, including one with
  // colons: the keyspace is constant, so it makes no key ambiguous. Errors: INVALID_CONFIG
  // (errors.h) if the keyspace is empty, or has a brace in the cluster layout.
  static absl::StatusOr<Keys> Create(std::string_view keyspace = kDefaultKeyspace,
                                     store::KeyLayout layout = store::KeyLayout::kDocumented);

  const std::string& keyspace() const { return keyspace_; }
  store::KeyLayout layout() const { return layout_; }
  bool in_cluster_layout() const { return layout_ == store::KeyLayout::kCluster; }

  // Returns the stream of a partition. Errors: INVALID_TOPIC_EXCEPTION for an illegal name,
  // UNKNOWN_TOPIC_OR_PARTITION for a partition below 0.
  absl::StatusOr<std::string> Stream(TopicPartition partition) const;
  // Returns the hash of a topic. Errors: INVALID_TOPIC_EXCEPTION.
  absl::StatusOr<std::string> Topic(std::string_view topic) const;
  // Returns the hash in which the scripts and fetches of a partition read their topic: Topic, or in
  // the cluster layout the partition's copy. Errors: as Stream.
  absl::StatusOr<std::string> Metadata(TopicPartition partition) const;
  // Returns the hash of a batch that a producer with write_batches_once has written. Errors: as
  // Stream.
  absl::StatusOr<std::string> WrittenBatch(TopicPartition partition,
                                           std::string_view batch_id) const;
  // Returns the set of all topic names.
  const std::string& Topics() const { return topics_; }
  // Returns the hash that maps ids to names.
  const std::string& TopicIds() const { return topic_ids_; }
  // Return the keys of a consumer group's membership: its epoch, its members and its partitions.
  // Errors: INVALID_GROUP_ID for an empty name.
  absl::StatusOr<std::string> Group(std::string_view group) const;
  absl::StatusOr<std::string> GroupMembers(std::string_view group) const;
  absl::StatusOr<std::string> GroupPartitions(std::string_view group) const;

  // The inverse of Stream and Topic. The result refers to `key`. Returns nullopt for any other key,
  // including one with an illegal name, with a partition below 0 or above 2147483647, or with a
  // padded number.
  std::optional<TopicPartition> ParseStream(std::string_view key) const;
  std::optional<std::string_view> ParseTopic(std::string_view key) const;

 private:
  Keys(std::string_view keyspace, store::KeyLayout layout);

  std::string keyspace_;
  store::KeyLayout layout_;
  store::KeyPattern stream_;
  store::KeyPattern topic_;
  store::KeyPattern topic_copy_;
  store::KeyPattern batch_;
  store::KeyPattern group_;
  store::KeyPattern group_members_;
  store::KeyPattern group_partitions_;
  std::string topics_;
  std::string topic_ids_;
};

// How long a written batch is known.
absl::Duration BatchTtl();  // 1 day.

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_KEYS_H_
