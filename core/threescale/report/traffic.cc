#include "redouble/core/threescale/report/traffic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/scripts/script_texts.h"

namespace redouble::inline v0_1::threescale {
namespace {

// KEYS: the applications with traffic, events/id, events/queue, and the application's state if it
// must exist. ARGV: the member, and the JSON of the event before its id and after it.
const store::Script& FirstTrafficScript() {
  static const store::Script& script = *new store::Script(std::string(kNoteFirstTrafficText));
  return script;
}

// KEYS: the counter of the day, events/id, events/queue, and the application's state if it must
// exist. ARGV: the day, in days since 1970, the TTL of the counter in seconds, and the JSON of the
// event before its id and after it. Replies the second of Redis, and writes nothing, if Redis has
// another day.
const store::Script& DailyTrafficScript() {
  static const store::Script& script = *new store::Script(std::string(kNoteDailyTrafficText));
  return script;
}

// The keys of a script: `first`, the events, and the guard.
std::vector<std::string> KeysOf(const Process& process, const Traffic& traffic, std::string first) {
  std::vector<std::string> keys = {std::move(first), std::string(process.keys.EventsId()),
                                   std::string(process.keys.EventsQueue())};
  if (traffic.must_exist) {
    keys.push_back(process.keys.Application(traffic.application, ApplicationAttribute::kState));
  }
  return keys;
}

}  // namespace

JsonObject TrafficObject(ApplicationRef application, absl::Time time) {
  JsonObject object;
  object.Add("service_id", application.service_id)
      .Add("application_id", application.id)
      .Add("timestamp", FormatJsonTime(time));
  return object;
}

base::Task<absl::Status> NoteFirstTraffic(Process process, Traffic traffic) {
  const absl::Time now = process.clock.Now();
  const std::vector<std::string> keys =
      KeysOf(process, traffic, process.keys.TrafficApplications(traffic.application.service_id));
  const std::vector<std::string_view> key_views(keys.begin(), keys.end());
  const std::string member = Encode(std::string(traffic.application.id));
  const std::string tail =
      EventTail(EventType::kFirstTraffic, now, TrafficObject(traffic.application, now).text());
  const std::string_view arguments[] = {member, kEventHead, tail};
  co_return (co_await FirstTrafficScript().Run(process.store, key_views, arguments)).status();
}

base::Task<absl::Status> NoteDailyTraffic(Process process, Traffic traffic) {
  constexpr int64_t kSecondsOfDay = 86400;
  absl::Time now = process.clock.Now();
  while (true) {
    const std::vector<std::string> keys =
        KeysOf(process, traffic, process.keys.DailyTraffic(traffic.application, now));
    const std::vector<std::string_view> key_views(keys.begin(), keys.end());
    const std::string day = absl::StrCat(absl::ToUnixSeconds(now) / kSecondsOfDay);
    const std::string ttl = absl::StrCat(absl::ToInt64Seconds(DailyTrafficTtl()));
    const std::string tail = EventTail(EventType::kFirstDailyTraffic, now,
                                       TrafficObject(traffic.application, now).text());
    const std::string_view arguments[] = {day, ttl, kEventHead, tail};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t reply,
                                 store::DecodeInteger(co_await DailyTrafficScript().Run(
                                     process.store, key_views, arguments)));
    if (reply <= 1) co_return absl::OkStatus();
    now = absl::FromUnixSeconds(reply);
  }
}

}  // namespace redouble::inline v0_1::threescale
