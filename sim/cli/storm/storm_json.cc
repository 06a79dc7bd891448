#include "redouble/sim/cli/storm/storm_json.h"

#include <map>
#include <string>
#include <vector>

namespace redouble::inline v0_1::sim {

Json ToJson(const StormReport& report) {
  Json breaches = Json::array();
  for (const auto& [finding, what] : report.breaches) {
    breaches.push_back(Json::array({finding.promise, finding.section, what}));
  }
  Json json{{"run", report.run}, {"commands", report.commands}, {"actors", report.actors}};
  json["faults"] = report.faults;
  json["checks"] = report.checks;
  json["limits"] = report.limits;
  json["trace_hash"] = report.trace_hash;
  json["breaches"] = std::move(breaches);
  if (!report.mistake.ok()) json["mistake"] = std::string(report.mistake.message());
  return json;
}

StormReport ReportFromJson(const Json& json) {
  StormReport report;
  report.run = json["run"].get<int64_t>();
  report.commands = json["commands"].get<int64_t>();
  report.actors = json["actors"].get<size_t>();
  report.faults = json["faults"].get<std::map<std::string, int64_t>>();
  report.checks = json["checks"].get<std::vector<int64_t>>();
  report.limits = json["limits"].get<std::map<std::string, int64_t>>();
  report.trace_hash = json["trace_hash"].get<std::string>();
  for (const Json& row : json["breaches"]) {
    report.breaches.emplace(Finding{row[0].get<std::string>(), row[1].get<std::string>()},
                            row[2].get<std::string>());
  }
  if (json.contains("mistake")) {
    report.mistake = absl::InvalidArgumentError(json["mistake"].get_ref<const std::string&>());
  }
  return report;
}

}  // namespace redouble::inline v0_1::sim
