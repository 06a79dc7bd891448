#include "redouble/sim/explore/observed_run.h"

#include <algorithm>

namespace redouble::inline v0_1::sim {

size_t ObservedDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  const size_t chosen = source_.ChooseNext(options);
  const bool continues = options.front().actor == last_actor_;
  if (continues && options[chosen].actor != last_actor_) ++preemptions_;
  return chosen;
}

size_t ObservedDecisions::Pick(size_t count) {
  const size_t picked = source_.Pick(count);
  sequence_.answers[last_actor_].push_back(static_cast<uint32_t>(picked));
  return picked;
}

bool ObservedDecisions::Chance(double probability) {
  const bool happens = source_.Chance(probability);
  sequence_.answers[last_actor_].push_back(happens ? 1 : 0);
  return happens;
}

void ObservedDecisions::OnTurn(const ScheduleOption& turn) {
  last_actor_ = turn.actor;
  sequence_.actors.push_back(turn.actor);
  source_.OnTurn(turn);
}

void ObservedDecisions::Touch(const std::string& key, int actor, bool writes) {
  Users& users = users_[key];
  const auto conflict = [&](const std::set<int>& others) {
    for (const int other : others) {
      if (other != actor) follows_[{other, actor}].insert(key);
    }
  };
  conflict(users.writers);
  if (writes) conflict(users.readers);
  (writes ? users.writers : users.readers).insert(actor);
}

std::set<std::string> ObservedDecisions::Conflicts() const {
  std::set<std::string> conflicts;
  for (const auto& [actors, keys] : follows_) {
    const auto back = follows_.find({actors.second, actors.first});
    if (back == follows_.end()) continue;
    for (const std::string& first : keys) {
      for (const std::string& second : back->second) {
        const auto [less, greater] = std::minmax(first, second);
        conflicts.insert(first == second ? first : less + "/" + greater);
      }
    }
  }
  return conflicts;
}

void ObservedDecisions::OnTurnDone(const TurnReport& report) {
  for (const std::string& key : report.footprint.reads()) {
    Touch(key, report.actor, /*writes=*/false);
  }
  for (const std::string& key : report.footprint.writes()) {
    Touch(key, report.actor, /*writes=*/true);
  }
  if (source_.WantsFootprints()) source_.OnTurnDone(report);
}

void ObservedDecisions::OnClockMove() {
  last_actor_ = -1;
  source_.OnClockMove();
}

size_t SequenceDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  for (const int actor : sequence_.actors) {
    const auto found =
        std::find_if(options.begin(), options.end(),
                     [&](const ScheduleOption& option) { return option.actor == actor; });
    if (found != options.end()) return static_cast<size_t>(found - options.begin());
  }
  return 0;
}

size_t SequenceDecisions::Pick(size_t count) {
  std::vector<uint32_t>& answers = sequence_.answers[actor_];
  if (answers.empty()) return 0;
  const size_t answer = answers.front();
  answers.erase(answers.begin());
  return answer < count ? answer : 0;
}

void SequenceDecisions::OnTurn(const ScheduleOption& turn) {
  actor_ = turn.actor;
  const auto found = std::find(sequence_.actors.begin(), sequence_.actors.end(), turn.actor);
  if (found != sequence_.actors.end()) sequence_.actors.erase(found);
}

}  // namespace redouble::inline v0_1::sim
