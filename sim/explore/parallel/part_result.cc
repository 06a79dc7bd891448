#include "redouble/sim/explore/parallel/part_result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "redouble/sim/json/strict_json.h"

namespace redouble::inline v0_1::sim {

std::string ToText(const Exploration& exploration) {
  Json json{{"schedules", exploration.schedules}, {"violations", exploration.violations}};
  json["complete"] = exploration.complete;
  json["complete_bound"] = exploration.complete_bound;
  json["depends_on_seed"] = exploration.depends_on_seed;
  if (exploration.violation) {
    json["schedules_to_first"] = exploration.schedules_to_first;
    json["seed"] = exploration.violation->seed;
    json["decisions"] = exploration.violation->decisions;
  }
  json["probes"] = exploration.probes;
  json["fault_matches"] = exploration.fault_matches;
  if (!exploration.mistake.ok()) {
    json["mistake"] = std::string(exploration.mistake.message());
    json["code"] = static_cast<int>(exploration.mistake.code());
  }
  // A mistake may quote bytes that are no text.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Exploration FromText(std::string_view text) {
  const Json json = *ParseStrictJson(text);
  Exploration exploration;
  exploration.schedules = json["schedules"].get<int64_t>();
  exploration.violations = json["violations"].get<int64_t>();
  exploration.complete = json["complete"].get<bool>();
  exploration.complete_bound = json["complete_bound"].get<int>();
  exploration.depends_on_seed = json["depends_on_seed"].get<bool>();
  exploration.probes = json["probes"].get<std::map<std::string, int64_t>>();
  exploration.fault_matches = json["fault_matches"].get<std::vector<int64_t>>();
  if (json.contains("seed")) {
    exploration.schedules_to_first = json["schedules_to_first"].get<int64_t>();
    exploration.violation = Violation{.seed = json["seed"].get<uint64_t>(),
                                      .decisions = json["decisions"].get<std::vector<uint32_t>>(),
                                      .status = {},
                                      .trace_hash = {},
                                      .steps = 0};
  }
  if (json.contains("mistake")) {
    exploration.mistake = absl::Status(static_cast<absl::StatusCode>(json["code"].get<int>()),
                                       json["mistake"].get_ref<const std::string&>());
  }
  return exploration;
}

bool IsOver(const ExploreOptions& options) { return options.is_over && options.is_over(); }

bool IsLast(const ExploreOptions& options, const Exploration& result) {
  const bool is_complete = result.complete && !result.depends_on_seed;
  const bool has_found = options.stop_at_first && result.violation.has_value();
  return !result.mistake.ok() || is_complete || has_found;
}

void AddPart(Exploration part, Exploration& sum) {
  if (part.violation && !sum.violation) {
    sum.schedules_to_first = sum.schedules + part.schedules_to_first;
    sum.violation = std::move(part.violation);
  }
  sum.schedules += part.schedules;
  sum.violations += part.violations;
  sum.complete = sum.complete || part.complete;
  sum.depends_on_seed = sum.depends_on_seed || part.depends_on_seed;
  sum.complete_bound = std::max(sum.complete_bound, part.complete_bound);
  for (const auto& [name, count] : part.probes) sum.probes[name] += count;
  sum.fault_matches.resize(std::max(sum.fault_matches.size(), part.fault_matches.size()));
  for (size_t i = 0; i < part.fault_matches.size(); ++i) {
    sum.fault_matches[i] += part.fault_matches[i];
  }
  sum.mistake = std::move(part.mistake);
}

}  // namespace redouble::inline v0_1::sim
