// EventStore: the events that Studio has ingested, per service and per task.
//
// An event is one document under its dedupe key; the document is also the marker against
// duplicates. The list of its service and the list of its task hold dedupe keys, last inserted
// first. Four more keys hold latest timestamps. An insert publishes the document on the channels of
// the service and of the task. IngestService inserts events; EventStream follows the channels.
//
//   studio::EventStore events(store);
//   absl::StatusOr<bool> inserted = co_await events.InsertEvent(envelope, clock.Now());
//   absl::StatusOr<EventPage> page = co_await events.ListTaskEvents({"svc-a", "t1"});
//
// Bytes in Redis that are not UTF-8 are kept as they are (docs/systems/studio.md D9).
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 2.5, 2.6, 2.7, 4.6 and 4.7.
#ifndef REDOUBLE_CORE_STUDIO_EVENTS_EVENT_STORE_H_
#define REDOUBLE_CORE_STUDIO_EVENTS_EVENT_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/keyspace/unused_keys.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/store.h"
#include "redouble/core/studio/events/service_event.h"
#include "redouble/core/studio/hardening.h"
#include "redouble/core/studio/keys.h"

namespace redouble::inline v0_1::studio {

struct EventStoreOptions {
  std::string prefix = std::string(kDefaultEventPrefix);
  // Seconds. nullopt and 0: no TTL. Redis refuses a negative TTL.
  std::optional<int64_t> ttl_seconds = absl::ToInt64Seconds(kDefaultEventTtl);
  // Dedupe keys per list. The document of a trimmed key stays until its TTL ends.
  int64_t history_maxlen = 5000;
  Hardening hardening = {};
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // The channels on which documents are published. With shard channels, which need a server of
  // Redis 7.0, an event is inserted as with atomic_event_insert.
  store::ChannelKind channels = store::ChannelKind::kDocumented;
};

// Selects events of a service. nullopt does not filter.
struct EventFilter {
  std::optional<std::string> task_id = std::nullopt;
  std::optional<SourceKind> source_kind = std::nullopt;
  std::optional<std::string> event_type = std::nullopt;
  // Inclusive bounds of the event's timestamp, or of `ingested_at` if the timestamp is missing or
  // not valid.
  std::optional<absl::Time> from = std::nullopt;
  std::optional<absl::Time> to = std::nullopt;
};

struct EventPageRequest {
  // The dedupe key of the last event of the page before. nullopt, or a key that is not in the list:
  // the first page.
  std::optional<std::string> before = std::nullopt;
  // Events per page; less than 1 counts as 1.
  int64_t limit = 100;
};

struct EventPage {
  std::vector<ControlPlaneEvent> items;
  // The dedupe key of the last item if more items follow; otherwise nullopt.
  std::optional<std::string> next_cursor;
};

// The stored texts; nullopt for a missing key.
struct ActivitySnapshot {
  std::optional<std::string> latest_status_event_at;
  std::optional<std::string> latest_observation_event_at;
  std::optional<std::string> latest_ingested_at;
};

class EventStore {
 public:
  // `store` must outlive this.
  explicit EventStore(store::Store& store, EventStoreOptions options = {});

  // Inserts the event unless its dedupe key exists. Returns true if it was inserted, and false for
  // a duplicate. `out_of_order` of the document is true if the task has a later timestamp. A stored
  // latest timestamp is replaced only by a strictly later one; a stored text that is not a
  // timestamp is replaced by every timestamp.
  //
  // Five round trips: three GET, SET NX of the document, one transaction; four for a duplicate. A
  // crash after the SET leaves a document that no list names and that cannot be inserted again
  // (E2). Two inserts at the same time can move a latest timestamp backwards (E1). With
  // Hardening::atomic_event_insert one script: one round trip if no latest timestamp exists, two if
  // one exists, and one more for each concurrent change.
  //
  // Errors: those of Redis. If a command of the transaction fails, its error is returned; the other
  // commands have run.
  // Source: docs/systems/studio.md 4.6.
  base::Task<absl::StatusOr<bool>> InsertEvent(const EventEnvelope& envelope, absl::Time now);

  // Returns what is stored of an event, or nullopt if it was not inserted or has expired. One round
  // trip. Errors: also InvalidArgument (ValidationError) if the document is not valid.
  base::Task<absl::StatusOr<std::optional<ControlPlaneEvent>>> GetEvent(
      const EventEnvelope& envelope);

  // Return events in descending order of timestamp, ingested_at and dedupe key. Events without a
  // valid timestamp come last. Documents that are missing or invalid are skipped. Every page reads
  // the whole list: LRANGE, then GetEach (core/store/typed/strings.h) of its documents.
  // Source: docs/systems/studio.md 4.7.
  base::Task<absl::StatusOr<EventPage>> ListServiceEvents(std::string_view service_id,
                                                          EventFilter filter = {},
                                                          EventPageRequest page = {});
  base::Task<absl::StatusOr<EventPage>> ListTaskEvents(TaskName task, EventPageRequest page = {});

  // Returns the latest timestamps of a service. One pipeline of three GET.
  base::Task<absl::StatusOr<ActivitySnapshot>> GetActivitySnapshot(std::string_view service_id);

  // The feed cursor that was the newest when the last pull began; nullopt before the first pull.
  // One round trip each. The key never expires.
  base::Task<absl::StatusOr<std::optional<std::string>>> GetPullCursor(std::string_view service_id);
  base::Task<absl::Status> SetPullCursor(std::string_view service_id, std::string_view cursor);

  // Deletes what a TTL would have ended, for stores without one: documents, lists and latest
  // timestamps that no command has used for so long. A list uses its documents whenever it is read,
  // so the documents that trimming took from the lists go first. Keeps the pull cursors. An event
  // that arrives again after its document was deleted is inserted again. Can be repeated. Errors
  // and round trips: those of store::DeleteUnusedKeys. Source: docs/systems/studio.md 4.21.
  base::Task<absl::StatusOr<store::UnusedKeysReport>> DeleteUnused(absl::Duration unused_for);

  // The keys and channels of this store.
  const EventKeys& keys() const { return keys_; }
  // The channels to follow for the events of a service, and of one task.
  store::Channel ServiceChannelToFollow(std::string_view service_id) const {
    return ServiceChannels(service_id).followed();
  }
  store::Channel TaskChannelToFollow(TaskName task) const { return TaskChannels(task).followed(); }
  int64_t history_maxlen() const { return options_.history_maxlen; }

 private:
  // The stored latest timestamps that an insert compares with.
  struct Latest {
    std::optional<std::string> task;
    std::optional<std::string> status;
    std::optional<std::string> observation;
  };
  struct Insertion;

  store::PublishedChannels ServiceChannels(std::string_view service_id) const;
  store::PublishedChannels TaskChannels(TaskName task) const;
  base::Task<absl::StatusOr<Latest>> ReadLatest(TaskName task);
  Insertion Prepare(const EventEnvelope& envelope, std::string dedupe_key, const Latest& latest,
                    absl::Time now) const;
  base::Task<absl::StatusOr<bool>> InsertInSteps(const EventEnvelope& envelope,
                                                 std::string dedupe_key, absl::Time now);
  base::Task<absl::StatusOr<bool>> InsertByScript(const EventEnvelope& envelope,
                                                  std::string dedupe_key, absl::Time now);
  base::Task<absl::Status> WriteInsertion(const Insertion& insertion);
  base::Task<absl::StatusOr<std::vector<ControlPlaneEvent>>> LoadHistory(
      std::string_view service_id, std::string history_key);

  store::Store& store_;
  const EventStoreOptions options_;
  const EventKeys keys_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENTS_EVENT_STORE_H_
