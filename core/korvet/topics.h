// Topics: what topics there are, how many partitions they have, and with which options.
//
// A topic is a hash, a member of the set of names and a field of the index of ids (keys.h). Its
// partitions have no key of their own until something is written to them or a consumer group is
// made: a missing stream is an empty partition, and no topic is found by looking for streams.
//
//   Topics topics(store, rng, *Keys::Create());
//   absl::StatusOr<Topic> orders = co_await topics.Create({.name = "orders", .partitions = 3});
//   absl::StatusOr<Topic> again = co_await topics.Describe("orders");
//   absl::Status status = co_await topics.Delete("orders");
//
// Every failure has a Kafka error code (ErrorCodeOf in error_code.h). Beside those that a function
// names, each can fail as Redis does: KAFKA_STORAGE_ERROR, REQUEST_TIMED_OUT (a write may have
// happened) or UNKNOWN_SERVER_ERROR (a key of another type).
//
// What the separate commands leave open, as documented:
// * A creator that dies between its two steps leaves a hash of nothing but an id. Readers do not
//   take it for a topic, but its name is taken until somebody deletes the key.
// * A change that is made while somebody deletes the topic leaves a hash of the changed fields
//   alone. Readers do not take it for a topic, and it does not keep the name from being used again.
// * Partitions that are added while somebody deletes the topic keep their streams.
//
// Thread-safety: as Store and Rng.
// Source: seed 003 "Topic Metadata Keys"; reference/korvet.md section 3.
#ifndef REDOUBLE_CORE_KORVET_TOPICS_H_
#define REDOUBLE_CORE_KORVET_TOPICS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/rng.h"
#include "core/base/task.h"
#include "core/korvet/keys.h"
#include "core/korvet/topic_config.h"
#include "core/korvet/topic_id.h"
#include "core/store/store.h"

namespace redouble::korvet {

struct Topic {
  TopicId id;
  std::string name;
  int32_t partitions = 1;
  TopicConfig config;

  friend bool operator==(const Topic&, const Topic&) = default;
};

// A topic to be. What the views and the span point to must outlive the task that takes it.
struct NewTopic {
  static constexpr int32_t kDefaultPartitions = -1;

  std::string_view name;
  int32_t partitions = kDefaultPartitions;  // -1: the default, which is 1.
  std::span<const ConfigEntry> config = {};
  std::optional<TopicId> id = std::nullopt;  // Drawn when there is none.
  bool validate_only = false;                // Checks all but whether the name is taken.
};

// Changes to a topic that exists.
struct PartitionIncrease {
  std::string_view topic;
  int32_t total = 0;  // Not how many more: how many there shall be.
  bool validate_only = false;
};
struct ConfigChange {
  std::string_view topic;
  std::span<const ConfigEntry> config = {};
  bool validate_only = false;
};

class Topics {
 public:
  // `store` and `rng`, from which ids are drawn, must outlive the object.
  Topics(store::Store& store, base::Rng& rng, Keys keys)
      : store_(store), rng_(rng), keys_(std::move(keys)) {}

  // Creates a topic and gives it back, or, when only validating, the topic that would be. HSETNX of
  // the id, which settles who of several creators wins, then one transaction: two round trips, none
  // when only validating.
  //
  // Errors, checked in this order, before anything is sent: INVALID_TOPIC_EXCEPTION;
  // INVALID_PARTITIONS for 0 and below -1; INVALID_CONFIG for an option that is unknown, unreadable
  // or out of range, and for a reserved id. Then TOPIC_ALREADY_EXISTS, nothing else being written.
  base::Task<absl::StatusOr<Topic>> Create(NewTopic topic);

  // The topic of that name. HGETALL: one round trip. Errors: INVALID_TOPIC_EXCEPTION,
  // UNKNOWN_TOPIC_OR_PARTITION; UNKNOWN_SERVER_ERROR, naming the field, for a hash with a value
  // that nobody could have written here.
  base::Task<absl::StatusOr<Topic>> Describe(std::string_view name);

  // The topic of that id. HGET, then HGETALL: two round trips, one for an id that nobody has.
  // Errors: UNKNOWN_TOPIC_ID; INCONSISTENT_TOPIC_ID when the topic of the name that the index gives
  // has another id or is gone; otherwise as Describe.
  base::Task<absl::StatusOr<Topic>> DescribeById(TopicId id);

  // The names of all topics, sorted by byte. SMEMBERS: one round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Deletes the topic with the streams of its partitions, their groups and pending entries with
  // them. HGETALL, then one transaction: two round trips. Errors: as Describe.
  base::Task<absl::Status> Delete(std::string_view name);

  // Raises the count of partitions. Keys of records move: only new records follow the new count.
  // HGETALL, then HSET: two round trips, one when only validating. Errors: as Describe;
  // INVALID_PARTITIONS when the total is not above the present count.
  base::Task<absl::Status> AddPartitions(PartitionIncrease increase);

  // Changes options. New retention acts from the next write or sweep on. HGETALL, then HSET of the
  // fields named: two round trips, one when only validating or nothing is named. Errors: as
  // Describe; INVALID_CONFIG (topic_config.h), nothing being written.
  base::Task<absl::Status> AlterConfig(ConfigChange change);

 private:
  base::Task<absl::StatusOr<Topic>> Write(Topic topic);
  // What the hash of the name says, with the text of its id in `id_text`, which may be null; none
  // for a hash that is no topic.
  base::Task<absl::StatusOr<std::optional<Topic>>> Read(std::string_view name,
                                                        std::string* id_text);
  // As Read, where a topic must be.
  base::Task<absl::StatusOr<Topic>> ReadExisting(std::string_view name, std::string* id_text);

  store::Store& store_;
  base::Rng& rng_;
  const Keys keys_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPICS_H_
