// Topics: creates, describes, lists, changes and deletes topics.
//
// A topic is a hash, a member of the set of names and a field of the index of ids (keys.h). A
// partition has no key until its first record or consumer group: a missing stream is an empty
// partition. Topics are therefore never found by scanning for streams.
//
//   Topics topics(store, rng, *Keys::Create());
//   absl::StatusOr<Topic> orders = co_await topics.Create({.name = "orders", .partitions = 3});
//   absl::StatusOr<Topic> again = co_await topics.Describe("orders");
//   absl::Status status = co_await topics.Delete("orders");
//
// Every failure has a Kafka error code (ErrorCodeOf in errors.h). In addition to the listed
// errors, each function can fail with KAFKA_STORAGE_ERROR, REQUEST_TIMED_OUT (a write may have
// happened) or UNKNOWN_SERVER_ERROR (a key has another type).
//
// The operations send separate commands, with these documented consequences:
//
// * A creator that crashes between its two steps leaves a hash with only an id. Readers do not see
//   a topic, but the name is in use until Repair removes the hash (H1).
// * A change that races with a deletion can leave a hash with only the changed fields. Readers do
//   not see a topic, and the name can be used again.
// * Partitions that are added while the topic is deleted keep their streams.
//
// In the cluster layout of the keys the operations are other steps, which topic_steps.h describes;
// the errors are the same.
//
// Thread-safety: as Store and Rng.
// Source: docs/systems/korvet.md 2.2, 3.1, 4.1 to 4.5.
#ifndef REDOUBLE_CORE_KORVET_TOPICS_TOPICS_H_
#define REDOUBLE_CORE_KORVET_TOPICS_TOPICS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/korvet/hardening.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topic_config.h"
#include "redouble/core/korvet/topics/topic_id.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::korvet {

struct Topic {
  TopicId id;
  std::string name;
  int32_t partitions = 1;
  TopicConfig config;
  // In the cluster layout a number that rises with each change of the topic; otherwise 0.
  int64_t epoch = 0;

  friend bool operator==(const Topic&, const Topic&) = default;
};

// A topic to create. The referenced texts and entries must outlive the task that takes it.
struct NewTopic {
  static constexpr int32_t kDefaultPartitions = -1;

  std::string_view name;
  int32_t partitions = kDefaultPartitions;  // -1: the default, 1.
  std::span<const ConfigEntry> config = {};
  std::optional<TopicId> id = std::nullopt;  // Nullopt: a random id.
  bool validate_only = false;                // Checks everything except whether the name is in use.
};

// Changes of an existing topic.
struct PartitionIncrease {
  std::string_view topic;
  int32_t total = 0;  // The new total, not the number of added partitions.
  bool validate_only = false;
};
struct ConfigChange {
  std::string_view topic;
  std::span<const ConfigEntry> config = {};
  bool validate_only = false;
};

// Reads a topic by its name. HGETALL: one round trip. Errors: as Topics::Describe.
base::Task<absl::StatusOr<Topic>> DescribeTopic(store::Store& store, const Keys& keys,
                                                std::string_view name);

// Reads a topic again: its options and its number of partitions. Objects that live long, such as
// Producer, Log and Consumer, use it. HGETALL: one round trip. Errors: UNKNOWN_TOPIC_OR_PARTITION
// if the topic does not exist any more, INCONSISTENT_TOPIC_ID if it was deleted and created again;
// `topic` is unchanged. Otherwise as Topics::Describe.
base::Task<absl::Status> RefreshTopic(store::Store& store, const Keys& keys, Topic& topic);

class Topics {
 public:
  // `store` and `rng`, which generates ids, must outlive the object.
  Topics(store::Store& store, base::Rng& rng, Keys keys, Hardening hardening = Hardening())
      : store_(store), rng_(rng), keys_(std::move(keys)), hardening_(hardening) {}

  // Creates a topic and returns it. With `validate_only` returns the topic that would be created.
  // Sends HSETNX of the id, which lets one of several creators succeed, and then one transaction:
  // two round trips, or zero with `validate_only`. With Hardening::atomic_creation one script.
  //
  // Errors, checked in this order before a command is sent: INVALID_TOPIC_EXCEPTION;
  // INVALID_PARTITIONS for 0 and below -1; INVALID_CONFIG for an option that is unknown, unreadable
  // or out of range, and for a reserved id. Then TOPIC_ALREADY_EXISTS; nothing else is written in
  // this case.
  // Source: docs/systems/korvet.md 4.1.
  base::Task<absl::StatusOr<Topic>> Create(NewTopic topic);

  // Returns the topic with that name. HGETALL: one round trip. Errors: INVALID_TOPIC_EXCEPTION;
  // UNKNOWN_TOPIC_OR_PARTITION; UNKNOWN_SERVER_ERROR, with the field, if the hash contains an
  // illegal value.
  // Source: docs/systems/korvet.md 4.2.
  base::Task<absl::StatusOr<Topic>> Describe(std::string_view name);

  // Returns the topic with that id. HGET, then HGETALL: two round trips, or one if the id is
  // unknown. Errors: UNKNOWN_TOPIC_ID; INCONSISTENT_TOPIC_ID if the indexed topic is missing or has
  // a different id; otherwise as Describe.
  // Source: docs/systems/korvet.md 4.2.
  base::Task<absl::StatusOr<Topic>> DescribeById(TopicId id);

  // Returns the names of all topics, sorted by byte. SMEMBERS: one round trip.
  // Source: docs/systems/korvet.md 4.2.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Deletes the topic and the streams of its partitions, including their groups and pending
  // entries. HGETALL, then one transaction: two round trips. Errors: as Describe.
  // Source: docs/systems/korvet.md 4.3.
  base::Task<absl::Status> Delete(std::string_view name);

  // Increases the number of partitions. New records with a key may go to other partitions than
  // before; existing records are not moved. HGETALL, then one script, which never lowers the
  // number: two round trips, or one with `validate_only`. Errors: as Describe; INVALID_PARTITIONS
  // if the total is not above the current number. Source: docs/systems/korvet.md 4.4.
  base::Task<absl::Status> AddPartitions(PartitionIncrease increase);

  // Changes options. The next append and the next sweep use the new retention. HGETALL, then HSET
  // of the named fields: two round trips, or one with `validate_only` or without entries. Errors:
  // as Describe; INVALID_CONFIG (topic_config.h), and then nothing is written. Source:
  // docs/systems/korvet.md 4.5.
  base::Task<absl::Status> AlterConfig(ConfigChange change);

  // Removes what a crashed creator, or a change during a deletion, left of a topic: a hash without
  // `id` or without `partitions`, and its entries in the set and in the index. Returns false, and
  // changes nothing, if the topic is complete or if there is nothing. Call it only if no creator of
  // this name is running: a creator between its two steps looks the same. One script. Errors:
  // INVALID_TOPIC_EXCEPTION.
  // Source: docs/systems/korvet.md 4.20, H1.
  base::Task<absl::StatusOr<bool>> Repair(std::string_view name);

 private:
  base::Task<absl::StatusOr<Topic>> Write(Topic topic);
  base::Task<absl::StatusOr<Topic>> CreateByScript(Topic topic);
  // As ReadTopic in topics.cc, but fails with UNKNOWN_TOPIC_OR_PARTITION if the hash is not a
  // topic.
  base::Task<absl::StatusOr<Topic>> ReadExisting(std::string_view name, std::string* id_text);

  store::Store& store_;
  base::Rng& rng_;
  const Keys keys_;
  const Hardening hardening_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPICS_TOPICS_H_
