#include "core/relayna/status_store.h"

#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/python/iso_time.h"
#include "core/python/json.h"
#include "core/relayna/history.h"
#include "core/relayna/tokens.h"
#include "core/store/lists.h"
#include "core/store/sets.h"

namespace redouble::relayna {
namespace {

using python::Value;

// When an event says it happened; the beginning of time when it does not say so.
absl::Time TimeOf(const Value& event) {
  const Value* timestamp = event.Find("timestamp");
  if (timestamp == nullptr || timestamp->text() == nullptr) return absl::InfinitePast();
  return python::ParseTimestamp(*timestamp->text(), absl::UTCTimeZone())
      .value_or(absl::InfinitePast());
}

}  // namespace

StatusStore::StatusStore(store::Store& store, StatusOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix) {}

absl::StatusOr<Append> StatusStore::AppendOf(std::string_view task_id, const Value& event) const {
  if (auto status = CheckEvent(event); !status.ok()) return status;
  absl::StatusOr<std::string> payload = python::PyJson(event);
  if (!payload.ok()) return payload.status();
  const absl::StatusOr<std::string> token = StatusToken(event);
  if (!token.ok()) return token.status();
  const absl::StatusOr<std::optional<std::string>> parent = ParentTaskId(event);
  if (!parent.ok()) return parent.status();
  Append append = {.marker = keys_.Event({task_id, *token}),
                   .list = keys_.History(task_id),
                   .payload = *std::move(payload),
                   .maxlen = options_.history_maxlen,
                   .ttl_seconds = options_.ttl_seconds,
                   .channel = keys_.Channel(task_id)};
  if (*parent) append.membership = {keys_.Children(**parent), std::string(task_id)};
  return append;
}

base::Task<absl::Status> StatusStore::SetHistory(std::string_view task_id, const Value& event) {
  const absl::StatusOr<Append> append = AppendOf(task_id, event);
  if (!append.ok()) co_return append.status();
  if (options_.atomic_events || options_.newest_first) {
    co_return co_await SetAtomically(*append, event);
  }
  const absl::StatusOr<bool> is_new = co_await AppendOnce(store_, *append);
  if (!is_new.ok() || !*is_new || options_.feed == nullptr) co_return is_new.status();
  co_return (co_await options_.feed->AddStatusEvent(event)).status();
}

base::Task<absl::Status> StatusStore::SetAtomically(const Append& append, const Value& event) {
  std::vector<Append> appends = {append};
  if (options_.feed != nullptr) {
    absl::StatusOr<std::optional<Append>> item = options_.feed->StatusEventAppend(event);
    if (!item.ok()) co_return item.status();
    if (*item) appends.push_back(**std::move(item));
  }
  // Whoever changes the list in between has got further, so that somebody always does.
  while (true) {
    if (options_.newest_first) {
      absl::StatusOr<Append::Place> place = co_await PlaceOf(append.list, event);
      if (!place.ok()) co_return place.status();
      appends.front().place = *std::move(place);
    }
    const absl::StatusOr<bool> is_new = co_await AppendOnceAtomically(store_, appends);
    if (!absl::IsAborted(is_new.status())) co_return is_new.status();
  }
}

base::Task<absl::StatusOr<Append::Place>> StatusStore::PlaceOf(std::string_view list,
                                                               const Value& event) {
  const absl::StatusOr<std::vector<std::string>> elements =
      co_await store::LRange(store_, list, 0, -1);
  if (!elements.ok()) co_return elements.status();
  std::string seen;
  Append::Place place;
  bool found = false;
  for (const std::string& element : *elements) {
    seen.append(element).push_back('\n');
    if (found) continue;
    const absl::StatusOr<Value> other = python::ParseJson(element);
    if (!other.ok()) co_return other.status();
    found = TimeOf(*other) <= TimeOf(event);
    if (!found) ++place.index;
  }
  place.seen_sha1 = base::Sha1Hex(seen);
  co_return place;
}

base::Task<absl::StatusOr<std::vector<Value>>> StatusStore::GetHistory(
    std::string_view task_id, std::optional<int64_t> limit) {
  return ReadHistory(store_, keys_.History(task_id), limit.value_or(options_.history_maxlen));
}

base::Task<absl::StatusOr<std::optional<Value>>> StatusStore::GetLatest(std::string_view task_id) {
  const std::string history = keys_.History(task_id);
  const absl::StatusOr<std::optional<std::string>> element =
      co_await store::LIndex(store_, history, 0);
  if (!element.ok()) co_return element.status();
  if (!element->has_value()) co_return std::nullopt;
  absl::StatusOr<Value> event = python::ParseJson(**element);
  if (!event.ok()) co_return event.status();
  co_return *std::move(event);
}

base::Task<absl::StatusOr<std::vector<std::string>>> StatusStore::GetChildTaskIds(
    std::string_view parent_task_id, std::optional<int64_t> limit) {
  const std::string children = keys_.Children(parent_task_id);
  absl::StatusOr<std::vector<std::string>> ids = co_await store::SMembers(store_, children);
  if (!ids.ok()) co_return ids.status();
  std::sort(ids->begin(), ids->end());
  if (limit && std::cmp_less(std::max<int64_t>(0, *limit), ids->size())) {
    ids->resize(std::max<int64_t>(0, *limit));
  }
  co_return ids;
}

}  // namespace redouble::relayna
