#include "redouble/core/threescale/notify/events.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/sorted_sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/scripts/script_texts.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::CommandId;
using store::Reply;

// Indexed by EventType.
constexpr std::array<std::string_view, 3> kEventTypeNames = {"first_traffic", "first_daily_traffic",
                                                             "alert"};

// KEYS: events/id, events/queue. ARGV: the JSON before the id and after it. Replies the id.
const store::Script& PublishScript() {
  static const store::Script& script = *new store::Script(std::string(kPublishEventText));
  return script;
}

}  // namespace

std::string_view EventTypeName(EventType type) {
  return kEventTypeNames[static_cast<size_t>(type)];
}

absl::StatusOr<EventType> FindEventType(std::string_view name) {
  const auto found = std::find(kEventTypeNames.begin(), kEventTypeNames.end(), name);
  if (found == kEventTypeNames.end()) return MakeError(ErrorCode::kInvalidEventType, name);
  return static_cast<EventType>(found - kEventTypeNames.begin());
}

std::string EventTail(EventType type, absl::Time now, std::string_view object_json) {
  return "," + JsonObject()
                   .Add("type", EventTypeName(type))
                   .Add("timestamp", FormatJsonTime(now))
                   .AddJson("object", object_json)
                   .text()
                   .substr(1);
}

base::Task<absl::StatusOr<int64_t>> EventQueue::Publish(EventType type, JsonObject object) {
  const std::string json = object.text();
  co_return co_await PublishJson(type, json);
}

base::Task<absl::StatusOr<int64_t>> EventQueue::PublishJson(EventType type,
                                                            std::string_view object_json) {
  const std::string tail = EventTail(type, process_.clock.Now(), object_json);
  if (hardening_.publish_events_atomically) {
    const std::array<std::string_view, 2> keys = {process_.keys.EventsId(),
                                                  process_.keys.EventsQueue()};
    const std::array<std::string_view, 2> arguments = {kEventHead, tail};
    co_return store::DecodeInteger(co_await PublishScript().Run(process_.store, keys, arguments));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t id,
                               co_await store::IncrBy(process_.store, process_.keys.EventsId(), 1));
  const std::string member = absl::StrCat("{\"id\":", id, tail);
  const std::array<store::ScoredView, 1> event = {
      store::ScoredView{member, static_cast<double>(id)}};
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::ZAdd(process_.store, process_.keys.EventsQueue(), event)).status());
  co_return id;
}

base::Task<absl::StatusOr<std::vector<std::string>>> EventQueue::List() {
  absl::StatusOr<std::vector<std::string>> events =
      co_await store::ZRevRange(process_.store, process_.keys.EventsQueue(), 0, -1);
  if (events.ok()) std::reverse(events->begin(), events->end());
  co_return events;
}

base::Task<absl::StatusOr<int64_t>> EventQueue::DeleteRange(std::string_view last_id) {
  return Remove("0", last_id);
}

base::Task<absl::StatusOr<int64_t>> EventQueue::Delete(std::string_view id) {
  return Remove({}, id);
}

// An empty `first` means `last_id` itself.
base::Task<absl::StatusOr<int64_t>> EventQueue::Remove(std::string_view first,
                                                       std::string_view last_id) {
  const Integer id = ToInteger(last_id);
  if (id <= 0) co_return 0;
  const std::string last = FormatInteger(id);
  store::ScoreQuery query;
  query.min = first.empty() ? std::string_view(last) : first;
  query.max = last;
  co_return co_await store::ZRemRangeByScore(process_.store, process_.keys.EventsQueue(), query);
}

base::Task<absl::StatusOr<int64_t>> EventQueue::Size() {
  co_return co_await store::ZCard(process_.store, process_.keys.EventsQueue());
}

base::Task<absl::StatusOr<bool>> EventQueue::PingIfNotEmpty(const Hook& hook) {
  store::Batch ping(store::Batch::Atomicity::kPipeline);
  ping.Add(CommandId::kZCard, {process_.keys.EventsQueue()});
  ping.Add(CommandId::kSet, {process_.keys.EventsPing(), "1", "EX"})
      .AddInteger(absl::ToInt64Seconds(EventsPingTtl()))
      .Add("NX");
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(process_.store, ping));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  const Reply& size = replies.front();
  if (!size.is_integer()) co_return store::ProtocolError("ZCARD answered something else");
  const bool taken = !replies.back().is_nil();
  if (!taken || size.integer() == 0) co_return false;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await hook());
  co_return true;
}

}  // namespace redouble::inline v0_1::threescale
