#include "redouble/backends/redis/net/metrics_text.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/pool_counters.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

constexpr Figure<ClusterCounters> kClusterFigures[] = {
    {&ClusterCounters::moved, "moved"},
    {&ClusterCounters::asked, "asked"},
    {&ClusterCounters::waited, "waited"},
    {&ClusterCounters::map_reads, "map_reads"},
};
constexpr Figure<SentinelCounters> kSentinelFigures[] = {
    {&SentinelCounters::masters, "masters"},
    {&SentinelCounters::rounds, "rounds"},
    {&SentinelCounters::waited, "waited"},
};
constexpr Figure<PoolCounters> kPoolFigures[] = {
    {&PoolCounters::borrows, "borrows"},
    {&PoolCounters::waits, "waits"},
    {&PoolCounters::timeouts, "timeouts"},
    {&PoolCounters::opened, "opened"},
    {&PoolCounters::open_failures, "open_failures"},
    {&PoolCounters::dead, "dead"},
    {&PoolCounters::expired, "expired"},
    {&PoolCounters::discarded, "discarded"},
    {&PoolCounters::borrowed, "borrowed", /*only_grows=*/false},
    {&PoolCounters::idle, "idle", /*only_grows=*/false},
};
static_assert(sizeof(ClusterCounters) == std::size(kClusterFigures) * sizeof(uint64_t) &&
                  sizeof(SentinelCounters) == std::size(kSentinelFigures) * sizeof(uint64_t) &&
                  sizeof(PoolCounters) == std::size(kPoolFigures) * sizeof(uint64_t),
              "the tables have every figure");

// The bounds of the histogram: powers of two from 64 us to 67 s.
constexpr int kFirstExponent = 6;
constexpr int kLastExponent = 26;

[[maybe_unused]] bool IsName(std::string_view name) {
  const auto is_letter = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_letter);
}

// "client=\"orders\""
std::string Written(const MetricsText::Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    assert(IsName(name));
    const std::string escaped =
        absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
    absl::StrAppend(&text, text.empty() ? "" : ",", name, "=\"", escaped, "\"");
  }
  return text;
}

std::string InBraces(const std::string& labels) {
  return labels.empty() ? "" : absl::StrCat("{", labels, "}");
}

}  // namespace

void MetricsText::Add(const Labels& labels, const Counters& counters) {
  const std::string written = Written(labels);
  AddFigures("", written, kCounterFigures, counters);
  AddHistogram("redouble_redis_request_duration_seconds", written, counters.latency);
}

void MetricsText::Add(const Labels& labels, const ClusterCounters& counters) {
  AddFigures("cluster_", Written(labels), kClusterFigures, counters);
}

void MetricsText::Add(const Labels& labels, const SentinelCounters& counters) {
  AddFigures("sentinel_", Written(labels), kSentinelFigures, counters);
}

void MetricsText::Add(const Labels& labels, const PoolCounters& counters) {
  AddFigures("pool_", Written(labels), kPoolFigures, counters);
}

void MetricsText::Add(const Labels& labels, const std::map<std::string, CommandFigures>& commands) {
  const auto count = [&](const std::string& name, const Labels& with, uint64_t value) {
    absl::StrAppend(&LinesOf(name, "counter"), name, InBraces(Written(with)), " ", value, "\n");
  };
  for (const auto& [command, figures] : commands) {
    Labels with = labels;
    with.emplace_back("command", command);
    AddHistogram("redouble_redis_command_duration_seconds", Written(with), figures.latency);
    count("redouble_redis_command_redirects_total", with, figures.redirects);
    with.emplace_back("error", "");
    for (const auto& [error, errors] : figures.errors) {
      with.back().second = error;
      count("redouble_redis_command_errors_total", with, errors);
    }
  }
}

std::string MetricsText::Text() const {
  std::string text;
  for (const Metric& metric : metrics_) {
    absl::StrAppend(&text, "# TYPE ", metric.name, " ", base::ToAbsl(metric.type), "\n",
                    metric.lines);
  }
  return text;
}

template <typename T, size_t kSize>
void MetricsText::AddFigures(std::string_view prefix, const std::string& labels,
                             const Figure<T> (&figures)[kSize], const T& counters) {
  for (const Figure<T>& figure : figures) {
    const std::string name =
        absl::StrCat("redouble_redis_", base::ToAbsl(prefix), base::ToAbsl(figure.name),
                     figure.only_grows ? "_total" : "");
    absl::StrAppend(&LinesOf(name, figure.only_grows ? "counter" : "gauge"), name, InBraces(labels),
                    " ", counters.*figure.value, "\n");
  }
}

void MetricsText::AddHistogram(const std::string& name, const std::string& labels,
                               const LatencyHistogram& latency) {
  std::string& lines = LinesOf(name, "histogram");
  const auto bucket = [&](const std::string& bound, uint64_t count) {
    absl::StrAppend(&lines, name, "_bucket{", labels, labels.empty() ? "" : ",", "le=\"", bound,
                    "\"} ", count, "\n");
  };
  for (int exponent = kFirstExponent; exponent <= kLastExponent; ++exponent) {
    const int64_t bound_us = int64_t{1} << exponent;
    bucket(absl::StrFormat("%d.%06d", bound_us / 1'000'000, bound_us % 1'000'000),
           latency.CountBelow(exponent));
  }
  bucket("+Inf", latency.count());
  absl::StrAppend(
      &lines, name, "_sum", InBraces(labels), " ",
      absl::StrFormat("%d.%06d", latency.sum_us() / 1'000'000, latency.sum_us() % 1'000'000), "\n",
      name, "_count", InBraces(labels), " ", latency.count(), "\n");
}

std::string& MetricsText::LinesOf(std::string name, std::string_view type) {
  const auto found = std::find_if(metrics_.begin(), metrics_.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  if (found != metrics_.end()) return found->lines;
  return metrics_.emplace_back(Metric{std::move(name), type, ""}).lines;
}

}  // namespace redouble::inline v0_1::redis
