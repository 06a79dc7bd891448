#include "redouble/sim/explore/strategies.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "redouble/backends/memory/keyspace/command_accesses.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::sim {
namespace {

// Initial priorities are above those that change points assign, which are negative.
constexpr int64_t kPriorities = int64_t{1} << 40;
// A mutation moves up to so many turns.
constexpr uint64_t kMaxMoves = 3;
// A mutation draws a decision about a fault again with this probability.
constexpr double kRedrawn = 0.1;

// What a request accesses, as far as its commands show. A script may access more.
Footprint Declared(const store::Request* request) {
  Footprint footprint;
  if (request == nullptr) return footprint;
  for (const store::Command& command : request->commands()) {
    if (command.id() == store::CommandId::kUnknown) continue;
    memory::ReportAccesses(command.id(), command.arguments(), footprint);
    const store::CommandSpec& spec = store::SpecOf(command.id());
    const auto keys = store::KeyIndexes(spec, command.arguments());
    if (!keys || spec.Has(store::command_flag::kReadOnly)) continue;
    for (const size_t index : *keys) footprint.OnWrite(command.arguments()[index]);
  }
  return footprint;
}

}  // namespace

PctDecisions::PctDecisions(uint64_t seed, int preemptions, int64_t expected_turns,
                           const RunMemory* memory)
    : DrawnDecisions(seed), memory_(memory) {
  assert(expected_turns >= 1);
  for (int64_t i = 1; i <= preemptions; ++i) {
    change_points_.emplace(rng_.Between(1, expected_turns), -i);
  }
}

int64_t PctDecisions::PriorityOf(int actor) {
  const auto found = priorities_.find(actor);
  if (found != priorities_.end()) return found->second;
  int64_t priority = 0;
  const auto is_taken = [&](const auto& other) { return other.second == priority; };
  do {
    priority = rng_.Between(1, kPriorities);
  } while (std::any_of(priorities_.begin(), priorities_.end(), is_taken));
  return priorities_.emplace(actor, priority).first->second;
}

size_t PctDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  size_t best = 0;
  for (size_t i = 1; i < options.size(); ++i) {
    if (PriorityOf(options[i].actor) > PriorityOf(options[best].actor)) best = i;
  }
  return best;
}

void PctDecisions::Count(int actor) {
  const auto change = change_points_.find(++turns_);
  if (change != change_points_.end()) priorities_[actor] = change->second;
}

void PctDecisions::OnTurn(const ScheduleOption& turn) {
  if (memory_ == nullptr) Count(turn.actor);
}

void PctDecisions::OnTurnDone(const TurnReport& report) {
  if (memory_ == nullptr) return;
  const bool is_first = started_.insert(report.actor).second;
  if (is_first || !memory_->IsPrivate(report)) Count(report.actor);
}

uint64_t WalkDecisions::WeightOf(int actor) const {
  const auto taken = taken_.find(actor);
  const int64_t left =
      memory_.ConflictingTurnsOf(actor) - (taken == taken_.end() ? 0 : taken->second);
  // An actor that has taken more turns than in the runs so far may still have some left.
  return static_cast<uint64_t>(std::max<int64_t>(left, 1));
}

size_t WalkDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  uint64_t total = 0;
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i].actor == current_) return i;
    total += WeightOf(options[i].actor);
  }
  uint64_t drawn = rng_.Below(total);
  size_t chosen = 0;
  while (drawn >= WeightOf(options[chosen].actor)) drawn -= WeightOf(options[chosen++].actor);
  current_ = options[chosen].actor;
  return chosen;
}

void WalkDecisions::OnTurnDone(const TurnReport& report) {
  if (memory_.IsPrivate(report)) return;
  ++taken_[report.actor];
  if (report.actor == current_) current_ = -1;
}

size_t PartialOrderDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  std::map<int, int> ordinals;
  pending_.clear();
  size_t best = 0;
  std::pair<int, int> best_move;
  uint64_t best_priority = 0;
  for (size_t i = 0; i < options.size(); ++i) {
    const std::pair<int, int> move(options[i].actor, ordinals[options[i].actor]++);
    const auto [entry, is_new] = priorities_.try_emplace(move, 0);
    if (is_new) entry->second = rng_.Next();
    pending_.emplace(move, Declared(options[i].request));
    if (i != 0 && entry->second <= best_priority) continue;
    best = i;
    best_move = move;
    best_priority = entry->second;
  }
  pending_.erase(best_move);
  return best;
}

void PartialOrderDecisions::OnTurn(const ScheduleOption& turn) {
  std::erase_if(priorities_, [&](const auto& entry) { return entry.first.first == turn.actor; });
}

void PartialOrderDecisions::OnTurnDone(const TurnReport& report) {
  for (const auto& [move, footprint] : pending_) {
    if (!footprint.IsIndependentOf(report.footprint)) priorities_.erase(move);
  }
}

MutatedDecisions::MutatedDecisions(uint64_t seed, RunMemory::Run run)
    : DrawnDecisions(seed), run_(std::move(run)) {
  std::vector<int>& actors = run_.actors;
  if (actors.size() < 2) return;
  const uint64_t moves = rng_.Below(kMaxMoves) + 1;
  for (uint64_t i = 0; i < moves; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(rng_.Below(actors.size()));
    const int actor = actors[static_cast<size_t>(from)];
    actors.erase(actors.begin() + from);
    const auto to = static_cast<std::ptrdiff_t>(rng_.Below(actors.size() + 1));
    actors.insert(actors.begin() + to, actor);
  }
}

size_t MutatedDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  for (const int actor : run_.actors) {
    const auto found =
        std::find_if(options.begin(), options.end(),
                     [&](const ScheduleOption& option) { return option.actor == actor; });
    if (found != options.end()) return static_cast<size_t>(found - options.begin());
  }
  return 0;
}

void MutatedDecisions::OnTurn(const ScheduleOption& turn) {
  const auto found = std::find(run_.actors.begin(), run_.actors.end(), turn.actor);
  if (found != run_.actors.end()) run_.actors.erase(found);
}

std::optional<uint32_t> MutatedDecisions::NextAnswer() {
  if (answers_ == run_.answers.size()) return std::nullopt;
  const uint32_t answer = run_.answers[answers_++];
  if (rng_.Chance(kRedrawn)) return std::nullopt;
  return answer;
}

size_t MutatedDecisions::Pick(size_t count) {
  const size_t drawn = DrawnDecisions::Pick(count);
  const std::optional<uint32_t> repeated = NextAnswer();
  return repeated && *repeated < count ? *repeated : drawn;
}

bool MutatedDecisions::Chance(double probability) {
  const bool drawn = DrawnDecisions::Chance(probability);
  const std::optional<uint32_t> repeated = NextAnswer();
  return repeated ? *repeated == 1 : drawn;
}

}  // namespace redouble::inline v0_1::sim
