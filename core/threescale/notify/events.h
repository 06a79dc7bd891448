// EventQueue: the queue of events (first traffic, alerts) that system fetches.
//
// A producer takes the next id and adds the event under this id. The consumer lists the queue and
// then deletes the events that it has seen, by a range of ids. A publication takes two round trips:
// an event with a smaller id than the last listed one, added between the consumer's list and its
// deletion, is never delivered (H1). Hardening::publish_events_atomically removes this hazard.
//
//   EventQueue events(process);
//   co_await events.Publish(EventType::kFirstTraffic, JsonObject().Add("service_id", "2"));
//   co_await events.List();
//   // {{"id":1,"type":"first_traffic","timestamp":"2025-04-23 17:42:39 UTC","object":{...}}}
//   co_await events.DeleteRange("1");
//
// Errors of every operation: those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 2.6, 3.3, 4.8, 4.9, H1, H2, H8.
#ifndef REDOUBLE_CORE_THREESCALE_NOTIFY_EVENTS_H_
#define REDOUBLE_CORE_THREESCALE_NOTIFY_EVENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/json_text.h"

namespace redouble::inline v0_1::threescale {

enum class EventType : uint8_t { kFirstTraffic, kFirstDailyTraffic, kAlert };

// Returns "first_traffic", "first_daily_traffic" or "alert".
std::string_view EventTypeName(EventType type);
// Returns the type with that name. Errors: InvalidEventType.
absl::StatusOr<EventType> FindEventType(std::string_view name);

class EventQueue {
 public:
  explicit EventQueue(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Adds an event and returns its id. INCRBY and ZADD: two round trips; one script with
  // Hardening::publish_events_atomically.
  base::Task<absl::StatusOr<int64_t>> Publish(EventType type, JsonObject object);

  // The same for an object that is JSON already.
  base::Task<absl::StatusOr<int64_t>> PublishJson(EventType type, std::string_view object_json);

  // Returns all events as JSON, ascending by id. One round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Deletes the events up to and including `last_id`, or only the event `id`, and returns how many
  // were deleted. The id is parsed by ToInteger (text/integer.h); one that is not positive deletes
  // nothing and sends no command. One round trip.
  base::Task<absl::StatusOr<int64_t>> DeleteRange(std::string_view last_id);
  base::Task<absl::StatusOr<int64_t>> Delete(std::string_view id);

  // One round trip.
  base::Task<absl::StatusOr<int64_t>> Size();

  // Notifies system of events, at most once in 60 seconds: sets the key events/ping, and calls
  // `hook` if the key was not set and the queue is not empty. Returns whether the hook was called.
  // The key is also set if the queue is empty, and stays if the hook fails, whose error is
  // returned; in both cases system is not notified for 60 seconds (H8). One pipeline, one round
  // trip.
  using Hook = std::function<base::Task<absl::Status>()>;
  base::Task<absl::StatusOr<bool>> PingIfNotEmpty(const Hook& hook);

 private:
  base::Task<absl::StatusOr<int64_t>> Remove(std::string_view first, std::string_view last_id);

  Process process_;
  Hardening hardening_;
};

// The JSON of an event is kEventHead, the id, and EventTail.
inline constexpr std::string_view kEventHead = "{\"id\":";
std::string EventTail(EventType type, absl::Time now, std::string_view object_json);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_NOTIFY_EVENTS_H_
