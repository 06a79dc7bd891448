#include "redouble/sim/explore/strategies.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "redouble/core/store/command.h"

namespace redouble::sim {
namespace {

// Initial priorities are above those that change points assign, which are negative.
constexpr int64_t kPriorities = int64_t{1} << 40;

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

ExhaustiveDecisions::Move ExhaustiveDecisions::Move::Of(const ScheduleOption& option) {
  Move move{.actor = option.actor, .text = {}};
  if (option.request == nullptr) return move;
  for (const store::Command& command : option.request->commands())
    move.text += command.DebugString();
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

size_t ExhaustiveDecisions::Pick(size_t count) {
  if (redundant_) return 0;
  if (depth_ == path_.size()) path_.emplace_back().count = count;
  return path_[depth_++].chosen;
}

bool ExhaustiveDecisions::Chance(double) { return Pick(2) == 1; }

void ExhaustiveDecisions::OnTurn(const ScheduleOption& turn) {
  if (redundant_ || reduction_ == Reduction::kNone) return;
  const Move move = Move::Of(turn);
  turn_actor_ = turn.actor;
  turn_node_.reset();
  if (just_chose_) {
    turn_node_ = depth_ - 1;
    sleeping_ = path_[*turn_node_].sleeping;
  }
  // Only sleeping moves can continue.
  redundant_ = !just_chose_ && std::any_of(sleeping_.begin(), sleeping_.end(),
                                           [&](const Move& sleeper) { return sleeper.Is(move); });
  just_chose_ = false;
}

void ExhaustiveDecisions::OnTurnDone(const Footprint& footprint) {
  if (redundant_) return;
  if (turn_node_) {
    Node& node = path_[*turn_node_];
    node.options[node.chosen].footprint.Merge(footprint);
  }
  std::erase_if(sleeping_, [&](const Move& sleeper) {
    return sleeper.actor == turn_actor_ || !sleeper.footprint.IsIndependentOf(footprint);
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
      if (++node.chosen < node.count) return true;
    } else {
      if (reduction_ == Reduction::kSleepSets) node.sleeping.push_back(node.options[node.chosen]);
      if (ChooseAwake(node, node.chosen + 1)) return true;
    }
    path_.pop_back();
  }
  return false;
}

}  // namespace redouble::sim
