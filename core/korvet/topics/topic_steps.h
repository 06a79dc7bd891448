// TopicSteps: creates, changes and deletes topics in the cluster layout, where their keys are in
// several slots.
//
// Use Topics, which calls it for keys of that layout; Producer, Log, ConsumerGroup and
// RetentionLoop use it to bring the copy of a partition up to date. What the documented layout does
// in one transaction are steps here, each on one slot:
//
// * The topic's hash decides. A number `partitions` makes the topic visible; while a step is
//   missing it has `making` or `removing` instead.
// * Each change of the hash raises its epoch. Every later step carries the epoch, and a copy that
//   has seen a greater one ignores the step. A step may therefore be repeated, or arrive late.
// * A copy whose topic was deleted keeps its epoch for a day, so that a late step of the deleted
//   topic cannot bring the copy back.
//
// After a crash, Repair finishes a deletion or an addition of partitions, and takes back a
// creation. Delete and AddPartitions may also be repeated instead.
//
//   TopicSteps steps(store, keys);
//   absl::StatusOr<Topic> made = co_await steps.Create(topic);
//
// Errors of every function: those of Redis; the steps before a failed one have taken effect.
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 1.2.
#ifndef REDOUBLE_CORE_KORVET_TOPICS_TOPIC_STEPS_H_
#define REDOUBLE_CORE_KORVET_TOPICS_TOPIC_STEPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::korvet {

class TopicSteps {
 public:
  // `store` and `keys`, which have the cluster layout, must outlive the object.
  TopicSteps(store::Store& store, const Keys& keys) : store_(store), keys_(keys) {}

  // Claims the name in the topic's hash, writes the copies and the indexes, and makes the topic
  // visible: four round trips. Errors: TOPIC_ALREADY_EXISTS; UNKNOWN_TOPIC_OR_PARTITION if Repair
  // took the creation back meanwhile.
  base::Task<absl::StatusOr<Topic>> Create(Topic topic);

  // Hides the topic, removes it from the indexes, removes its partitions, and then its hash: five
  // round trips. Continues a deletion that did not finish. Errors: UNKNOWN_TOPIC_OR_PARTITION.
  base::Task<absl::Status> Delete(std::string name);

  // Claims the total, writes the copies of the new partitions and then those of the old ones, and
  // sets the number: four round trips. Errors: INVALID_PARTITIONS; UNKNOWN_TOPIC_OR_PARTITION and
  // INCONSISTENT_TOPIC_ID if the topic was deleted or replaced.
  base::Task<absl::Status> AddPartitions(Topic topic, int32_t total);

  // Changes the hash, then the copies: two round trips. Errors: UNKNOWN_TOPIC_OR_PARTITION and
  // INCONSISTENT_TOPIC_ID if the topic was deleted or replaced.
  base::Task<absl::Status> AlterConfig(Topic topic, std::vector<ConfigField> fields);

  // Returns the visible topics of the set of names, sorted by byte: two round trips.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Brings all keys of the name to a complete topic or to none; returns whether it changed
  // something. A topic that is complete gets its missing or older copies and its missing places in
  // the indexes.
  base::Task<absl::StatusOr<bool>> Repair(std::string name);

  // Reads the topic again as RefreshTopic (topics.h), and writes the copy of a partition unless it
  // is as new: for a copy that is missing or older than what the caller knows, which a crash or a
  // failover can leave. Two round trips. Errors: as RefreshTopic; UNKNOWN_TOPIC_OR_PARTITION if the
  // topic does not have the partition.
  base::Task<absl::Status> RenewPartition(Topic& topic, int32_t partition);

  // Writes the copies that are missing or older than `topic`, which was just read. Returns their
  // number: one round trip.
  base::Task<absl::StatusOr<int64_t>> RenewPartitions(const Topic& topic);

  // Sets the topic's value type unless it has one, and returns it: one round trip. Errors:
  // UNKNOWN_TOPIC_OR_PARTITION and INCONSISTENT_TOPIC_ID if the topic was deleted or replaced.
  base::Task<absl::StatusOr<ValueType>> SettleValueType(const Topic& topic, ValueType proposed);

 private:
  // A range of partitions, and how to write their copies.
  struct Copies {
    int32_t first = 0;
    int32_t last = 0;
    bool is_new = false;  // Also removes a stream that a partition has, which is no part of it.
  };
  struct CopiesWritten {
    int64_t count = 0;
    int64_t greatest = 0;  // The greatest epoch that refused the write; 0: none.
  };
  // Writes the copies of the partitions from `first` to below `last`, unless they have the topic's
  // epoch or a greater one.
  base::Task<absl::StatusOr<CopiesWritten>> WriteCopies(const Topic& topic, Copies copies);
  // Runs a script on the copy and the stream of each partition; returns what it replied.
  base::Task<absl::StatusOr<std::vector<int64_t>>> RunOnPartitions(
      const store::Script& script, std::string_view topic, Copies range,
      std::span<const std::string_view> arguments);
  // Runs a step on the topic's hash. Returns the elements of its reply after the code 0.
  base::Task<absl::StatusOr<std::vector<store::Reply>>> Step(std::string_view step,
                                                             const Topic& topic,
                                                             std::vector<std::string> arguments);
  // A deletion that has begun: its epoch, and the partitions that may have keys.
  struct Removal {
    int64_t epoch = 0;
    int32_t partitions = 0;
  };
  // Writes all copies of a half-made topic.
  base::Task<absl::Status> WriteClaimed(Topic& topic);
  // Hides the topic; nullopt if it is gone, or half made without `also_half_made`.
  base::Task<absl::StatusOr<std::optional<Removal>>> StartRemoval(const Topic& topic,
                                                                  bool also_half_made);
  base::Task<absl::Status> FinishRemoval(const Topic& topic, Removal removal);
  base::Task<absl::Status> ListTopic(const Topic& topic);
  // Removes the ids from the index, and the name from the set if no other id has it.
  base::Task<absl::StatusOr<bool>> Unlist(std::string name, std::vector<std::string> ids);
  base::Task<absl::StatusOr<bool>> RepairVisible(Topic topic, int32_t adding);

  store::Store& store_;
  const Keys& keys_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPICS_TOPIC_STEPS_H_
