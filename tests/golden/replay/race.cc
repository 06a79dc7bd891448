#include "redouble/tests/golden/replay/race.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"

namespace redouble::inline v0_1::golden {

RaceRecord ReadRace(const RecordedStep& step) {
  RaceRecord race;
  if (!step.result || !step.result->is_object() || !step.result->contains("trace")) return race;
  size_t next = 0;
  for (const Json& trip : (*step.result)["trace"]) {
    const std::string name = trip[0];
    auto actor = std::find_if(race.actors.begin(), race.actors.end(),
                              [&](const RaceRecord::Actor& a) { return a.name == name; });
    if (actor == race.actors.end()) actor = race.actors.insert(actor, {name, {}});
    const bool transaction = trip[1].get<std::string>().starts_with("EXEC[");
    while (next < step.commands.size()) {
      const RecordedCommand& command = step.commands[next++];
      actor->commands.push_back(&command);
      if (!transaction || absl::EqualsIgnoreCase(command.words.front(), "EXEC")) break;
    }
    race.turns.push_back({name, false});
  }
  return race;
}

Plan::Call ForeignCall(const std::string& actor, std::span<const RecordedCommand* const> recorded) {
  Json commands = Json::array();
  for (const RecordedCommand* command : recorded) commands.push_back(command->words);
  return {actor, "redis.commands", {{"commands", std::move(commands)}}};
}

void EndAsRecorded(const Json& recorded, const std::set<std::string>& foreign, Plan& plan) {
  const Json recorded_results = recorded.value("results", Json::object());
  plan.ends_in_crash = std::any_of(plan.calls.begin(), plan.calls.end(), [&](const auto& call) {
    return !recorded_results.contains(call.actor);
  });
  plan.record = [=](const std::vector<Plan::Trip>& trips, const Json& results) {
    Json result = recorded;
    result["trace"] = Json::array();
    for (const Plan::Trip& trip : trips) {
      result["trace"].push_back(Json::array({trip.actor, trip.description}));
    }
    for (const auto& [actor, value] : recorded_results.items()) {
      if (foreign.contains(actor)) continue;
      result["results"][actor] = results.contains(actor) ? results[actor] : Json("no result");
    }
    return result;
  };
}

}  // namespace redouble::inline v0_1::golden
