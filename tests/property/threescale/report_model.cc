#include "redouble/tests/property/threescale/report_model.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace redouble::inline v0_1::threescale {
namespace {

absl::CivilSecond Civil(int64_t time) {
  return absl::ToCivilSecond(absl::FromUnixSeconds(time), absl::UTCTimeZone());
}

std::string TimeText(int64_t time) {
  const absl::CivilSecond at = Civil(time);
  return absl::StrFormat("%04d-%02d-%02d %02d:%02d:%02d UTC", at.year(), at.month(), at.day(),
                         at.hour(), at.minute(), at.second());
}

std::string DayText(absl::CivilDay day) {
  return absl::StrFormat("%04d%02d%02d", day.year(), day.month(), day.day());
}

// Like Ruby's to_i, for small numbers.
int64_t LeadingNumber(const std::string& text) { return std::atoll(text.c_str()); }

bool IsUsageValue(const std::string& text) {
  size_t i = 0;
  while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
  if (i < text.size() && text[i] == '#') ++i;
  const size_t digits = i;
  while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]))) ++i;
  if (i == digits) return false;
  while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
  return i == text.size();
}

// Returns the position of a metric in a usage; the end if it is missing.
template <typename Usage>
auto PlaceOf(Usage& usage, const std::string& id) {
  auto place = usage.begin();
  while (place != usage.end() && place->first != id) ++place;
  return place;
}

// Formats with the fewest decimals that parse to the same number.
std::string DoubleText(double number) {
  char text[64];
  for (int decimals = 1; decimals < 30; ++decimals) {
    std::snprintf(text, sizeof(text), "%.*f", decimals, number);
    if (std::strtod(text, nullptr) == number) break;
  }
  return text;
}

}  // namespace

void ReportModel::Report(const std::vector<Transaction>& transactions, int64_t now) {
  Forget(now);
  const std::optional<std::vector<Counted>> counted = Parse(transactions, now);
  if (!counted) {
    ++errors_;
    return;
  }
  std::vector<std::string> touched;
  for (const Counted& transaction : *counted) {
    Count(transaction, now);
    bool known = false;
    for (const std::string& application : touched) known |= application == transaction.application;
    if (!known) touched.push_back(transaction.application);
  }
  for (const std::string& application : touched) NoteTraffic(application, now);
  for (const std::string& application : touched) UpdateAlerts(application, now);
}

// Any mistake rejects the whole report. Transactions of one application are grouped at the position
// of its first one.
std::optional<std::vector<ReportModel::Counted>> ReportModel::Parse(
    const std::vector<Transaction>& transactions, int64_t now) const {
  constexpr int64_t kOldest = 86400;
  constexpr int64_t kNewest = 3600;
  std::vector<std::vector<Transaction>> groups;
  for (const Transaction& transaction : transactions) {
    if (!applications.contains(transaction.application)) return std::nullopt;
    size_t group = 0;
    while (group < groups.size() && groups[group][0].application != transaction.application) {
      ++group;
    }
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(transaction);
  }
  std::vector<Counted> counted;
  for (const auto& group : groups) {
    for (const Transaction& transaction : group) {
      if (transaction.usage.empty()) continue;
      const std::optional<Usage> usage = Process(transaction.usage);
      if (!usage) return std::nullopt;
      const int64_t time = transaction.timestamp.value_or(now);
      if (time - now < -kOldest || time - now > kNewest) return std::nullopt;
      counted.push_back({transaction.application, *usage, time, transaction.code});
    }
  }
  return counted;
}

std::optional<ReportModel::Usage> ReportModel::Process(const Usage& named) const {
  Usage own;
  for (const auto& [name, value] : named) {
    if (!IsUsageValue(value) || !metric_ids.contains(name)) return std::nullopt;
    const std::string& id = metric_ids.at(name);
    const auto place = PlaceOf(own, id);
    if (place == own.end()) {
      own.emplace_back(id, value);
    } else {
      place->second = value;
    }
  }
  Usage all = own;
  for (const auto& [id, value] : own) {
    for (auto parent = parents.find(id); parent != parents.end();
         parent = parents.find(parent->second)) {
      if (PlaceOf(all, parent->second) == all.end()) all.emplace_back(parent->second, "0");
      std::string& text = PlaceOf(all, parent->second)->second;
      text = value[0] == '#' ? value : std::to_string(LeadingNumber(text) + LeadingNumber(value));
    }
  }
  return all;
}

std::string ReportModel::Segment(const std::string& period, int64_t time) const {
  const absl::CivilSecond at = Civil(time);
  if (period == "eternity") return period;
  std::string stamp;
  if (period == "year") stamp = DayText(absl::CivilDay(absl::CivilYear(at)));
  if (period == "month") stamp = DayText(absl::CivilDay(absl::CivilMonth(at)));
  if (period == "week") {
    absl::CivilDay day(at);
    while (absl::GetWeekday(day) != absl::Weekday::monday) --day;
    stamp = DayText(day);
  }
  if (period == "day") stamp = DayText(absl::CivilDay(at));
  if (period == "hour" || period == "minute") {
    std::string clock = absl::StrFormat("%02d", at.hour());
    if (period == "minute") clock += absl::StrFormat("%02d", at.minute());
    while (trimmed_stamps && !clock.empty() && clock.back() == '0') clock.pop_back();
    stamp = DayText(absl::CivilDay(at)) + clock;
  }
  return period + ":" + stamp;
}

void ReportModel::Count(const Counted& transaction, int64_t now) {
  static const std::set<std::string> kClasses = {"2", "4", "5"};
  static const std::set<std::string> kCodes = {"200", "403", "404", "500", "503"};
  const std::string& code = transaction.code;
  if (code.size() == 3 && code.find_first_not_of("0123456789") == std::string::npos) {
    const auto count = [&](const std::string& what) {
      Write("response_code:" + what, transaction.application, "1", transaction.time, now);
    };
    if (kClasses.contains(code.substr(0, 1))) count(code.substr(0, 1) + "XX");
    if (kCodes.contains(code)) count(code);
  }
  for (const auto& [id, value] : transaction.usage) {
    Write("metric:" + id, transaction.application, value, transaction.time, now);
  }
}

void ReportModel::Write(const std::string& subject, const std::string& application,
                        const std::string& value, int64_t time, int64_t now) {
  constexpr int64_t kMinuteSeconds = 180;
  for (const char* period : {"eternity", "month", "week", "day", "hour"}) {
    WriteOne("stats/{service:2}/" + subject + "/" + Segment(period, time), value);
  }
  const std::string own = "stats/{service:2}/cinstance:" + application + "/" + subject + "/";
  for (const char* period : {"eternity", "month", "week", "day", "hour", "year", "minute"}) {
    WriteOne(own + Segment(period, time), value);
  }
  const auto minute = strings_.find(own + Segment("minute", time));
  if (minute != strings_.end()) minute->second.expires = now + kMinuteSeconds;
}

void ReportModel::WriteOne(const std::string& key, const std::string& value) {
  if (value[0] != '#') {
    const int64_t before = strings_.contains(key) ? LeadingNumber(strings_[key].value) : 0;
    strings_[key].value = std::to_string(before + LeadingNumber(value));
    return;
  }
  const int64_t amount = LeadingNumber(value.substr(1));
  strings_.erase(key);
  if (amount > 0) strings_[key] = {std::to_string(amount), std::nullopt};
}

void ReportModel::NoteTraffic(const std::string& application, int64_t now) {
  constexpr int64_t kTwoDays = 172800;
  const std::string object = absl::StrCat("{\"service_id\":\"2\",\"application_id\":\"",
                                          application, "\",\"timestamp\":\"", TimeText(now), "\"}");
  if (traffic_.insert(application).second) Publish("first_traffic", object, now);
  const std::string key = absl::StrCat("daily_traffic/service:2/cinstance:", application, "/",
                                       DayText(absl::CivilDay(Civil(now))));
  if (!strings_.contains(key)) {
    strings_[key] = {"1", now + kTwoDays};
    Publish("first_daily_traffic", object, now);
  } else {
    strings_[key].value = std::to_string(LeadingNumber(strings_[key].value) + 1);
  }
}

void ReportModel::UpdateAlerts(const std::string& application, int64_t now) {
  constexpr int64_t kDay = 86400;
  if (allowed_levels.empty()) return;
  const auto mark = [&](int level) {
    return absl::StrCat("alerts/service_id:2/app_id:", application, "/", level,
                        "/already_notified");
  };
  if (strings_.contains(mark(*allowed_levels.rbegin()))) return;
  double most = 0;
  std::string text;
  for (const Limit& limit : limits) {
    const int64_t used = Number("stats/{service:2}/cinstance:" + application +
                                    "/metric:" + limit.metric_id + "/" + Segment(limit.period, now),
                                now);
    if (limit.value <= 0) continue;
    const double ratio = static_cast<double>(used) / static_cast<double>(limit.value);
    if (ratio <= most) continue;
    most = ratio;
    text = absl::StrCat(limit.metric_name, " per ", limit.period, ": ", used, "/", limit.value);
  }
  int level = 0;
  for (const int each : {50, 80, 90, 100, 120, 150, 200, 300}) {
    if (most * 100.0 >= each) level = each;
  }
  if (level == 0 || !allowed_levels.contains(level) || strings_.contains(mark(level))) return;
  const int64_t id = Number("alerts/current_id", now) + 1;
  strings_["alerts/current_id"].value = std::to_string(id);
  strings_[mark(level)] = {"1", now + kDay};
  Publish("alert",
          absl::StrCat("{\"id\":", id, ",\"utilization\":", level,
                       ",\"max_utilization\":", DoubleText(most), ",\"application_id\":\"",
                       application, "\",\"service_id\":\"2\",\"timestamp\":\"", TimeText(now),
                       "\",\"limit\":\"", text, "\"}"),
          now);
}

void ReportModel::Publish(const std::string& type, const std::string& object, int64_t now) {
  const int64_t id = Number("events/id", now) + 1;
  strings_["events/id"].value = std::to_string(id);
  events_.push_back(absl::StrCat("{\"id\":", id, ",\"type\":\"", type, "\",\"timestamp\":\"",
                                 TimeText(now), "\",\"object\":", object, "}"));
}

const ReportModel::Stored* ReportModel::Find(const std::string& key, int64_t now) const {
  const auto found = strings_.find(key);
  if (found == strings_.end()) return nullptr;
  // Redis keeps a key through the millisecond of its expiry.
  if (found->second.expires && now > *found->second.expires) return nullptr;
  return &found->second;
}

int64_t ReportModel::Number(const std::string& key, int64_t now) const {
  const Stored* stored = Find(key, now);
  return stored == nullptr ? 0 : LeadingNumber(stored->value);
}

void ReportModel::Forget(int64_t now) {
  std::erase_if(strings_, [&](const auto& entry) { return Find(entry.first, now) == nullptr; });
}

std::map<std::string, ReportModel::Stored> ReportModel::StringsAt(int64_t now) const {
  std::map<std::string, Stored> strings;
  for (const auto& [key, stored] : strings_) {
    if (Find(key, now) != nullptr) strings[key] = stored;
  }
  return strings;
}

}  // namespace redouble::inline v0_1::threescale
