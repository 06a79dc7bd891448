#include "redouble/tests/golden/replay/off_record.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::golden {
namespace {

using store::Command;
using store::CommandGroup;
using store::CommandId;
using store::CommandSpec;
using Words = std::vector<std::string>;

bool MayChange(const RecordedCommand& command, const std::string& key) {
  const CommandId id = Command::Named(command.words.front()).id();
  if (id == CommandId::kUnknown || command.words.front().starts_with("FLUSH")) return true;
  const CommandSpec& spec = store::SpecOf(id);
  // The row of a container ("xgroup") does not have the flags of its subcommands.
  const bool writes = spec.Has(store::command_flag::kWrite) ||
                      spec.group == CommandGroup::kScripting || spec.group == CommandGroup::kStream;
  return writes &&
         std::find(command.words.begin(), command.words.end(), key) != command.words.end();
}

// Returns a text, or the JSON text of a number.
std::string TextOf(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

base::Task<absl::Status> Send(store::Store& store, const Words& words) {
  Command command = Command::Named(words.front());
  command.AddAll(std::span(words).subspan(1));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::Reply reply, co_await store.Execute(command));
  if (!reply.is_error()) co_return absl::OkStatus();
  co_return absl::InvalidArgumentError(
      absl::StrCat("cannot be set up: ", command.DebugString(), ": ", reply.text()));
}

absl::Status Create(store::Store& store, const std::string& key, const RecordedKey& entry) {
  std::vector<Words> commands = CommandsThatCreate(key, entry);
  if (commands.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no recorded command made ", key, ", and a ",
                                                   entry.type,
                                                   " cannot be set up from its recorded value"));
  }
  if (entry.ttl >= 0) commands.push_back({"EXPIRE", key, absl::StrCat(entry.ttl)});
  for (const Words& words : commands) {
    base::Task<absl::Status> task = Send(store, words);
    task.Start();
    if (!task.done()) return absl::InternalError("setting up does not end");
    REDOUBLE_RETURN_IF_ERROR(task.TakeResult());
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Words> CommandsThatCreate(const std::string& key, const RecordedKey& entry) {
  if (entry.type == "string") return {{"SET", key, TextOf(entry.value)}};
  std::vector<Words> commands(1);
  Words& words = commands.front();
  if (entry.type == "hash") {
    words = {"HSET", key};
    for (const auto& [field, value] : entry.value.items()) {
      words.insert(words.end(), {field, TextOf(value)});
    }
  } else if (entry.type == "zset") {
    words = {"ZADD", key};
    for (const Json& pair : entry.value) {
      if (!pair.is_array() || pair.size() != 2) return {};
      words.insert(words.end(), {TextOf(pair[1]), TextOf(pair[0])});
    }
  } else if (entry.type == "set" || entry.type == "list") {
    words = {entry.type == "set" ? "SADD" : "RPUSH", key};
    for (const Json& element : entry.value) words.push_back(TextOf(element));
  } else {
    commands.clear();
  }
  return commands;
}

RecordedKeyspace KeysOffRecord(const Golden& golden) {
  const bool by_step = golden.system == System::kOrchestrator;
  if (!by_step && golden.system != System::kRelayna) return {};
  if (golden.steps.empty()) return {};
  const std::optional<RecordedKeyspace>& first =
      by_step ? golden.steps.front().keyspace : golden.keyspace;
  RecordedKeyspace keys = first ? *first : RecordedKeyspace();
  const size_t steps = by_step ? 1 : golden.steps.size();
  for (size_t i = 0; i < steps; ++i) {
    for (const RecordedCommand& command : golden.steps[i].commands) {
      std::erase_if(keys, [&](const auto& entry) { return MayChange(command, entry.first); });
    }
  }
  return keys;
}

absl::StatusOr<int> SetUpOffRecord(const Golden& golden, sim::ScenarioBackend& backend) {
  const RecordedKeyspace keys = KeysOffRecord(golden);
  REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<store::Store> store, backend.Connect());
  for (const auto& [key, entry] : keys) {
    REDOUBLE_RETURN_IF_ERROR(Create(*store, key, entry));
  }
  return static_cast<int>(keys.size());
}

}  // namespace redouble::inline v0_1::golden
