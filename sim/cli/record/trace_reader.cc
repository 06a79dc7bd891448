#include "redouble/sim/cli/record/trace_reader.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {
namespace {

using Words = std::vector<std::string>;

absl::Status NoEvent(std::string_view line) {
  return absl::InvalidArgumentError(
      absl::StrCat("no event of a trace: ", base::ToAbsl(line.substr(0, 200))));
}

// The words of a command; nullopt if `json` is no array of texts.
std::optional<Words> WordsOf(const Json& json) {
  if (!json.is_array() || json.empty()) return std::nullopt;
  Words words;
  for (const Json& word : json) {
    if (!word.is_string()) return std::nullopt;
    absl::StatusOr<std::string> bytes = DecodeBytes(word.get<std::string>());
    if (!bytes.ok()) return std::nullopt;
    words.push_back(*std::move(bytes));
  }
  return words;
}

// The commands of an event, as a client sends them; nullopt if it has none.
std::optional<std::vector<Words>> CommandsOf(const Json& event) {
  const bool is_transaction = event.contains("transaction");
  Json commands = Json::array();
  if (event.contains("command")) {
    commands.push_back(event["command"]);
  } else if (is_transaction) {
    commands = event["transaction"];
  } else if (event.contains("pipeline")) {
    commands = event["pipeline"];
  }
  if (!commands.is_array() || commands.empty()) return std::nullopt;
  std::vector<Words> sent;
  if (is_transaction) sent.push_back({"MULTI"});
  for (const Json& command : commands) {
    std::optional<Words> words = WordsOf(command);
    if (!words) return std::nullopt;
    sent.push_back(*std::move(words));
  }
  if (is_transaction) sent.push_back({"EXEC"});
  return sent;
}

}  // namespace

absl::StatusOr<std::vector<MonitorLine>> TraceReader::Read(std::string_view line) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return NoEvent(line);
  if (event.contains("fault")) {
    return absl::InvalidArgumentError(
        "the trace has a fault, so it is that of a simulated run; replay repeats its file");
  }
  std::vector<MonitorLine> lines;
  if (event.contains("advance") || event.contains("event")) return lines;
  const std::optional<int64_t> us = base::AsInt64(event.value("us", Json()));
  const Json client = event.value("client", Json());
  std::optional<std::vector<Words>> commands = CommandsOf(event);
  if (!us || !client.is_string() || !commands || !event.contains("reply")) return NoEvent(line);
  if (event["reply"].is_object() && event["reply"].contains("failure")) {
    ++unanswered_;
    return lines;
  }
  int& database = databases_[client.get<std::string>()];
  for (Words& words : *commands) {
    int selected = database;
    if (words.size() == 2 && absl::EqualsIgnoreCase(words[0], "select") &&
        !absl::SimpleAtoi(words[1], &selected)) {
      selected = database;
    }
    lines.push_back(MonitorLine{*us, std::exchange(database, selected), client.get<std::string>(),
                                std::move(words)});
  }
  return lines;
}

}  // namespace redouble::inline v0_1::sim
