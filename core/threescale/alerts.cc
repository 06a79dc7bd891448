#include "core/threescale/alerts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/store/batch.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/script.h"
#include "core/store/strings.h"
#include "core/threescale/alert_limit.h"
#include "core/threescale/events.h"
#include "core/threescale/keys.h"
#include "core/threescale/memoizer.h"

namespace redouble::threescale {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

constexpr std::string_view kMark = "1";

// KEYS: the mark, the allowed levels, alerts/current_id, events/id, events/queue. ARGV: the level,
// the TTL of the mark in seconds, and the event's JSON around its two ids: before the event's,
// between them, behind the alert's. Answers 1 when it raised the alert.
constexpr std::string_view kRaise = R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return 0 end
local alert_id = redis.call('INCR', KEYS[3])
redis.call('SETEX', KEYS[1], ARGV[2], '1')
local event_id = redis.call('INCRBY', KEYS[4], 1)
redis.call('ZADD', KEYS[5], event_id, ARGV[3] .. string.format('%.0f', event_id) .. ARGV[4] ..
           string.format('%.0f', alert_id) .. ARGV[5])
return 1
)lua";

const store::Script& RaiseScript() {
  static const store::Script& script = *new store::Script(std::string(kRaise));
  return script;
}

// The fields of an alert behind its id.
JsonObject AlertFields(JsonObject alert, const Application& application,
                       const Utilization& utilization, int level, absl::Time now) {
  alert.Add("utilization", level)
      .Add("max_utilization", utilization.ratio)
      .Add("application_id", application.id)
      .Add("service_id", application.service_id)
      .Add("timestamp", FormatJsonTime(now))
      .Add("limit", utilization.LimitText());
  return alert;
}

}  // namespace

base::Task<absl::Status> Alerts::Update(ApplicationRef ref) {
  const absl::StatusOr<std::optional<Application>> application =
      co_await ApplicationStore(process_).Load(ref);
  if (!application.ok()) co_return application.status();
  if (!*application) co_return absl::OkStatus();
  const absl::StatusOr<bool> can_raise = co_await CanRaiseMore(**application);
  if (!can_raise.ok()) co_return can_raise.status();
  if (!*can_raise) co_return absl::OkStatus();
  const absl::StatusOr<std::vector<LimitUsage>> limits =
      co_await ReadLimitUsage(process_, **application);
  if (!limits.ok()) co_return limits.status();
  Utilization most = MostUtilized(*limits).value_or(Utilization());
  const int level = AlertLevelOf(most.ratio);
  co_return co_await Raise(**application, std::move(most), level);
}

// Whether any level is allowed and the highest of them was not raised today.
base::Task<absl::StatusOr<bool>> Alerts::CanRaiseMore(const Application& application) {
  const auto read_levels = [&] {
    return AlertLimitStore(process_).LoadAll(application.service_id);
  };
  const absl::StatusOr<std::vector<int>> levels = co_await Memoized<std::vector<int>>(
      process_.memoizer, MemoizerKey("Alerts.allowed_set", application.service_id), read_levels);
  if (!levels.ok()) co_return levels.status();
  if (levels->empty()) co_return false;
  const int highest = *std::max_element(levels->begin(), levels->end());
  const std::string mark = AlreadyNotifiedKey(application.ref(), highest);
  const auto read_mark = [&] { return store::Get(process_.store, mark); };
  const absl::StatusOr<std::optional<std::string>> raised =
      co_await Memoized<std::optional<std::string>>(
          process_.memoizer, MemoizerKey("Alerts.already_notified", mark), read_mark);
  if (!raised.ok()) co_return raised.status();
  co_return !raised->has_value();
}

base::Task<absl::Status> Alerts::Raise(const Application& application, Utilization utilization,
                                       int level) {
  const absl::Time now = process_.clock.Now();
  if (hardening_.raise_alerts_atomically && level > 0) {
    const std::string fields =
        AlertFields(JsonObject(), application, utilization, level, now).text();
    co_return co_await RaiseByScript(application, level, "," + fields.substr(1));
  }
  const absl::StatusOr<bool> may_raise = co_await MayRaise(application, level);
  if (!may_raise.ok()) co_return may_raise.status();
  if (!*may_raise) co_return absl::OkStatus();
  const std::string mark = AlreadyNotifiedKey(application.ref(), level);
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kIncr, {kAlertsCurrentIdKey});
  batch.Add(CommandId::kSetEx, {mark})
      .AddInteger(absl::ToInt64Seconds(AlreadyNotifiedTtl()))
      .Add(kMark);
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(process_.store, batch);
  if (!replies.ok()) co_return replies.status();
  if (absl::Status status = store::FirstError(*replies); !status.ok()) co_return status;
  const absl::StatusOr<int64_t> id = store::DecodeInteger(replies->front());
  if (!id.ok()) co_return id.status();
  JsonObject alert = JsonObject().Add("id", *id);
  alert = AlertFields(std::move(alert), application, utilization, level, now);
  const absl::StatusOr<int64_t> event =
      co_await EventQueue(process_, hardening_).Publish(EventType::kAlert, std::move(alert));
  co_return event.status();
}

// Whether the level was not raised today, is allowed, and is one that can be raised. Asks also for
// level 0, which cannot.
base::Task<absl::StatusOr<bool>> Alerts::MayRaise(const Application& application, int level) {
  const std::string mark = AlreadyNotifiedKey(application.ref(), level);
  const std::string allowed = AllowedAlertsKey(application.service_id);
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {mark});
  batch.Add(CommandId::kSIsMember, {allowed}).AddInteger(level);
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(process_.store, batch);
  if (!replies.ok()) co_return replies.status();
  if (absl::Status status = store::FirstError(*replies); !status.ok()) co_return status;
  const absl::StatusOr<bool> is_allowed = store::DecodeBool(replies->back());
  if (!is_allowed.ok()) co_return is_allowed.status();
  co_return replies->front().is_nil() && *is_allowed&& level > 0;
}

base::Task<absl::Status> Alerts::RaiseByScript(const Application& application, int level,
                                               std::string object_tail) {
  // The alert's own id takes the place of the object that EventTail writes.
  const std::string tail = EventTail(EventType::kAlert, process_.clock.Now(), "");
  const std::string_view between = std::string_view(tail).substr(0, tail.size() - 1);
  const std::string mark = AlreadyNotifiedKey(application.ref(), level);
  const std::string allowed = AllowedAlertsKey(application.service_id);
  const std::array<std::string_view, 5> keys = {mark, allowed, kAlertsCurrentIdKey, kEventsIdKey,
                                                kEventsQueueKey};
  const std::array<std::string, 5> texts = {
      absl::StrCat(level), absl::StrCat(absl::ToInt64Seconds(AlreadyNotifiedTtl())),
      std::string(kEventHead), absl::StrCat(base::ToAbsl(between), base::ToAbsl(kEventHead)),
      absl::StrCat(object_tail, "}")};
  const std::vector<std::string_view> arguments(texts.begin(), texts.end());
  const absl::StatusOr<Reply> reply = co_await RaiseScript().Run(process_.store, keys, arguments);
  co_return reply.status();
}

}  // namespace redouble::threescale
