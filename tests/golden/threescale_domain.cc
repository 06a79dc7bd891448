#include "tests/golden/threescale_domain.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/operations/threescale_operations.h"
#include "scenarios/operations/threescale_session.h"

namespace redouble::golden {
namespace {

using scenarios::ThreescaleSession;
using scenarios::ThreescaleSettings;
using threescale::StampFormat;

// The session of the replay that is under way.
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

absl::StatusOr<Plan> PlanOf(const Golden& golden, size_t index) {
  const RecordedStep& step = golden.steps[index];
  Plan plan;
  if (step.op.empty()) return plan;
  const size_t remark = step.op.find(" (");
  Json arguments = step.arguments;
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

}  // namespace redouble::golden
