// LATENCY: events that took long, as measured by the host. Without a host there are none.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

LatencyMonitor& MonitorOf(const CommandContext& context) {
  return context.engine().administration().latency_monitor();
}

int64_t NowSeconds(const CommandContext& context) { return context.now_ms() / 1000; }

// The upper bounds of the buckets in microseconds: powers of two, as a histogram with two
// significant digits rounds them.
std::vector<int64_t> BucketBounds() {
  std::vector<int64_t> bounds;
  for (int64_t nanos = 1024; nanos < int64_t{1} << 40; nanos *= 2) {
    bounds.push_back((nanos + nanos / 128 - 1) / 1000);
  }
  return bounds;
}

// The cumulative number of calls up to each bound; bounds that add no call are omitted.
Reply HistogramReply(const CommandStatistics& statistics) {
  std::vector<Reply> buckets;
  int64_t told = 0;
  for (const int64_t bound_us : BucketBounds()) {
    const int64_t count = statistics.durations->CountUpTo(bound_us);
    if (count == told) continue;
    buckets.push_back(Reply::Integer(bound_us));
    buckets.push_back(Reply::Integer(count));
    told = count;
  }
  return Reply::Map({Reply::Bulk("calls"), Reply::Integer(statistics.durations->count()),
                     Reply::Bulk("histogram_usec"), Reply::Map(std::move(buckets))});
}

bool IsAsked(const CommandSpec& spec, Arguments names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](std::string_view name) {
           return IsWord(name, spec.name) ||
                  (spec.is_subcommand() && IsWord(name, spec.container()));
         });
}

}  // namespace

Reply HandleLatencyDoctor(CommandContext& context, Arguments) {
  const EngineOptions& options = context.engine().options();
  return Reply::Verbatim(
      DiagnoseLatencies(MonitorOf(context),
                        {.threshold_ms = options.latency_monitor_threshold_ms,
                         .slowlog_log_slower_than_us = options.slowlog_log_slower_than_us,
                         .version = options.compatibility},
                        NowSeconds(context)));
}

Reply HandleLatencyGraph(CommandContext& context, Arguments arguments) {
  const LatencyMonitor::Event* event = MonitorOf(context).Find(arguments[0]);
  if (event == nullptr) {
    return Reply::Error(
        absl::StrCat("ERR No samples available for event '", WordInError(arguments[0]), "'"));
  }
  return Reply::Verbatim(DrawLatencies(arguments[0], *event, NowSeconds(context)));
}

Reply HandleLatencyHistory(CommandContext& context, Arguments arguments) {
  const LatencyMonitor::Event* event = MonitorOf(context).Find(arguments[0]);
  if (event == nullptr) return Reply::EmptyArray();
  std::vector<Reply> samples;
  for (const LatencyMonitor::Sample& sample : event->samples) {
    samples.push_back(
        Reply::Array({Reply::Integer(sample.at_s), Reply::Integer(sample.latency_ms)}));
  }
  return Reply::Array(std::move(samples));
}

Reply HandleLatencyLatest(CommandContext& context, Arguments) {
  std::vector<Reply> events;
  for (const auto& [name, event] : MonitorOf(context).events()) {
    const LatencyMonitor::Sample& last = event.samples.back();
    events.push_back(
        Reply::Array({Reply::Bulk(name), Reply::Integer(last.at_s), Reply::Integer(last.latency_ms),
                      Reply::Integer(event.worst_ms)}));
  }
  return Reply::Array(std::move(events));
}

Reply HandleLatencyReset(CommandContext& context, Arguments arguments) {
  LatencyMonitor& monitor = MonitorOf(context);
  if (arguments.empty()) return Reply::Integer(static_cast<int64_t>(monitor.ResetAll()));
  return Reply::Integer(std::count_if(arguments.begin(), arguments.end(),
                                      [&](std::string_view name) { return monitor.Reset(name); }));
}

// Commands without measurements are omitted; a container returns its subcommands.
Reply HandleLatencyHistogram(CommandContext& context, Arguments arguments) {
  const Statistics& statistics = context.engine().administration().statistics();
  std::vector<Reply> commands;
  for (const CommandSpec& spec : store::AllCommands()) {
    const CommandStatistics& command = statistics.of(spec.id);
    if (command.durations == nullptr || !IsAsked(spec, arguments)) continue;
    commands.push_back(Reply::Bulk(spec.name));
    commands.push_back(HistogramReply(command));
  }
  return Reply::Map(std::move(commands));
}

Reply HandleLatencyHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "DOCTOR",
      "    Return a human readable latency analysis report.",
      "GRAPH <event>",
      "    Return an ASCII latency graph for the <event> class.",
      "HISTORY <event>",
      "    Return time-latency samples for the <event> class.",
      "LATEST",
      "    Return the latest latency samples for all events.",
      "RESET [<event> ...]",
      "    Reset latency data of one or more <event> classes.",
      "    (default: reset all data for all event classes)",
      "HISTOGRAM [COMMAND ...]",
      "    Return a cumulative distribution of latencies in the format of a histogram for the "
      "specified command names.",
      "    If no commands are specified then all histograms are replied.",
  };
  return HelpReply(context, kLines);
}

}  // namespace redouble::inline v0_1::memory
