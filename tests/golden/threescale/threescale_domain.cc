#include "redouble/tests/golden/threescale/threescale_domain.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"
#include "redouble/sim/operations/threescale/threescale_session.h"

namespace redouble::inline v0_1::golden {
namespace {

using scenarios::ThreescaleSession;
using scenarios::ThreescaleSettings;
using threescale::StampFormat;

// The session of the current replay.
using CurrentSession = std::shared_ptr<std::shared_ptr<ThreescaleSession>>;

ThreescaleSettings SettingsOf(const Golden& golden, StampFormat stamp_format) {
  ThreescaleSettings settings;
  settings.stamp_format = stamp_format;
  settings.memory = golden.settings.value("memoizer", "") == "kept"
                        ? ThreescaleSettings::Memory::kKept
                        : ThreescaleSettings::Memory::kOfOneOperation;
  if (!golden.settings.contains("config")) return settings;
  const Json& config = golden.settings["config"];
  if (config.contains("master_service_id")) {
    settings.master_service_id = scenarios::TextOf(config["master_service_id"]);
  }
  settings.notification_batch = config.value("notification_batch", settings.notification_batch);
  if (config.contains("events_hook")) {
    settings.events_hook = scenarios::TextOf(config["events_hook"]);
  }
  return settings;
}

std::vector<Pass> PassesOf(const Golden& golden, const CurrentSession& current) {
  const auto begin = [current, &golden](StampFormat format) {
    return [current, settings = SettingsOf(golden, format)] {
      *current = std::make_shared<ThreescaleSession>(settings);
    };
  };
  std::vector<Pass> passes(2);
  passes[0].begin = begin(StampFormat::kTrimmed);
  passes[1].name = "with fixed-width stamps";
  passes[1].begin = begin(StampFormat::kFixedWidth);
  passes[1].compares_commands = false;
  passes[1].keyspace = golden.seed_keyspace;
  return passes;
}

// Returns the argument `name` of the last step of `op` before step `index`.
Json EarlierArgument(const Golden& golden, size_t index, std::string_view op, const char* name) {
  Json value;
  for (size_t i = 0; i < index; ++i) {
    const RecordedStep& step = golden.steps[i];
    if (step.op == op && step.arguments.contains(name)) value = step.arguments[name];
  }
  return value;
}

// A recorder abbreviates a long report to {"transactions": "401 x {app_id, usage hits=1}"}, of the
// service and the application that were saved before. Returns other arguments unchanged.
Json WithoutAbbreviation(const Golden& golden, size_t index, Json arguments) {
  const Json transactions = arguments.value("transactions", Json());
  if (!transactions.is_string()) return arguments;
  const std::vector<absl::string_view> words = absl::StrSplit(
      transactions.get_ref<const std::string&>(), absl::ByAnyChar(" {},="), absl::SkipEmpty());
  constexpr size_t kWords = 6;
  int count = 0;
  if (words.size() != kWords || words[1] != "x" || !absl::SimpleAtoi(words[0], &count)) {
    return arguments;
  }
  const Json transaction = {
      {std::string(words[2]), EarlierArgument(golden, index, "application.save", "id")},
      {std::string(words[3]), {{std::string(words[4]), std::string(words[5])}}}};
  Json all = Json::object();
  for (int i = 0; i < count; ++i) all[std::to_string(i)] = transaction;
  arguments["transactions"] = std::move(all);
  for (const auto& [name, source] :
       {std::pair("provider_key", "provider_key"), std::pair("service_id", "id")}) {
    if (arguments.contains(name)) continue;
    arguments[name] = EarlierArgument(golden, index, "service.save", source);
  }
  return arguments;
}

absl::StatusOr<Plan> PlanOf(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  Plan plan;
  if (step.op.empty()) return plan;
  const size_t remark = step.op.find(" (");
  Json arguments = WithoutAbbreviation(golden, index, step.arguments);
  if (remark != std::string::npos) arguments["label"] = step.op.substr(remark + 1);
  plan.calls.push_back({"", step.op.substr(0, remark), std::move(arguments)});
  return plan;
}

}  // namespace

Domain ThreescaleDomain() {
  const CurrentSession current =
      std::make_shared<std::shared_ptr<ThreescaleSession>>(std::make_shared<ThreescaleSession>());
  Domain domain;
  domain.operations = scenarios::ThreescaleOperations([current] { return *current; });
  domain.record_error = scenarios::ThreescaleErrorResult;
  domain.passes = [current](const Golden& golden) { return PassesOf(golden, current); };
  domain.plan = PlanOf;
  return domain;
}

}  // namespace redouble::inline v0_1::golden
