#include "redouble/core/studio/events/event_store.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/studio/events/event_order.h"
#include "redouble/core/studio/scripts/script_texts.h"

namespace redouble::inline v0_1::studio {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// KEYS: document, service list, task list, latest timestamp of the task, latest status timestamp,
// latest observation timestamp, latest-ingested timestamp.
// ARGV: document, dedupe key, last index to keep, TTL in seconds or "", ingested_at, service
// channel, task channel, the three latest timestamps as they were read ("=" and the text, or "")
// and the three new ones in the same form. The script returns 0 for a duplicate, 1 if the event was
// inserted, and the present latest timestamps if they are not those that were read.
const store::Script& InsertScript() {
  static const store::Script& script = *new store::Script(std::string(kInsertEventText));
  return script;
}

// "=" and the text, or "" for nullopt.
std::string Marked(const std::optional<std::string>& text) {
  return text ? absl::StrCat("=", *text) : "";
}

std::optional<std::string> Unmarked(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text.substr(1);
}

// The sort key of a page.
auto OrderOf(const ControlPlaneEvent& event) {
  return std::make_tuple(EventTime(event.event.timestamp), std::string_view(event.ingested_at),
                         std::string_view(event.dedupe_key));
}

void SortDescending(std::vector<ControlPlaneEvent>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return OrderOf(a) > OrderOf(b); });
}

bool Matches(const ControlPlaneEvent& event, const EventFilter& filter) {
  if (filter.task_id && event.event.task_id != *filter.task_id) return false;
  if (filter.source_kind && event.event.source_kind != *filter.source_kind) return false;
  if (filter.event_type && event.event.event_type != *filter.event_type) return false;
  if (!filter.from && !filter.to) return true;
  std::optional<absl::Time> time = EventTime(event.event.timestamp);
  if (!time) time = EventTime(std::string_view(event.ingested_at));
  const absl::Time moment = time.value_or(absl::InfinitePast());
  return !(filter.from && moment < *filter.from) && !(filter.to && moment > *filter.to);
}

EventPage PageOf(std::vector<ControlPlaneEvent> events, const EventPageRequest& request) {
  size_t first = 0;
  if (request.before) {
    const auto found = std::find_if(events.begin(), events.end(), [&](const auto& event) {
      return event.dedupe_key == *request.before;
    });
    if (found != events.end()) first = static_cast<size_t>(found - events.begin()) + 1;
  }
  const size_t limit = static_cast<size_t>(std::max<int64_t>(1, request.limit));
  const size_t last = first + std::min(limit, events.size() - first);
  EventPage page;
  page.items.assign(std::make_move_iterator(events.begin() + first),
                    std::make_move_iterator(events.begin() + last));
  if (last < events.size() && !page.items.empty()) page.next_cursor = page.items.back().dedupe_key;
  return page;
}

}  // namespace

// The values that an insert writes.
struct EventStore::Insertion {
  std::string service_id;
  std::string task_id;
  std::string dedupe_key;
  std::string ingested_at;
  absl::StatusOr<std::string> document;
  Latest latest;  // nullopt: the stored timestamp stays.
};

EventStore::EventStore(store::Store& store, EventStoreOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix, options_.key_layout) {}

base::Task<absl::StatusOr<bool>> EventStore::InsertEvent(const EventEnvelope& envelope,
                                                         absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string dedupe_key,
                               DedupeKey(envelope.service_id, envelope.event));
  // A transaction cannot publish on a shard channel (core/store/pubsub/channel.h).
  if (options_.hardening.atomic_event_insert ||
      options_.channels != store::ChannelKind::kDocumented) {
    co_return co_await InsertByScript(envelope, std::move(dedupe_key), now);
  }
  co_return co_await InsertInSteps(envelope, std::move(dedupe_key), now);
}

base::Task<absl::StatusOr<std::optional<ControlPlaneEvent>>> EventStore::GetEvent(
    const EventEnvelope& envelope) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string dedupe_key,
                               DedupeKey(envelope.service_id, envelope.event));
  const std::string key = keys_.Event({envelope.service_id, dedupe_key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto json, co_await store::Get(store_, key));
  std::optional<ControlPlaneEvent> event;
  if (!json) co_return event;
  REDOUBLE_CO_ASSIGN_OR_RETURN(event, ParseControlPlaneEvent(*json));
  co_return event;
}

base::Task<absl::StatusOr<EventStore::Latest>> EventStore::ReadLatest(TaskName task) {
  Latest latest;
  const std::string task_key = keys_.TaskLatestTimestamp(task);
  const std::string status_key = keys_.LatestStatusTimestamp(task.service_id);
  const std::string observation_key = keys_.LatestObservationTimestamp(task.service_id);
  // Not a pipeline: the recorded races of the original have a turn of another client between two.
  REDOUBLE_CO_ASSIGN_OR_RETURN(latest.task, co_await store::Get(store_, task_key));
  REDOUBLE_CO_ASSIGN_OR_RETURN(latest.status, co_await store::Get(store_, status_key));
  REDOUBLE_CO_ASSIGN_OR_RETURN(latest.observation, co_await store::Get(store_, observation_key));
  co_return latest;
}

EventStore::Insertion EventStore::Prepare(const EventEnvelope& envelope, std::string dedupe_key,
                                          const Latest& latest, absl::Time now) const {
  const std::optional<std::string>& timestamp = envelope.event.timestamp;
  ControlPlaneEvent event;
  event.service_id = envelope.service_id;
  event.ingest_method = envelope.ingest_method;
  event.ingested_at = python::FormatIso(now);
  event.dedupe_key = dedupe_key;
  event.out_of_order = latest.task && timestamp && IsEarlier(*timestamp, *latest.task);
  event.event = envelope.event;

  Insertion insertion;
  insertion.service_id = envelope.service_id;
  insertion.task_id = envelope.event.task_id;
  insertion.dedupe_key = std::move(dedupe_key);
  insertion.ingested_at = event.ingested_at;
  insertion.document = python::PydanticJson(ToValue(event));
  if (Supersedes(timestamp, latest.task)) insertion.latest.task = timestamp;
  if (envelope.event.source_kind == SourceKind::kStatus) {
    if (Supersedes(timestamp, latest.status)) insertion.latest.status = timestamp;
  } else if (Supersedes(timestamp, latest.observation)) {
    insertion.latest.observation = timestamp;
  }
  return insertion;
}

store::PublishedChannels EventStore::ServiceChannels(std::string_view service_id) const {
  return {options_.channels, keys_.ServiceChannel(service_id),
          keys_.ServiceShardChannel(service_id)};
}

store::PublishedChannels EventStore::TaskChannels(TaskName task) const {
  return {options_.channels, keys_.TaskChannel(task), keys_.TaskShardChannel(task)};
}

base::Task<absl::StatusOr<bool>> EventStore::InsertInSteps(const EventEnvelope& envelope,
                                                           std::string dedupe_key, absl::Time now) {
  const TaskName task = {envelope.service_id, envelope.event.task_id};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Latest latest, co_await ReadLatest(task));
  const Insertion insertion = Prepare(envelope, std::move(dedupe_key), latest, now);
  REDOUBLE_CO_RETURN_IF_ERROR(insertion.document.status());

  const std::string key = keys_.Event({insertion.service_id, insertion.dedupe_key});
  store::Command set(CommandId::kSet, {key, *insertion.document, "NX"});
  if (options_.ttl_seconds.value_or(0) != 0) set.Add("EX").AddInteger(*options_.ttl_seconds);
  const absl::StatusOr<bool> inserted = store::DecodeStatusOrNil(co_await store_.Execute(set));
  if (!inserted.ok() || !*inserted) co_return inserted;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteInsertion(insertion));
  co_return true;
}

base::Task<absl::Status> EventStore::WriteInsertion(const Insertion& insertion) {
  const TaskName task = {insertion.service_id, insertion.task_id};
  const std::array<std::string, 2> histories = {keys_.ServiceHistory(insertion.service_id),
                                                keys_.TaskHistory(task)};
  const std::array<std::pair<std::string, const std::optional<std::string>*>, 3> latest = {{
      {keys_.TaskLatestTimestamp(task), &insertion.latest.task},
      {keys_.LatestStatusTimestamp(insertion.service_id), &insertion.latest.status},
      {keys_.LatestObservationTimestamp(insertion.service_id), &insertion.latest.observation},
  }};
  const std::string ingested_key = keys_.LatestIngestedTimestamp(insertion.service_id);
  const std::array<std::string, 2> channels = {keys_.ServiceChannel(insertion.service_id),
                                               keys_.TaskChannel(task)};

  Batch batch(Batch::Atomicity::kTransaction);
  const auto expire = [&](const std::string& key) {
    if (options_.ttl_seconds.value_or(0) == 0) return;
    batch.Add(CommandId::kExpire, {key}).AddInteger(*options_.ttl_seconds);
  };
  const auto set = [&](const std::string& key, const std::string& value) {
    batch.Add(CommandId::kSet, {key, value});
    expire(key);
  };
  for (const std::string& history : histories) {
    batch.Add(CommandId::kLPush, {history, insertion.dedupe_key});
    batch.Add(CommandId::kLTrim, {history, "0"}).AddInteger(options_.history_maxlen - 1);
  }
  for (const std::string& history : histories) expire(history);
  for (const auto& [key, timestamp] : latest) {
    if (*timestamp) set(key, **timestamp);
  }
  set(ingested_key, insertion.ingested_at);
  for (const std::string& channel : channels) {
    batch.Add(CommandId::kPublish, {channel, *insertion.document});
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  co_return store::FirstError(replies);
}

base::Task<absl::StatusOr<bool>> EventStore::InsertByScript(const EventEnvelope& envelope,
                                                            std::string dedupe_key,
                                                            absl::Time now) {
  const TaskName task = {envelope.service_id, envelope.event.task_id};
  const std::array<std::string, 7> keys = {keys_.Event({task.service_id, dedupe_key}),
                                           keys_.ServiceHistory(task.service_id),
                                           keys_.TaskHistory(task),
                                           keys_.TaskLatestTimestamp(task),
                                           keys_.LatestStatusTimestamp(task.service_id),
                                           keys_.LatestObservationTimestamp(task.service_id),
                                           keys_.LatestIngestedTimestamp(task.service_id)};
  const std::vector<std::string_view> key_views(keys.begin(), keys.end());
  const int64_t ttl_seconds = options_.ttl_seconds.value_or(0);
  const std::string ttl = ttl_seconds == 0 ? "" : absl::StrCat(ttl_seconds);
  const store::PublishedChannels of_service = ServiceChannels(task.service_id);
  const store::PublishedChannels of_task = TaskChannels(task);
  Latest latest;  // Missing, until the script returns the present values.
  while (true) {
    const Insertion insertion = Prepare(envelope, dedupe_key, latest, now);
    REDOUBLE_CO_RETURN_IF_ERROR(insertion.document.status());
    const std::array<std::string, 15> arguments = {*insertion.document,
                                                   dedupe_key,
                                                   absl::StrCat(options_.history_maxlen - 1),
                                                   ttl,
                                                   insertion.ingested_at,
                                                   of_service.documented,
                                                   of_task.documented,
                                                   Marked(latest.task),
                                                   Marked(latest.status),
                                                   Marked(latest.observation),
                                                   Marked(insertion.latest.task),
                                                   Marked(insertion.latest.status),
                                                   Marked(insertion.latest.observation),
                                                   of_service.sharded,
                                                   of_task.sharded};
    const std::vector<std::string_view> views(arguments.begin(), arguments.end());
    REDOUBLE_CO_ASSIGN_OR_RETURN(Reply reply,
                                 co_await InsertScript().Run(store_, key_views, views));
    if (reply.is_integer()) co_return reply.integer() == 1;
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> current,
                                 store::DecodeStrings(std::move(reply)));
    latest = {Unmarked(current.at(0)), Unmarked(current.at(1)), Unmarked(current.at(2))};
  }
}

base::Task<absl::StatusOr<std::vector<ControlPlaneEvent>>> EventStore::LoadHistory(
    std::string_view service_id, std::string history_key) {
  const int64_t last = std::max<int64_t>(0, options_.history_maxlen - 1);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               co_await store::LRange(store_, history_key, 0, last));
  std::vector<std::string> keys;
  keys.reserve(ids.size());
  for (const std::string& id : ids) keys.push_back(keys_.Event({service_id, id}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto documents, co_await store::GetEach(store_, keys));
  std::vector<ControlPlaneEvent> events;
  for (auto& document : documents) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto json, std::move(document));
    if (!json) continue;
    absl::StatusOr<ControlPlaneEvent> event = ParseControlPlaneEvent(*json);
    if (event.ok()) events.push_back(*std::move(event));
  }
  SortDescending(events);
  co_return events;
}

base::Task<absl::StatusOr<EventPage>> EventStore::ListServiceEvents(std::string_view service_id,
                                                                    EventFilter filter,
                                                                    EventPageRequest page) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto events,
                               co_await LoadHistory(service_id, keys_.ServiceHistory(service_id)));
  std::erase_if(events, [&](const auto& event) { return !Matches(event, filter); });
  co_return PageOf(std::move(events), page);
}

base::Task<absl::StatusOr<EventPage>> EventStore::ListTaskEvents(TaskName task,
                                                                 EventPageRequest page) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto events,
                               co_await LoadHistory(task.service_id, keys_.TaskHistory(task)));
  co_return PageOf(std::move(events), page);
}

base::Task<absl::StatusOr<ActivitySnapshot>> EventStore::GetActivitySnapshot(
    std::string_view service_id) {
  const std::array<std::string, 3> keys = {keys_.LatestStatusTimestamp(service_id),
                                           keys_.LatestObservationTimestamp(service_id),
                                           keys_.LatestIngestedTimestamp(service_id)};
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto values, co_await store::GetEach(store_, keys));
  ActivitySnapshot snapshot;
  REDOUBLE_CO_ASSIGN_OR_RETURN(snapshot.latest_status_event_at, std::move(values[0]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(snapshot.latest_observation_event_at, std::move(values[1]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(snapshot.latest_ingested_at, std::move(values[2]));
  co_return snapshot;
}

base::Task<absl::StatusOr<std::optional<std::string>>> EventStore::GetPullCursor(
    std::string_view service_id) {
  const std::string key = keys_.PullCursor(service_id);
  co_return co_await store::Get(store_, key);
}

base::Task<absl::Status> EventStore::SetPullCursor(std::string_view service_id,
                                                   std::string_view cursor) {
  const std::string key = keys_.PullCursor(service_id);
  const absl::StatusOr<bool> set = co_await store::Set(store_, key, cursor);
  co_return set.status();
}

base::Task<absl::StatusOr<store::UnusedKeysReport>> EventStore::DeleteUnused(
    absl::Duration unused_for) {
  store::UnusedKeys unused;
  unused.unused_for = unused_for;
  unused.selects = [this](std::string_view key) { return keys_.Expires(key); };
  co_return co_await store::DeleteUnusedKeys(store_, std::move(unused));
}

}  // namespace redouble::inline v0_1::studio
