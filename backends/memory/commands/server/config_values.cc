#include "redouble/backends/memory/commands/server/config_values.h"

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/server/memory_size.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The classes in the order of CONFIG GET.
constexpr std::string_view kClasses[] = {"normal", "slave", "pubsub"};

std::optional<size_t> ClassOf(std::string_view name) {
  if (IsWord(name, "replica")) return 1;
  for (size_t i = 0; i < std::size(kClasses); ++i) {
    if (IsWord(name, kClasses[i])) return i;
  }
  return std::nullopt;
}

// A number as strtoll reads it: empty is 0, and what is out of range is the nearest number.
std::optional<int64_t> ParseLeniently(absl::string_view word) {
  const std::string text(word);
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (*end != '\0') return std::nullopt;
  return number;
}

}  // namespace

std::string OutputLimitsText(const EngineOptions& options) {
  std::string text;
  for (size_t i = 0; i < std::size(kClasses); ++i) {
    const OutputBufferLimit& limit = options.server.client_output_buffer_limits[i];
    absl::StrAppend(&text, i == 0 ? "" : " ", base::ToAbsl(kClasses[i]), " ", limit.hard_bytes, " ",
                    limit.soft_bytes, " ", limit.soft_seconds);
  }
  return text;
}

std::optional<std::string> SetOutputLimits(EngineOptions& options, std::string_view text) {
  // Each blank ends a word, which may be empty.
  std::vector<absl::string_view> words;
  if (!text.empty()) words = absl::StrSplit(base::ToAbsl(text), ' ');
  if (words.size() % 4 != 0) return "Wrong number of arguments in buffer limit configuration.";
  std::array<OutputBufferLimit, 3> limits = options.server.client_output_buffer_limits;
  for (size_t i = 0; i < words.size(); i += 4) {
    const std::optional<size_t> index = ClassOf(base::ToStd(words[i]));
    if (!index) return "Invalid client class specified in buffer limit configuration.";
    const std::optional<uint64_t> hard = ReadMemory(base::ToStd(words[i + 1]));
    const std::optional<uint64_t> soft = ReadMemory(base::ToStd(words[i + 2]));
    const std::optional<int64_t> number = ParseLeniently(words[i + 3]);
    // Redis keeps the seconds as an int.
    const auto seconds = static_cast<int32_t>(number.value_or(-1));
    if (!hard || !soft || seconds < 0) {
      return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    }
    limits[*index] = {*hard, *soft, seconds};
  }
  options.server.client_output_buffer_limits = limits;
  return std::nullopt;
}

ConfigLines OutputLimitLines(const EngineOptions& options) {
  constexpr std::string_view kName = "client-output-buffer-limit";
  ConfigLines lines{.name = kName, .lines = {}};
  for (size_t i = 0; i < std::size(kClasses); ++i) {
    const OutputBufferLimit& limit = options.server.client_output_buffer_limits[i];
    const OutputBufferLimit initial = ServerOptions().client_output_buffer_limits[i];
    const bool is_initial = limit.hard_bytes == initial.hard_bytes &&
                            limit.soft_bytes == initial.soft_bytes &&
                            limit.soft_seconds == initial.soft_seconds;
    const absl::string_view name = i == 1 ? "replica" : base::ToAbsl(kClasses[i]);
    lines.lines.push_back(
        {absl::StrCat(base::ToAbsl(kName), " ", name, " ", MemoryText(limit.hard_bytes), " ",
                      MemoryText(limit.soft_bytes), " ", limit.soft_seconds),
         !is_initial});
  }
  return lines;
}

std::string SavePointsText(const EngineOptions& options) {
  std::string text;
  for (const SavePoint& point : options.server.save_points) {
    absl::StrAppend(&text, text.empty() ? "" : " ", point.seconds, " ", point.changes);
  }
  return text;
}

std::optional<std::string> SetSavePoints(EngineOptions& options, std::string_view text) {
  constexpr char kInvalid[] = "Invalid save parameters";
  std::vector<absl::string_view> words;
  if (!text.empty()) words = absl::StrSplit(base::ToAbsl(text), ' ');
  if (words.size() % 2 != 0) return kInvalid;
  std::vector<SavePoint> points;
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::optional<int64_t> seconds = ParseLeniently(words[i]);
    const std::optional<int64_t> changes = ParseLeniently(words[i + 1]);
    if (!seconds || *seconds < 1 || !changes || *changes < 0) return kInvalid;
    // Redis keeps the changes as an int.
    points.push_back({*seconds, static_cast<int32_t>(*changes)});
  }
  options.server.save_points = std::move(points);
  return std::nullopt;
}

ConfigLines SavePointLines(const EngineOptions& options) {
  ConfigLines lines{.name = "save", .lines = {}};
  for (const SavePoint& point : options.server.save_points) {
    lines.lines.push_back({absl::StrCat("save ", point.seconds, " ", point.changes), true});
  }
  if (lines.lines.empty()) lines.lines.push_back({"save \"\"", true});
  return lines;
}

std::string PercentileText(double percent) {
  std::string text = absl::StrFormat("%f", percent);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string PercentilesText(const EngineOptions& options) {
  return absl::StrJoin(options.latency_tracking_info_percentiles, " ",
                       [](std::string* out, double percent) { *out += PercentileText(percent); });
}

ConfigLines PercentileLines(const EngineOptions& options) {
  constexpr std::string_view kName = "latency-tracking-info-percentiles";
  const std::string text = PercentilesText(options);
  std::string line = absl::StrCat(base::ToAbsl(kName), " ", text.empty() ? "\"\"" : text);
  return {.name = kName, .lines = {{std::move(line), /*required=*/true}}};
}

std::optional<std::string> SetPercentiles(EngineOptions& options, std::string_view text) {
  std::vector<double> percentiles;
  if (!text.empty()) {
    for (const absl::string_view word : absl::StrSplit(base::ToAbsl(text), ' ')) {
      const std::optional<double> percent = base::ParseDouble(base::ToStd(word));
      if (!percent) return "Invalid latency-tracking-info-percentiles parameters";
      if (*percent < 0 || *percent > 100) {
        return "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]";
      }
      percentiles.push_back(*percent);
    }
  }
  options.latency_tracking_info_percentiles = std::move(percentiles);
  return std::nullopt;
}

}  // namespace redouble::inline v0_1::memory
