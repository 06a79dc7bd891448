#include "redouble/tests/golden/studio/studio_recording.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::golden {
namespace {

constexpr std::array<std::string_view, 3> kPure = {
    "registry.normalize_base_url", "search.task_document_id", "search.build_prefix_tokens"};

bool NamesKeyOf(const RecordedCommand& command, std::string_view prefix) {
  return command.words.size() > 1 && command.words[1].starts_with(prefix);
}

// Returns the first command of the golden with that name on a key with that prefix.
const RecordedCommand* FindCommand(const Golden& golden, std::string_view name,
                                   std::string_view prefix) {
  for (const RecordedStep& step : golden.steps) {
    for (const RecordedCommand& command : step.commands) {
      if (command.words.front() == name && NamesKeyOf(command, prefix)) return &command;
    }
  }
  return nullptr;
}

int64_t NumberOf(const std::string& text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

// Returns the prefix of the keys of events, from a list of events or a latest timestamp.
std::string EventPrefix(const Golden& golden) {
  for (const RecordedStep& step : golden.steps) {
    for (const RecordedCommand& command : step.commands) {
      if (command.words.size() < 2) continue;
      const std::string& key = command.words[1];
      if (!key.ends_with(":history") && key.find(":latest-") == key.npos) continue;
      const size_t at = std::min(key.find(":task:"), key.find(":service:"));
      if (at != key.npos) return key.substr(0, at);
    }
  }
  return "studio:events";
}

}  // namespace

std::string SuffixBehind(std::span<const RecordedCommand> commands, std::string_view prefix) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const auto& command) { return NamesKeyOf(command, prefix); });
  return found == commands.end() ? "" : found->words[1].substr(prefix.size());
}

std::string SuffixBehind(const RecordedStep& step, std::string_view prefix) {
  return SuffixBehind(std::span(step.commands), prefix);
}

bool HasCommand(const RecordedStep& step, std::string_view name, std::string_view key) {
  return std::any_of(step.commands.begin(), step.commands.end(), [&](const auto& command) {
    return command.words.front() == name && command.words.size() > 1 && command.words[1] == key;
  });
}

Json JsonSetTo(std::span<const RecordedCommand> commands, std::string_view key_prefix) {
  for (const RecordedCommand& command : commands) {
    if (command.words.front() != "SET" || !NamesKeyOf(command, key_prefix)) continue;
    Json value = Json::parse(command.words.at(2), nullptr, /*allow_exceptions=*/false);
    if (value.is_object()) return value;
  }
  return Json::object();
}

Json JsonSetTo(const RecordedStep& step, std::string_view key_prefix) {
  return JsonSetTo(std::span(step.commands), key_prefix);
}

Json EnvelopeOf(const Json& document) {
  Json event = document;
  for (const char* name :
       {"service_id", "ingest_method", "ingested_at", "dedupe_key", "out_of_order"}) {
    event.erase(name);
  }
  // Without an id, the cursor is the part of the dedupe key before the hash.
  const std::string dedupe_key = document.value("dedupe_key", "");
  const std::string prefix =
      absl::StrCat(document.value("service_id", ""), ":", document.value("source_kind", ""), ":");
  const size_t hash = dedupe_key.rfind(':');
  event["cursor"] = document["event_id"].is_string()
                        ? document["event_id"].get<std::string>()
                        : dedupe_key.substr(prefix.size(), hash - prefix.size());
  return {{"service_id", document["service_id"]},
          {"ingest_method", document["ingest_method"]},
          {"event", std::move(event)}};
}

Json ServiceNamed(std::string_view service_id) {
  return {{"service_id", service_id}, {"name", "Svc A"},  {"base_url", "http://a.example.test"},
          {"environment", "prod"},    {"tags", {"core"}}, {"auth_mode", "none"}};
}

Json ServiceOf(const Json& task_document) {
  Json service = ServiceNamed(task_document.value("service_id", "svc-a"));
  service["name"] = task_document.value("service_name", "Svc A");
  service["environment"] = task_document.value("environment", "prod");
  return service;
}

Json RecordBefore(const Golden& golden, size_t index, const std::string& service_id) {
  Json record = ServiceNamed(service_id);
  for (size_t i = 0; i < index; ++i) {
    for (const RecordedCommand& command : golden.steps[i].commands) {
      const Json set =
          JsonSetTo(std::span(&command, 1), std::string("studio:services:by-id:") + service_id);
      if (set.contains("service_id") && set["service_id"] == service_id) record = set;
    }
  }
  return record;
}

bool IsPure(std::string_view operation) {
  return std::find(kPure.begin(), kPure.end(), operation) != kPure.end();
}

void AddTaskTtl(const RecordedStep& step, std::span<const RecordedCommand> commands,
                Json& arguments) {
  const Json document = JsonSetTo(commands, "studio:search:task:doc:");
  if (!document.contains("expires_at") || !document["expires_at"].is_string() || !step.now) return;
  const auto end = base::ParseRfc3339(document["expires_at"].get<std::string>());
  const auto now = base::ParseRfc3339(*step.now);
  if (end.ok() && now.ok()) {
    arguments["task_index_ttl_seconds"] = absl::ToInt64Seconds(*end - *now);
  }
}

void AddConfiguration(const Golden& golden, const RecordedStep& step, Json& arguments) {
  const std::string events = EventPrefix(golden);
  bool search = false;
  for (const RecordedStep& one : golden.steps) {
    search = search || !SuffixBehind(one, "studio:search:").empty();
  }
  arguments["search"] = search;
  arguments["event_prefix"] = events;
  if (const RecordedCommand* set = FindCommand(golden, "SET", events + ":event:")) {
    const auto ex = std::find(set->words.begin(), set->words.end(), "EX");
    arguments["ttl_seconds"] = ex == set->words.end() ? Json() : Json(NumberOf(*(ex + 1)));
  }
  const RecordedCommand* trim = FindCommand(golden, "LTRIM", events + ":");
  if (trim == nullptr) trim = FindCommand(golden, "LRANGE", events + ":");
  if (trim != nullptr) arguments["history_maxlen"] = NumberOf(trim->words.back()) + 1;
  if (step.now) arguments["now"] = *step.now;
}

}  // namespace redouble::inline v0_1::golden
