// EventQueue: what happened, for the system to fetch: first traffic, alerts.
//
// A producer takes the next id and publishes the event under it; the consumer lists the queue and
// then deletes what it has seen, by a range of ids. The two halves of a publication are two round
// trips: an event that is published between a consumer's list and its deletion, with a smaller id
// than the last one listed, is never delivered. Hardening::publish_events_atomically prevents that.
//
//   EventQueue events(process);
//   co_await events.Publish(EventType::kFirstTraffic, JsonObject().Add("service_id", "2"));
//   co_await events.List();
//   // {{"id":1,"type":"first_traffic","timestamp":"2025-04-23 17:42:39 UTC","object":{...}}}
//   co_await events.DeleteRange("1");
//
// Errors of every operation: those of the store. Thread-safety: as Store.
// Source: seed 004 Events; reference/threescale.md 3.7, 5.4 and 5.6.
#ifndef REDOUBLE_CORE_THREESCALE_EVENTS_H_
#define REDOUBLE_CORE_THREESCALE_EVENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/hardening.h"
#include "core/threescale/json_text.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

enum class EventType : uint8_t { kFirstTraffic, kFirstDailyTraffic, kAlert };

// "first_traffic", "first_daily_traffic", "alert".
std::string_view EventTypeName(EventType type);
// The type of that name. Errors: InvalidEventType.
absl::StatusOr<EventType> FindEventType(std::string_view name);

class EventQueue {
 public:
  explicit EventQueue(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Adds an event and gives its id: INCRBY and ZADD, two round trips; one script with
  // Hardening::publish_events_atomically.
  base::Task<absl::StatusOr<int64_t>> Publish(EventType type, JsonObject object);

  // All events as JSON, ascending by id. One round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Deletes the events up to and including `last_id`, or that one alone; gives how many there were.
  // An id is read leniently (integer.h); one that is not positive deletes nothing and sends
  // nothing. One round trip.
  base::Task<absl::StatusOr<int64_t>> DeleteRange(std::string_view last_id);
  base::Task<absl::StatusOr<int64_t>> Delete(std::string_view id);

  // One round trip.
  base::Task<absl::StatusOr<int64_t>> Size();

  // Tells the system that there are events, at most once in 60 seconds: takes the key events/ping
  // and, when it was free and the queue is not empty, calls `hook`. True when the hook was called.
  // The key is taken also when the queue is empty, and stays when the hook fails, whose error is
  // given then: either way nobody is told for 60 seconds. One round trip, a pipeline.
  using Hook = std::function<base::Task<absl::Status>()>;
  base::Task<absl::StatusOr<bool>> PingIfNotEmpty(const Hook& hook);

 private:
  base::Task<absl::StatusOr<int64_t>> Remove(std::string_view first, std::string_view last_id);

  Process process_;
  Hardening hardening_;
};

// The JSON of an event: the text before its id is kEventHead, this is the text behind it.
inline constexpr std::string_view kEventHead = "{\"id\":";
std::string EventTail(EventType type, absl::Time now, std::string_view object_json);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_EVENTS_H_
