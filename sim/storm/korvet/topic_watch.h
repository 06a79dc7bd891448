// TopicWatch: looks at a topic and a group on the server after every step, and reports what no
// client sees: which records were removed before their time, and in which partitions a group lost
// its position.
//
//   TopicWatch watch(store, keys, "orders", "my-group");
//   watch.Allow(config);                  // Before the topic gets these options.
//   watch.Look(world.clock().Now(), 4);   // After every step, at four partitions.
//   watch.early();                        // Empty: no record was removed too early.
//
// Source: docs/systems/korvet.md 4.10, 4.16, 4.18. Thread-safety: one thread.
#ifndef REDOUBLE_SIM_STORM_KORVET_TOPIC_WATCH_H_
#define REDOUBLE_SIM_STORM_KORVET_TOPIC_WATCH_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topic_config.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::sim {

class TopicWatch {
 public:
  // By partition.
  using Counts = std::map<int32_t, int64_t>;
  // The id of a topic, and a partition.
  using Place = std::pair<std::string, int32_t>;

  // `store` must reply at once and outlive the object.
  TopicWatch(store::Store& store, korvet::Keys keys, std::string topic, std::string group)
      : store_(store), keys_(std::move(keys)), topic_(std::move(topic)), group_(std::move(group)) {}

  // From now on records may be removed by this retention, even when another one follows: a client
  // that trims may have read it before.
  void Allow(const korvet::TopicConfig& config);
  void Look(absl::Time now, int32_t partitions);

  // How often the group lost its position in a partition: it was deleted, or moved back. Records
  // are then delivered again.
  const Counts& resets() const { return resets_; }
  // The offsets of all records that were there after some step.
  const std::set<int64_t>& SeenIn(const Place& place) { return seen_[place]; }

  int64_t removed() const { return removed_; }
  // Describes the first record that was removed too early; empty if no record was.
  const std::string& early() const { return early_; }
  int64_t deleted_groups() const { return deleted_groups_; }
  // Describes the first deletion of a group with members or pending records; empty if no such group
  // was deleted.
  const std::string& busy_deleted() const { return busy_deleted_; }

 private:
  struct Partition {
    std::vector<store::StreamId> ids;
    bool has_group = false;
    store::StreamId last_delivered;
    int64_t pending = 0;
  };

  // Nullopt if there is no stream.
  std::optional<Partition> Read(int32_t partition);
  // Until when the group has members, in milliseconds since 1970.
  int64_t LastDeadline();
  void Compare(int32_t partition, const Partition& before, const Partition& now, int64_t now_ms);
  void CheckRemoved(int32_t partition, const Partition& before, const Partition& now,
                    int64_t now_ms);

  store::Store& store_;
  const korvet::Keys keys_;
  const std::string topic_;
  const std::string group_;
  int64_t least_time_ms_ = std::numeric_limits<int64_t>::max();
  int64_t least_length_ = std::numeric_limits<int64_t>::max();
  std::string id_;  // Of the topic at the last look; empty if there was none.
  std::map<int32_t, Partition> partitions_;
  int64_t last_deadline_ms_ = 0;
  Counts resets_;
  std::map<Place, std::set<int64_t>> seen_;
  int64_t removed_ = 0;
  std::string early_;
  int64_t deleted_groups_ = 0;
  std::string busy_deleted_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_KORVET_TOPIC_WATCH_H_
