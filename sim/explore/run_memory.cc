#include "redouble/sim/explore/run_memory.h"

#include <algorithm>

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kMaxInteresting = 256;
// Worlds with more pairs of turns show something new in each run, which guides no search.
constexpr size_t kMaxFollows = 100'000;

}  // namespace

int64_t RunMemory::ConflictingTurnsOf(int actor) const {
  const auto found = turns_of_.find(actor);
  return found == turns_of_.end() ? 0 : found->second;
}

size_t RememberingDecisions::Pick(size_t count) {
  const size_t picked = source_.Pick(count);
  run_.answers.push_back(static_cast<uint32_t>(picked));
  return picked;
}

bool RememberingDecisions::Chance(double probability) {
  const bool happens = source_.Chance(probability);
  run_.answers.push_back(happens ? 1 : 0);
  return happens;
}

void RememberingDecisions::OnTurn(const ScheduleOption& turn) {
  run_.actors.push_back(turn.actor);
  source_.OnTurn(turn);
}

void RememberingDecisions::Follow(const std::string& key, bool writes, RunMemory::TurnId turn) {
  const auto [last, is_first] = last_writes_.try_emplace(key, -1, 0);
  if (memory_.follows_.size() < kMaxFollows && last->second.first != turn.first &&
      memory_.follows_.emplace(std::pair(last->second, turn), key).second) {
    is_interesting_ = true;
  }
  if (writes) last->second = turn;
}

void RememberingDecisions::OnTurnDone(const TurnReport& report) {
  memory_.conflicts_.Add(report.actor, report.footprint);
  const RunMemory::TurnId turn(report.actor, turns_of_[report.actor]++);
  if (!memory_.IsPrivate(report)) {
    ++conflicting_turns_of_[report.actor];
    for (const std::string& key : report.footprint.reads()) Follow(key, /*writes=*/false, turn);
    for (const std::string& key : report.footprint.writes()) Follow(key, /*writes=*/true, turn);
  }
  if (source_.WantsFootprints()) source_.OnTurnDone(report);
}

void RememberingDecisions::Finish() {
  int64_t all = 0;
  for (const auto& [actor, turns] : conflicting_turns_of_) {
    int64_t& most = memory_.turns_of_[actor];
    most = std::max(most, turns);
    all += turns;
  }
  memory_.conflicting_turns_ = std::max(memory_.conflicting_turns_, all);
  if (!is_interesting_) return;
  if (memory_.interesting_.size() == kMaxInteresting) {
    memory_.interesting_.erase(memory_.interesting_.begin());
  }
  memory_.interesting_.push_back(std::move(run_));
}

}  // namespace redouble::inline v0_1::sim
