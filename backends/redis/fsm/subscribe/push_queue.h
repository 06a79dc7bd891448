// PushQueue: the pushes of subscriptions that wait for their reader, in a queue of limited length.
//
// A push beyond the limit drops the oldest one, and a gap takes its place: a slow reader sees the
// newest messages and knows that it missed some. Adjacent gaps are merged.
//
//   PushQueue pushes(limit);
//   pushes.Add(PushEvent{reply}, counters);
//   while (std::optional<PushEvent> event = pushes.Take()) ...
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_PUSH_QUEUE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_PUSH_QUEUE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

// A push, or a gap: some pushes are missing here.
struct PushEvent {
  std::optional<store::Reply> push;  // nullopt: a gap.

  bool is_gap() const { return !push.has_value(); }
};

class PushQueue {
 public:
  // `limit`: how many pushes may wait; at least 1.
  explicit PushQueue(size_t limit) : limit_(limit) {}

  // Counts the push, and the push that it replaces, in `counters`. O(1).
  void Add(PushEvent event, Counters& counters) {
    if (event.is_gap()) return AddGap();
    ++counters.pushes;
    const bool has_gap = !events_.empty() && events_.front().is_gap();
    if (events_.size() - (has_gap ? 1 : 0) >= limit_) {
      ++counters.pushes_dropped;
      // The oldest push is dropped, and a gap takes its place.
      if (has_gap) events_.pop_front();
      events_.pop_front();
      if (events_.empty() || !events_.front().is_gap()) events_.push_front({});
    }
    events_.push_back(std::move(event));
  }

  // Pushes are missing after those that were added so far.
  void AddGap() {
    if (events_.empty() || !events_.back().is_gap()) events_.push_back({});
  }

  // Removes and returns the oldest push or gap; nullopt if nothing is waiting.
  std::optional<PushEvent> Take() {
    if (events_.empty()) return std::nullopt;
    PushEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  bool empty() const { return events_.empty(); }

 private:
  const size_t limit_;
  std::deque<PushEvent> events_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_PUSH_QUEUE_H_
