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
#ifndef REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_HISTORY_H_
#define REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_HISTORY_H_

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

namespace redouble::korvet {

class TopicHistory {
 public:
  // A record's partition and offset.
  using Place = std::pair<int32_t, int64_t>;

  // Returns the greatest offset that was acknowledged so far; -1 if there is none.
  int64_t LastAcknowledged(int32_t partition) const;
  // Records an acknowledgement; `floor` is LastAcknowledged before the append began.
  void Acknowledge(int32_t partition, int64_t floor, std::span<const int64_t> offsets);
  // Records that a poll delivered records to a member.
  void Deliver(std::string_view member, std::span<const ConsumedRecord> records);
  // Reports a violation; the first one is kept.
  void Violate(std::string what);

  // Checks the committed position of a group. `store` must reply at once.
  void CheckCommitted(store::Store& store, const Keys& keys, const Topic& topic,
                      std::string_view group);
  // Checks the logs after everything has been read.
  void CheckLogs(store::Store& store, base::Clock& clock, const Keys& keys, const Topic& topic);

  // The first violation; empty if there is none.
  const std::string& violation() const { return violation_; }
  const std::set<Place>& acknowledged() const { return acknowledged_; }
  int64_t claims() const { return claims_; }

 private:
  std::set<Place> acknowledged_;
  std::map<int32_t, int64_t> last_acknowledged_;
  std::map<Place, std::string> delivered_;  // The first member that got each record.
  int64_t claims_ = 0;
  std::string violation_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_HISTORY_H_
