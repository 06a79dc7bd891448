#include "sim/explore/strategies.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "core/store/command.h"
#include "core/store/command_table.h"

namespace redouble::sim {
namespace {

using store::Command;
using store::CommandId;

// Above all that a change point gives, which are negative.
constexpr int64_t kPriorities = int64_t{1} << 40;

bool Intersect(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& key) { return b.contains(key); });
}

// False when the command does not say which keys it touches.
bool AddKeys(const Command& command, Footprint& footprint) {
  if (command.id() == CommandId::kUnknown) return false;
  const store::CommandSpec& spec = store::SpecOf(command.id());
  const std::optional<std::vector<size_t>> indexes = store::KeyIndexes(spec, command.arguments());
  if (!indexes.has_value() || indexes->empty()) return false;
  std::set<std::string>& keys =
      spec.Has(store::command_flag::kReadOnly) ? footprint.reads : footprint.writes;
  for (const size_t index : *indexes) keys.emplace(command.arguments()[index]);
  return true;
}

}  // namespace

PctDecisions::PctDecisions(uint64_t seed, int preemptions, int64_t expected_turns) : rng_(seed) {
  assert(expected_turns >= 1);
  for (int i = 0; i < preemptions; ++i) change_points_.insert(rng_.Between(1, expected_turns));
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

void PctDecisions::OnTurn(const ScheduleOption& turn) {
  if (change_points_.contains(++turns_)) priorities_[turn.actor] = --lowest_;
}

Footprint Footprint::Of(const ScheduleOption& turn) {
  Footprint footprint;
  if (turn.request == nullptr) return footprint;
  for (const Command& command : turn.request->commands()) {
    if (!AddKeys(command, footprint)) footprint.touches_all = true;
  }
  return footprint;
}

bool Footprint::IsIndependentOf(const Footprint& other) const {
  const bool is_nothing = !touches_all && reads.empty() && writes.empty();
  const bool is_other_nothing = !other.touches_all && other.reads.empty() && other.writes.empty();
  if (is_nothing || is_other_nothing) return true;
  if (touches_all || other.touches_all) return false;
  return !Intersect(writes, other.writes) && !Intersect(writes, other.reads) &&
         !Intersect(reads, other.writes);
}

ExhaustiveDecisions::Move ExhaustiveDecisions::Move::Of(const ScheduleOption& option) {
  Move move{.actor = option.actor, .text = {}, .footprint = Footprint::Of(option)};
  if (option.request == nullptr) return move;
  for (const Command& command : option.request->commands()) move.text += command.DebugString();
  return move;
}

size_t ExhaustiveDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  if (redundant_) return 0;
  if (depth_ == path_.size()) {
    Node node;
    for (const ScheduleOption& option : options) node.options.push_back(Move::Of(option));
    node.sleeping = sleeping_;
    if (!ChooseAwake(node, 0)) {
      redundant_ = true;
      return 0;
    }
    path_.push_back(std::move(node));
  }
  just_chose_ = true;
  return path_[depth_++].chosen;
}

bool ExhaustiveDecisions::ChooseAwake(Node& node, size_t first) {
  for (size_t i = first; i < node.options.size(); ++i) {
    const Move& option = node.options[i];
    const bool sleeps = std::any_of(node.sleeping.begin(), node.sleeping.end(),
                                    [&](const Move& sleeper) { return sleeper.Is(option); });
    if (sleeps) continue;
    node.chosen = i;
    return true;
  }
  return false;
}

bool ExhaustiveDecisions::Chance(double) {
  if (redundant_) return false;
  if (depth_ == path_.size()) path_.emplace_back();
  const bool happens = path_[depth_++].chosen == 1;
  // A fault may touch anything.
  if (happens) sleeping_.clear();
  return happens;
}

void ExhaustiveDecisions::OnTurn(const ScheduleOption& turn) {
  if (redundant_) return;
  const Move move = Move::Of(turn);
  if (just_chose_) sleeping_ = path_[depth_ - 1].sleeping;
  // Nobody but a sleeper can go on.
  redundant_ = !just_chose_ && std::any_of(sleeping_.begin(), sleeping_.end(),
                                           [&](const Move& sleeper) { return sleeper.Is(move); });
  just_chose_ = false;
  std::erase_if(sleeping_, [&](const Move& sleeper) {
    return sleeper.actor == turn.actor || !sleeper.footprint.IsIndependentOf(move.footprint);
  });
}

bool ExhaustiveDecisions::Next() {
  depth_ = 0;
  redundant_ = false;
  just_chose_ = false;
  sleeping_.clear();
  while (!path_.empty()) {
    Node& node = path_.back();
    if (node.options.empty()) {
      if (node.chosen++ == 0) return true;
    } else {
      node.sleeping.push_back(node.options[node.chosen]);
      if (ChooseAwake(node, node.chosen + 1)) return true;
    }
    path_.pop_back();
  }
  return false;
}

}  // namespace redouble::sim
