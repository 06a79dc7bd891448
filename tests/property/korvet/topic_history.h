// TopicHistory: what happened to the records of a topic, and the promises of Korvet that it is held
// against:
//
// * offsets of a partition rise strictly: what is written after an answer has a greater one than
//   what the answer was about, and no two records have the same;
// * no record is given to two members unless it was claimed in between;
// * the committed position never passes a pending record;
// * every record that was acknowledged to its producer is given to somebody in the end, unless
//   retention took it: at least once.
//
//   const int64_t floor = history.LastAcknowledged(partition);
//   auto appended = co_await producer.Append(partition, records);
//   if (appended.ok()) history.Acknowledge(partition, floor, appended->offsets);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_HISTORY_H_
#define REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_HISTORY_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/korvet/consumer.h"
#include "core/korvet/keys.h"
#include "core/korvet/topics.h"
#include "core/store/store.h"

namespace redouble::korvet {

class TopicHistory {
 public:
  // A record by where it stands: partition and offset.
  using Place = std::pair<int32_t, int64_t>;

  // The greatest offset that any producer has been told of so far; -1 when there is none.
  int64_t LastAcknowledged(int32_t partition) const;
  // A producer was told of its records; `floor` is LastAcknowledged when it began.
  void Acknowledge(int32_t partition, int64_t floor, std::span<const int64_t> offsets);
  // A poll gave a member its records.
  void Give(std::string_view member, std::span<const ConsumedRecord> records);
  // A promise was broken; the first one is kept.
  void Violate(std::string what);

  // Looks at a group of the topic. `store` must answer at once.
  void CheckCommitted(store::Store& store, const Keys& keys, const Topic& topic,
                      std::string_view group);
  // Looks at the logs once everything has been read.
  void CheckLogs(store::Store& store, base::Clock& clock, const Keys& keys, const Topic& topic);

  // Empty when every promise was kept.
  const std::string& violation() const { return violation_; }
  const std::set<Place>& acknowledged() const { return acknowledged_; }
  int64_t claims() const { return claims_; }

 private:
  std::set<Place> acknowledged_;
  std::map<int32_t, int64_t> last_acknowledged_;
  std::map<Place, std::string> given_;  // To whom first.
  int64_t claims_ = 0;
  std::string violation_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_HISTORY_H_
