// EventStore: the events that Studio has ingested, per service and per task.
//
// An event is one document under its dedupe key, which is also what keeps it from being inserted
// twice; lists of a service and of a task hold dedupe keys, last inserted first; further keys hold
// the latest timestamps. Whoever inserts also publishes the document.
//
//   studio::EventStore events(store);
//   absl::StatusOr<bool> inserted = co_await events.InsertEvent(envelope, clock.Now());
//   absl::StatusOr<EventPage> page = co_await events.ListTaskEvents({"svc-a", "t1"});
//
// Bytes that Redis holds where text is expected, but that are not UTF-8, are kept as they are.
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: seed 000 Event Store; reference/relayna.md section 7.
#ifndef REDOUBLE_CORE_STUDIO_EVENT_STORE_H_
#define REDOUBLE_CORE_STUDIO_EVENT_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "core/studio/hardening.h"
#include "core/studio/keys.h"
#include "core/studio/service_event.h"

namespace redouble::studio {

struct EventStoreOptions {
  std::string prefix = std::string(kDefaultEventPrefix);
  // Seconds; none and 0 mean no time to live. Redis refuses a negative one.
  std::optional<int64_t> ttl_seconds = absl::ToInt64Seconds(kDefaultEventTtl);
  // How many keys a list holds. Documents of those trimmed off stay until their TTL.
  int64_t history_maxlen = 5000;
  Hardening hardening = {};
};

// Which of a service's events are wanted; empty members want all.
struct EventFilter {
  std::optional<std::string> task_id = std::nullopt;
  std::optional<SourceKind> source_kind = std::nullopt;
  std::optional<std::string> event_type = std::nullopt;
  // Both inclusive; of the event's timestamp, or where that is none, of when it was ingested.
  std::optional<absl::Time> from = std::nullopt;
  std::optional<absl::Time> to = std::nullopt;
};

struct EventPageRequest {
  // The dedupe key of the last event of the page before; one that is not there, or not any more,
  // begins anew.
  std::optional<std::string> before = std::nullopt;
  // At least one event is given, whatever this says.
  int64_t limit = 100;
};

struct EventPage {
  std::vector<ControlPlaneEvent> items;
  // The dedupe key of the last item when there are more.
  std::optional<std::string> next_cursor;
};

// The texts as they were stored; none where there is no key.
struct ActivitySnapshot {
  std::optional<std::string> latest_status_event_at;
  std::optional<std::string> latest_observation_event_at;
  std::optional<std::string> latest_ingested_at;
};

class EventStore {
 public:
  // `store` must outlive this.
  explicit EventStore(store::Store& store, EventStoreOptions options = {});

  // Inserts the event unless its dedupe key is there; true when it was inserted. An event is out of
  // order when its task has a later timestamp already. A latest timestamp is replaced by a later
  // one only; a text that is no timestamp is earlier than any, and is replaced by any.
  //
  // Five round trips: three GET, SET NX of the document, one transaction; four for a duplicate. Not
  // atomic: who dies behind the SET leaves a document that no list names and nobody can insert
  // again (E2); two inserts at once can move a latest timestamp back (E1). With
  // Hardening::atomic_event_insert: one script, and another per change of a latest timestamp in
  // between; one round trip when the event is the first of its task and kind.
  // Errors: those of Redis; of a transaction the first of its commands' errors, the others having
  // run.
  base::Task<absl::StatusOr<bool>> InsertEvent(const EventEnvelope& envelope, absl::Time now);

  // Events in descending order of (timestamp, ingested_at, dedupe key); those without a timestamp,
  // or with a text that is none, come last. Documents that are missing or invalid are skipped.
  // 1 + n round trips for n keys in the list (LRANGE, GET each): the whole list is read for every
  // page.
  base::Task<absl::StatusOr<EventPage>> ListServiceEvents(std::string_view service_id,
                                                          EventFilter filter = {},
                                                          EventPageRequest page = {});
  base::Task<absl::StatusOr<EventPage>> ListTaskEvents(TaskName task, EventPageRequest page = {});

  // Three round trips.
  base::Task<absl::StatusOr<ActivitySnapshot>> GetActivitySnapshot(std::string_view service_id);

  // The newest feed cursor that pull sync has seen. One round trip each; never expires.
  base::Task<absl::StatusOr<std::optional<std::string>>> GetPullCursor(std::string_view service_id);
  base::Task<absl::Status> SetPullCursor(std::string_view service_id, std::string_view cursor);

  // Where documents are published; pattern of names in keys.h.
  const EventKeys& keys() const { return keys_; }
  int64_t history_maxlen() const { return options_.history_maxlen; }

 private:
  // The latest timestamps that an insert has to know, as they are stored.
  struct Latest {
    std::optional<std::string> task;
    std::optional<std::string> status;
    std::optional<std::string> observation;
  };
  struct Insertion;

  base::Task<absl::StatusOr<Latest>> ReadLatest(TaskName task);
  Insertion Prepare(const EventEnvelope& envelope, std::string dedupe_key, const Latest& latest,
                    absl::Time now) const;
  base::Task<absl::StatusOr<bool>> InsertInSteps(const EventEnvelope& envelope,
                                                 std::string dedupe_key, absl::Time now);
  base::Task<absl::StatusOr<bool>> InsertByScript(const EventEnvelope& envelope,
                                                  std::string dedupe_key, absl::Time now);
  base::Task<absl::Status> WriteInsertion(const Insertion& insertion);
  base::Task<absl::StatusOr<std::vector<ControlPlaneEvent>>> LoadHistory(std::string history_key);

  store::Store& store_;
  const EventStoreOptions options_;
  const EventKeys keys_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENT_STORE_H_
