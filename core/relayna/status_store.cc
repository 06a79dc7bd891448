#include "redouble/core/relayna/status_store.h"

#include <algorithm>
#include <span>
#include <utility>

#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/history.h"
#include "redouble/core/relayna/tokens.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Value;

// The timestamp of an event; InfinitePast if it has no valid one.
absl::Time TimeOf(const Value& event) {
  const Value* timestamp = event.Find("timestamp");
  if (timestamp == nullptr || timestamp->text() == nullptr) return absl::InfinitePast();
  return python::ParseTimestamp(*timestamp->text(), absl::UTCTimeZone())
      .value_or(absl::InfinitePast());
}

}  // namespace

StatusStore::StatusStore(store::Store& store, StatusOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix, options_.key_layout) {}

store::PublishedChannels StatusStore::ChannelsOf(std::string_view task_id) const {
  return {options_.channels, keys_.Channel(task_id), keys_.ShardChannel(task_id)};
}

absl::StatusOr<Append> StatusStore::AppendOf(std::string_view task_id, const Value& event) const {
  REDOUBLE_RETURN_IF_ERROR(CheckEvent(event));
  REDOUBLE_ASSIGN_OR_RETURN(std::string payload, python::PyJson(event));
  REDOUBLE_ASSIGN_OR_RETURN(const std::string token, StatusToken(event));
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> parent, ParentTaskId(event));
  Append append = {.marker = keys_.Event({task_id, token}),
                   .list = keys_.History(task_id),
                   .payload = std::move(payload),
                   .maxlen = options_.history_maxlen,
                   .ttl_seconds = options_.ttl_seconds,
                   .channels = ChannelsOf(task_id)};
  if (parent) append.membership = {keys_.Children(*parent), std::string(task_id)};
  return append;
}

base::Task<absl::Status> StatusStore::SetHistory(std::string_view task_id, const Value& event) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Append append, AppendOf(task_id, event));
  if (options_.hardening.atomic_events || options_.hardening.newest_first) {
    co_return co_await SetAtomically(append, event);
  }
  const absl::StatusOr<bool> is_new = co_await AppendOnceInLayout(
      store_, options_.key_layout, std::span(&append, 1), /*atomically=*/false);
  if (!is_new.ok() || !*is_new || options_.feed == nullptr) co_return is_new.status();
  co_return (co_await options_.feed->AddStatusEvent(event)).status();
}

base::Task<absl::Status> StatusStore::SetAtomically(const Append& append, const Value& event) {
  std::vector<Append> appends = {append};
  if (options_.feed != nullptr) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Append> item,
                                 options_.feed->StatusEventAppend(event));
    if (item) appends.push_back(*std::move(item));
  }
  // A retry means that another writer succeeded.
  while (true) {
    if (options_.hardening.newest_first) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(appends.front().place, co_await PlaceOf(append.list, event));
    }
    const absl::StatusOr<bool> is_new =
        co_await AppendOnceInLayout(store_, options_.key_layout, appends, /*atomically=*/true);
    if (!absl::IsAborted(is_new.status())) co_return is_new.status();
  }
}

base::Task<absl::StatusOr<Append::Place>> StatusStore::PlaceOf(std::string_view list,
                                                               const Value& event) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> elements,
                               co_await store::LRange(store_, list, 0, -1));
  std::string seen;
  Append::Place place;
  bool found = false;
  for (const std::string& element : elements) {
    seen.append(element).push_back('\n');
    if (found) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Value other, python::ParseJson(element));
    found = TimeOf(other) <= TimeOf(event);
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> element,
                               co_await store::LIndex(store_, history, 0));
  if (!element.has_value()) co_return std::nullopt;
  REDOUBLE_CO_ASSIGN_OR_RETURN(Value event, python::ParseJson(*element));
  co_return std::move(event);
}

base::Task<absl::StatusOr<std::vector<std::string>>> StatusStore::GetChildTaskIds(
    std::string_view parent_task_id, std::optional<int64_t> limit) {
  const std::string children = keys_.Children(parent_task_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> ids,
                               co_await store::SMembers(store_, children));
  std::sort(ids.begin(), ids.end());
  if (limit && std::cmp_less(std::max<int64_t>(0, *limit), ids.size())) {
    ids.resize(std::max<int64_t>(0, *limit));
  }
  co_return ids;
}

}  // namespace redouble::inline v0_1::relayna
