// TopicHistory: records what producers and consumers of a topic observe, and checks Korvet's
// guarantees:
//
// * offsets of a partition increase strictly: a record that is written after an acknowledgement has
//   a greater offset than the acknowledged ones, and no two records have the same offset;
// * no record is delivered to two members unless it was claimed in between;
// * the committed position never passes a pending record;
// * every record that was acknowledged to its producer is eventually delivered to a member, unless
//   retention removed it: at least once.
//
//   const int64_t floor = history.LastAcknowledged(partition);
//   auto appended = co_await producer.Append(partition, records);
//   if (appended.ok()) history.Acknowledge(partition, floor, appended->offsets);
//
// Source: docs/systems/korvet.md I3, I4, I5. Thread-safety: one thread.
#ifndef REDOUBLE_SIM_STORM_KORVET_TOPIC_HISTORY_H_
#define REDOUBLE_SIM_STORM_KORVET_TOPIC_HISTORY_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::sim {

// What Korvet guarantees of a topic, and of the group that reads it.
enum class TopicGuarantee {
  kOffsetsRise,
  kNoneTwice,         // Without a claim.
  kCommittedIsBelow,  // The committed position is not past a pending record.
  kNoneLost,
  kSucceeds,  // Without faults, every operation succeeds.
};

class TopicHistory {
 public:
  // A record's partition and offset.
  using Place = std::pair<int32_t, int64_t>;

  // Returns the greatest offset that was acknowledged so far; -1 if there is none.
  int64_t LastAcknowledged(int32_t partition) const;
  // Records an acknowledgement; `floor` is LastAcknowledged before the append began.
  void Acknowledge(int32_t partition, int64_t floor, std::span<const int64_t> offsets);
  // How often the group lost its position in each partition.
  using Resets = std::map<int32_t, int64_t>;
  // Records that a poll delivered records to a member. `at_begin` are the resets when the poll
  // began, `now` those when it ended. A record may be delivered again after each reset.
  void Deliver(std::string_view member, std::span<const korvet::ConsumedRecord> records,
               const Resets& at_begin = {}, const Resets& now = {});
  // Reports a violation; the first one of each guarantee is kept.
  void Violate(TopicGuarantee guarantee, std::string what);

  // Checks the committed position of a group. `store` must reply at once.
  void CheckCommitted(store::Store& store, const korvet::Keys& keys, const korvet::Topic& topic,
                      std::string_view group);
  // Checks the logs after everything has been read.
  void CheckLogs(store::Store& store, base::Clock& clock, const korvet::Keys& keys,
                 const korvet::Topic& topic);

  // The first violation of the first violated guarantee; empty if there is none.
  std::string violation() const {
    return violations_.empty() ? std::string() : violations_.begin()->second;
  }
  const std::map<TopicGuarantee, std::string>& violations() const { return violations_; }
  // How many records were delivered, claimed ones included.
  int64_t deliveries() const { return deliveries_; }
  const std::set<Place>& acknowledged() const { return acknowledged_; }
  int64_t claims() const { return claims_; }

 private:
  std::set<Place> acknowledged_;
  std::map<int32_t, int64_t> last_acknowledged_;
  // The first member that got each record since the last reset, and the number of resets when it
  // asked.
  std::map<Place, std::pair<std::string, int64_t>> delivered_;
  int64_t claims_ = 0;
  int64_t deliveries_ = 0;
  std::map<TopicGuarantee, std::string> violations_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_KORVET_TOPIC_HISTORY_H_
