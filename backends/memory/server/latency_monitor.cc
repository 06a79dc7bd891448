#include "redouble/backends/memory/server/latency_monitor.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kSamples = 160;
constexpr int kRows = 4;
constexpr size_t kColumns = 80;
// The levels within one row.
constexpr std::string_view kSteps = "_o#";

std::string AgeOf(int64_t seconds) {
  if (seconds < 60) return absl::StrCat(seconds, "s");
  if (seconds < 3600) return absl::StrCat(seconds / 60, "m");
  if (seconds < 24 * 3600) return absl::StrCat(seconds / 3600, "h");
  return absl::StrCat(seconds / (24 * 3600), "d");
}

// A column: the top of its bar in levels, and the label below it.
struct Bar {
  int step;
  std::string label;
};

char CharacterOf(const Bar& bar, int row) {
  const auto steps = static_cast<int>(kSteps.size());
  const int step = bar.step - (kRows - row - 1) * steps;
  if (step < 0) return ' ';
  return step < steps ? kSteps[step] : '|';
}

void AppendBars(const std::vector<Bar>& bars, std::string& text) {
  for (int row = 0; row < kRows; ++row) {
    for (const Bar& bar : bars) text += CharacterOf(bar, row);
    text += '\n';
  }
  text.append(bars.size(), ' ').append("\n");
  size_t longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, bar.label.size());
  for (size_t i = 0; i < longest; ++i) {
    for (const Bar& bar : bars) text += i < bar.label.size() ? bar.label[i] : ' ';
    text += '\n';
  }
}

struct Summary {
  int64_t average_ms = 0;
  int64_t deviation_ms = 0;
  double period_s = 0;
};

Summary SummaryOf(const LatencyMonitor::Event& event, int64_t now_s) {
  Summary summary;
  const auto count = static_cast<int64_t>(event.samples.size());
  for (const LatencyMonitor::Sample& sample : event.samples) {
    summary.average_ms += sample.latency_ms;
  }
  summary.average_ms /= count;
  for (const LatencyMonitor::Sample& sample : event.samples) {
    summary.deviation_ms += std::abs(summary.average_ms - sample.latency_ms);
  }
  summary.deviation_ms /= count;
  const int64_t covered_s = std::max<int64_t>(now_s - event.samples.front().at_s, 1);
  summary.period_s = static_cast<double>(covered_s) / static_cast<double>(count);
  return summary;
}

// The sentences of LATENCY DOCTOR that depend on the version.
struct DoctorWords {
  store::VersionSet versions;
  std::string_view disabled;
  std::string_view healthy;
  std::string_view greeting;
  std::string_view advice;
};

constexpr std::string_view kDaveIsHealthy =
    "Dave, no latency spike was observed during the lifetime of this Redis instance, not in the "
    "slightest bit. I honestly think you ought to sit down calmly, take a stress pill, and think "
    "things over.\n";
constexpr std::string_view kDaveHasSpikes =
    "Dave, I have observed latency spikes in this Redis instance. You don't mind talking about it, "
    "do you Dave?\n\n";
constexpr std::string_view kDavesAdvice = "I have a few advices for you:";

constexpr DoctorWords kDoctorWords[] = {
    {store::Until("8.0.0") - store::Since("valkey 8.0.0"),
     "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You "
     "may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable it. If "
     "we weren't in a deep space mission I'd suggest to take a look at "
     "https://redis.io/topics/latency-monitor.\n",
     kDaveIsHealthy, kDaveHasSpikes, kDavesAdvice},
    {store::Since("8.0.0"),
     "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You "
     "may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable it. If "
     "we weren't in a deep space mission I'd suggest to take a look at "
     "https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/"
     "latency-monitor.\n",
     kDaveIsHealthy, kDaveHasSpikes, kDavesAdvice},
    {store::Since("valkey 8.0.0"),
     "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Valkey instance. "
     "You may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable "
     "it.\n",
     "No latency spike was observed during the lifetime of this Valkey instance, not in the "
     "slightest bit.\n",
     "Latency spikes are observed in this Valkey instance.\n\n", "Here is some advice for you:"},
};

const DoctorWords& WordsOf(store::Version version) {
  return *std::find_if(std::begin(kDoctorWords), std::end(kDoctorWords),
                       [&](const DoctorWords& row) { return row.versions.Has(version); });
}

}  // namespace

void LatencyMonitor::Add(std::string_view name, int64_t at_s, int64_t latency_ms) {
  Event& event = events_[std::string(name)];
  event.worst_ms = std::max(event.worst_ms, latency_ms);
  if (!event.samples.empty() && event.samples.back().at_s == at_s) {
    Sample& last = event.samples.back();
    last.latency_ms = std::max(last.latency_ms, latency_ms);
    return;
  }
  event.samples.push_back({at_s, latency_ms});
  if (event.samples.size() > kSamples) event.samples.pop_front();
}

const LatencyMonitor::Event* LatencyMonitor::Find(std::string_view event) const {
  const auto found = events_.find(event);
  return found == events_.end() ? nullptr : &found->second;
}

bool LatencyMonitor::Reset(std::string_view event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return false;
  events_.erase(found);
  return true;
}

size_t LatencyMonitor::ResetAll() { return std::exchange(events_, {}).size(); }

std::string DrawLatencies(std::string_view name, const LatencyMonitor::Event& event,
                          int64_t now_s) {
  int64_t low = event.samples.front().latency_ms;
  int64_t high = low;
  for (const LatencyMonitor::Sample& sample : event.samples) {
    low = std::min(low, sample.latency_ms);
    high = std::max(high, sample.latency_ms);
  }
  std::string text = absl::StrFormat("%s - high %d ms, low %d ms (all time high %d ms)\n",
                                     std::string(name), high, low, event.worst_ms);
  text.append(kColumns, '-').append("\n");
  const auto steps = static_cast<int64_t>(kSteps.size()) * kRows;
  std::vector<Bar> bars;
  for (const LatencyMonitor::Sample& sample : event.samples) {
    const int64_t step = (sample.latency_ms - low) * steps / std::max<int64_t>(high - low, 1);
    bars.push_back({static_cast<int>(std::min(step, steps - 1)), AgeOf(now_s - sample.at_s)});
    if (bars.size() == kColumns) AppendBars(std::exchange(bars, {}), text);
  }
  if (!bars.empty()) AppendBars(bars, text);
  return text;
}

std::string DiagnoseLatencies(const LatencyMonitor& monitor, const DoctorSettings& settings,
                              int64_t now_s) {
  const DoctorWords& words = WordsOf(settings.version);
  if (settings.threshold_ms == 0 && monitor.events().empty()) return std::string(words.disabled);
  if (monitor.events().empty()) return std::string(words.healthy);
  std::string text(words.greeting);
  int number = 0;
  for (const auto& [name, event] : monitor.events()) {
    const Summary summary = SummaryOf(event, now_s);
    absl::StrAppendFormat(&text,
                          "%d. %s: %d latency spikes (average %dms, mean deviation %dms, period "
                          "%.2f sec). Worst all time event %dms.\n",
                          ++number, name, event.samples.size(), summary.average_ms,
                          summary.deviation_ms, summary.period_s, event.worst_ms);
  }
  absl::StrAppend(&text, "\n", base::ToAbsl(words.advice), "\n\n");
  const absl::string_view title = base::ToAbsl(store::ProductTitle(settings.version));
  const int64_t slow_us = settings.slowlog_log_slower_than_us;
  if (slow_us < 0) {
    absl::StrAppend(&text,
                    "- There are latency issues with potentially slow commands you are using. "
                    "Try to enable the Slow Log ",
                    title, " feature using the command 'CONFIG SET slowlog-log-slower-than ",
                    settings.threshold_ms * 1000, "'. If the Slow log is disabled ", title,
                    " is not able to log slow commands execution for you.\n");
  } else if (slow_us / 1000 > settings.threshold_ms) {
    absl::StrAppend(&text,
                    "- Your current Slow Log configuration only logs events that are slower "
                    "than your configured latency monitor threshold. Please use 'CONFIG SET "
                    "slowlog-log-slower-than ",
                    settings.threshold_ms * 1000, "'.\n");
  }
  absl::StrAppend(
      &text,
      "- Check your Slow Log to understand what are the commands you are running which are too "
      "slow to execute. Please check https://",
      absl::AsciiStrToLower(title),
      ".io/commands/slowlog for more information.\n"
      "- Deleting, expiring or evicting (because of maxmemory policy) large objects is a blocking "
      "operation. If you have very large objects that are often deleted, expired, or evicted, try "
      "to fragment those objects into multiple smaller objects.\n");
  return text;
}

}  // namespace redouble::inline v0_1::memory
