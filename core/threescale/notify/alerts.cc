#include "redouble/core/threescale/notify/alerts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/memoizer.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/scripts/script_texts.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

constexpr std::string_view kMark = "1";

// KEYS: the mark, the allowed levels, alerts/current_id, events/id, events/queue, and the
// application's state if it must exist. ARGV: the level, the TTL of the mark in seconds, and the
// parts of the event's JSON before the event's id, between the two ids, and after the alert's id.
// Replies 1 if it raised the alert.
const store::Script& RaiseScript() {
  static const store::Script& script = *new store::Script(std::string(kRaiseAlertText));
  return script;
}

// KEYS: the mark, the allowed levels, and the application's state if it must exist. ARGV: the
// level, the TTL of the mark in seconds, the mark. Replies 1 if it set the mark.
const store::Script& ClaimScript() {
  static const store::Script& script = *new store::Script(std::string(kClaimAlertText));
  return script;
}

// KEYS: the mark. ARGV: its value, and the value that replaces it.
const store::Script& FinishScript() {
  static const store::Script& script = *new store::Script(std::string(kFinishAlertText));
  return script;
}

// Adds the fields of an alert after its id.
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Application> application,
                               co_await ApplicationStore(process_).Load(ref));
  if (!application) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool can_raise, co_await CanRaiseMore(*application));
  if (!can_raise) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<LimitUsage> limits,
                               co_await ReadLimitUsage(process_, *application));
  Utilization most = MostUtilized(limits).value_or(Utilization());
  const int level = AlertLevelOf(most.ratio);
  co_return co_await Raise(*application, std::move(most), level);
}

// Whether a level is allowed, and the highest one was not raised in the last day.
base::Task<absl::StatusOr<bool>> Alerts::CanRaiseMore(const Application& application) {
  AlertLimitStore alert_limits(process_);
  const auto read_levels = [&] { return alert_limits.LoadAll(application.service_id); };
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::vector<int> levels,
      co_await Memoized<std::vector<int>>(process_.memoizer,
                                          MemoizerKey("Alerts.allowed_set", application.service_id),
                                          read_levels));
  if (levels.empty()) co_return false;
  const int highest = *std::max_element(levels.begin(), levels.end());
  const std::string mark = process_.keys.AlreadyNotified(application.ref(), highest);
  const auto read_mark = [&] { return store::Get(process_.store, mark); };
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::optional<std::string> raised,
      co_await Memoized<std::optional<std::string>>(
          process_.memoizer, MemoizerKey("Alerts.already_notified", mark), read_mark));
  co_return !raised.has_value();
}

base::Task<absl::Status> Alerts::Raise(const Application& application, Utilization utilization,
                                       int level) {
  const absl::Time now = process_.clock.Now();
  const bool atomically =
      hardening_.raise_alerts_atomically || hardening_.check_applications_atomically;
  if (atomically && level > 0) {
    const std::string fields =
        AlertFields(JsonObject(), application, utilization, level, now).text();
    const std::string tail = "," + fields.substr(1);
    if (process_.keys.layout() == store::KeyLayout::kCluster) {
      co_return co_await RaiseInSteps(application, level, tail);
    }
    co_return co_await RaiseByScript(application, level, tail);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool may_raise, co_await MayRaise(application, level));
  if (!may_raise) co_return absl::OkStatus();
  const std::string mark = process_.keys.AlreadyNotified(application.ref(), level);
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kIncr, {process_.keys.AlertsCurrentId()});
  batch.Add(CommandId::kSetEx, {mark})
      .AddInteger(absl::ToInt64Seconds(AlreadyNotifiedTtl()))
      .Add(kMark);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(process_.store, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t id, store::DecodeInteger(replies.front()));
  JsonObject alert = JsonObject().Add("id", id);
  alert = AlertFields(std::move(alert), application, utilization, level, now);
  const absl::StatusOr<int64_t> event =
      co_await EventQueue(process_, hardening_).Publish(EventType::kAlert, std::move(alert));
  co_return event.status();
}

// Whether the level was not raised in the last day, is allowed, and is not level 0. Sends the
// commands also for level 0, as the original does.
base::Task<absl::StatusOr<bool>> Alerts::MayRaise(const Application& application, int level) {
  const std::string mark = process_.keys.AlreadyNotified(application.ref(), level);
  const std::string allowed = process_.keys.AllowedAlerts(application.service_id);
  Batch batch(Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {mark});
  batch.Add(CommandId::kSIsMember, {allowed}).AddInteger(level);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(process_.store, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_allowed, store::DecodeBool(replies.back()));
  co_return replies.front().is_nil() && is_allowed&& level > 0;
}

std::string Alerts::StateKey(const Application& application) const {
  return process_.keys.Application(application.ref(), ApplicationAttribute::kState);
}

base::Task<absl::Status> Alerts::RaiseByScript(const Application& application, int level,
                                               std::string object_tail) {
  // The script inserts the alert's id, so the object that EventTail writes is removed.
  const std::string tail = EventTail(EventType::kAlert, process_.clock.Now(), "");
  const std::string_view between = std::string_view(tail).substr(0, tail.size() - 1);
  const std::string mark = process_.keys.AlreadyNotified(application.ref(), level);
  const std::string allowed = process_.keys.AllowedAlerts(application.service_id);
  const std::string state = StateKey(application);
  std::vector<std::string_view> keys = {mark, allowed, process_.keys.AlertsCurrentId(),
                                        process_.keys.EventsId(), process_.keys.EventsQueue()};
  if (hardening_.check_applications_atomically) keys.push_back(state);
  const std::array<std::string, 5> texts = {
      absl::StrCat(level), absl::StrCat(absl::ToInt64Seconds(AlreadyNotifiedTtl())),
      std::string(kEventHead), absl::StrCat(base::ToAbsl(between), base::ToAbsl(kEventHead)),
      absl::StrCat(object_tail, "}")};
  const std::vector<std::string_view> arguments(texts.begin(), texts.end());
  const absl::StatusOr<Reply> reply = co_await RaiseScript().Run(process_.store, keys, arguments);
  co_return reply.status();
}

// The events are in another slot than the mark. The order is: take an id, set the mark to the
// alert, publish the alert, set the mark to its final value. A crash before the mark leaves a gap
// in the ids. A crash after it leaves the alert in the mark, for FinishRaised.
base::Task<absl::Status> Alerts::RaiseInSteps(const Application& application, int level,
                                              std::string object_tail) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool may_raise, co_await MayRaise(application, level));
  if (!may_raise) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const int64_t id, co_await store::IncrBy(process_.store, process_.keys.AlertsCurrentId(), 1));
  const std::string alert = absl::StrCat(base::ToAbsl(kEventHead), id, object_tail);
  const std::string mark = process_.keys.AlreadyNotified(application.ref(), level);
  const std::string allowed = process_.keys.AllowedAlerts(application.service_id);
  const std::string state = StateKey(application);
  std::vector<std::string_view> keys = {mark, allowed};
  if (hardening_.check_applications_atomically) keys.push_back(state);
  const std::string level_text = absl::StrCat(level);
  const std::string ttl_text = absl::StrCat(absl::ToInt64Seconds(AlreadyNotifiedTtl()));
  const std::array<std::string_view, 3> arguments = {level_text, ttl_text, alert};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool claimed, store::DecodeBool(co_await ClaimScript().Run(
                                                       process_.store, keys, arguments)));
  if (!claimed) co_return absl::OkStatus();
  co_return co_await PublishClaimed(mark, alert);
}

base::Task<absl::Status> Alerts::PublishClaimed(std::string_view mark, std::string_view alert) {
  const absl::StatusOr<int64_t> event =
      co_await EventQueue(process_, hardening_).PublishJson(EventType::kAlert, alert);
  REDOUBLE_CO_RETURN_IF_ERROR(event.status());
  const std::array<std::string_view, 1> keys = {mark};
  const std::array<std::string_view, 2> arguments = {alert, kMark};
  co_return (co_await FinishScript().Run(process_.store, keys, arguments)).status();
}

base::Task<absl::StatusOr<int64_t>> Alerts::FinishRaised(ApplicationRef application,
                                                         absl::Duration age) {
  int64_t finished = 0;
  for (const int level : AlertLevels()) {
    const std::string mark = process_.keys.AlreadyNotified(application, level);
    Batch batch(Batch::Atomicity::kPipeline);
    batch.Add(CommandId::kGet, {mark});
    batch.Add(CommandId::kPTtl, {mark});
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                                 co_await store::Execute(process_.store, batch));
    REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
    const Reply& value = replies.front();
    if (!value.is_bulk() || value.text() == kMark) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t left_ms, store::DecodeInteger(replies.back()));
    if (left_ms >= 0 && AlreadyNotifiedTtl() - absl::Milliseconds(left_ms) < age) continue;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await PublishClaimed(mark, value.text()));
    ++finished;
  }
  co_return finished;
}

}  // namespace redouble::inline v0_1::threescale
