#include "redouble/sim/cli/record/monitor_line.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kMicrosDigits = 6;

// Returns the text up to `end`, and removes both from the beginning of `rest`.
std::optional<std::string_view> TakeUntil(std::string_view& rest, std::string_view end) {
  const size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at + end.size());
  return taken;
}

std::optional<MonitorLine> Parse(std::string_view rest) {
  if (rest.starts_with('+')) rest.remove_prefix(1);
  const auto seconds = TakeUntil(rest, ".");
  const auto micros = TakeUntil(rest, " [");
  const auto db = TakeUntil(rest, " ");
  const auto client = TakeUntil(rest, "] ");
  if (!seconds || !micros || !db || !client || micros->size() != kMicrosDigits) {
    return std::nullopt;
  }
  const auto us = base::ParseInt64(std::string(*seconds) + std::string(*micros));
  const auto index = base::ParseInt64(*db);
  if (!us || !index) return std::nullopt;
  // The words are quoted as those of an inline command.
  store::RequestParser parser;
  store::RequestParser::Limits limits;
  const std::string request = std::string(rest) + "\n";
  if (parser.Parse(request, limits) != store::RequestParser::Progress::kCommand ||
      parser.words().empty()) {
    return std::nullopt;
  }
  return MonitorLine{*us,
                     static_cast<int>(*index),
                     std::string(*client),
                     {parser.words().begin(), parser.words().end()}};
}

}  // namespace

absl::StatusOr<MonitorLine> ParseMonitorLine(std::string_view text) {
  std::optional<MonitorLine> line = Parse(text);
  if (line) return *std::move(line);
  return absl::InvalidArgumentError(
      absl::StrCat("no line of MONITOR: ", base::ToAbsl(text.substr(0, 200))));
}

}  // namespace redouble::inline v0_1::sim
