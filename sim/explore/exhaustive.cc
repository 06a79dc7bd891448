#include "redouble/sim/explore/exhaustive.h"

#include <algorithm>
#include <utility>

namespace redouble::inline v0_1::sim {

bool ExhaustiveDecisions::Node::Offers(int actor) const {
  return std::any_of(options.begin(), options.end(),
                     [&](const Move& option) { return option.actor == actor; });
}

void ExhaustiveDecisions::Node::AddAllActors() {
  for (const Move& option : options) actors.insert(option.actor);
}

void ExhaustiveDecisions::Node::Add(std::optional<int> actor) {
  if (!actor) return AddAllActors();
  actors.insert(*actor);
}

bool ExhaustiveDecisions::Node::ChooseAwake(size_t first) {
  for (size_t i = first; i < options.size(); ++i) {
    const Move& option = options[i];
    const bool sleeps = std::any_of(sleeping.begin(), sleeping.end(),
                                    [&](const Move& sleeper) { return sleeper.Is(option); });
    if (sleeps || (!actors.empty() && !actors.contains(option.actor))) continue;
    chosen = i;
    actors.insert(option.actor);
    return true;
  }
  return false;
}

bool ExhaustiveDecisions::Turn::IsAfter(size_t number, const Turn& earlier) const {
  const auto index = static_cast<size_t>(earlier.actor);
  return number < clock_moved || (index < before.size() && number < before[index]);
}

void ExhaustiveDecisions::Turn::Join(size_t number, const Turn& earlier) {
  const auto index = static_cast<size_t>(earlier.actor);
  before.resize(std::max({before.size(), earlier.before.size(), index + 1}));
  for (size_t i = 0; i < earlier.before.size(); ++i) {
    before[i] = std::max(before[i], earlier.before[i]);
  }
  before[index] = std::max(before[index], number + 1);
}

std::vector<ExhaustiveDecisions::Move> ExhaustiveDecisions::MovesOf(
    std::span<const ScheduleOption> options) {
  std::vector<Move> moves;
  for (const ScheduleOption& option : options) {
    const auto before = std::count_if(moves.begin(), moves.end(),
                                      [&](const Move& move) { return move.actor == option.actor; });
    moves.push_back(Move{.actor = option.actor, .ordinal = static_cast<size_t>(before)});
  }
  return moves;
}

size_t ExhaustiveDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  if (redundant_) return 0;
  if (depth_ == path_.size()) {
    Node node{.options = MovesOf(options), .turn = turns_done_, .sleeping = sleeping_};
    if (reduction_ != Reduction::kSourceSets) node.AddAllActors();
    if (!node.ChooseAwake(0)) {
      redundant_ = true;
      return 0;
    }
    // No run need show that these are possible here: the next turn may remove the clock's timer.
    for (const ScheduleOption& option : options) {
      if (option.moves_clock || option.may_vanish) node.actors.insert(option.actor);
    }
    path_.push_back(std::move(node));
  }
  just_chose_ = true;
  return path_[depth_++].chosen;
}

size_t ExhaustiveDecisions::Pick(size_t count) {
  if (redundant_) return 0;
  if (depth_ == path_.size()) path_.push_back(Node{.count = count, .turn = turns_done_});
  return path_[depth_++].chosen;
}

bool ExhaustiveDecisions::Chance(double) {
  if (faults_ >= max_faults_) {
    limited_ = true;
    return false;
  }
  const bool happens = Pick(2) == 1;
  faults_ += happens ? 1 : 0;
  return happens;
}

void ExhaustiveDecisions::OnTurn(const ScheduleOption& turn) {
  if (redundant_ || reduction_ == Reduction::kNone) return;
  turn_node_.reset();
  if (just_chose_) {
    turn_node_ = depth_ - 1;
    sleeping_ = path_[*turn_node_].sleeping;
  }
  // A turn without an alternative is the first one of its actor.
  redundant_ =
      !just_chose_ && std::any_of(sleeping_.begin(), sleeping_.end(), [&](const Move& sleeper) {
        return sleeper.Is({.actor = turn.actor, .ordinal = 0});
      });
  just_chose_ = false;
}

void ExhaustiveDecisions::OnTurnDone(const TurnReport& report) {
  if (redundant_) return;
  checks_grew_ = checks_.Merge(report.checks) || checks_grew_;
  Footprint footprint = report.footprint;
  footprint.MarkIfVisibleTo(checks_);
  if (turn_node_) {
    Node& node = path_[*turn_node_];
    node.options[node.chosen].footprint.Merge(footprint);
  }
  std::erase_if(sleeping_, [&](const Move& sleeper) {
    return sleeper.actor == report.actor || !sleeper.footprint.IsIndependentOf(footprint);
  });
  // The turns before the last change of the path are those of the last run.
  if (reduction_ == Reduction::kSourceSets && turns_done_ == turns_.size()) {
    AddTurn(report.actor, footprint);
  }
  ++turns_done_;
}

void ExhaustiveDecisions::AddTurn(int actor, const Footprint& footprint) {
  Turn turn{.actor = actor,
            .node = turn_node_,
            .footprint = footprint,
            .clock_moved = clock_moved_,
            .before = {}};
  for (size_t i = turns_.size(); i > 0; --i) {
    if (turns_[i - 1].actor != actor) continue;
    turn.Join(i - 1, turns_[i - 1]);
    break;
  }
  std::vector<size_t> races;
  for (size_t i = turns_.size(); i > clock_moved_; --i) {
    const Turn& earlier = turns_[i - 1];
    if (turn.IsAfter(i - 1, earlier) || earlier.footprint.IsIndependentOf(footprint)) continue;
    races.push_back(i - 1);
    turn.Join(i - 1, earlier);
  }
  turns_.push_back(std::move(turn));
  for (const size_t first : races) ReverseRace(first, turns_.size() - 1);
}

// The actors that can begin a run in which the second turn comes before the first one: those whose
// next turn after `first` does not follow from it, nor from another one that does not.
std::set<int> ExhaustiveDecisions::Initials(size_t first, size_t second) const {
  std::vector<size_t> others;
  std::set<int> initials;
  for (size_t i = first + 1; i <= second; ++i) {
    if (i != second && turns_[i].IsAfter(first, turns_[first])) continue;
    const bool is_initial = std::none_of(others.begin(), others.end(), [&](size_t other) {
      return turns_[i].IsAfter(other, turns_[other]);
    });
    if (is_initial) initials.insert(turns_[i].actor);
    others.push_back(i);
  }
  return initials;
}

void ExhaustiveDecisions::Try(size_t node, const std::set<int>& initials,
                              std::optional<int> actor) {
  path_[node].Add(actor);
  if (node < fixed_) claims_.push_back({.node = node, .initials = initials, .actor = actor});
}

void ExhaustiveDecisions::ReverseRace(size_t first, size_t second) {
  if (!turns_[first].node) return;
  const size_t index = *turns_[first].node;
  const Node& node = path_[index];
  const std::set<int> initials = Initials(first, second);
  std::set<int> possible;
  for (const int actor : initials) {
    if (node.actors.contains(actor)) return;
    if (node.Offers(actor)) possible.insert(actor);
  }
  const int second_actor = turns_[second].actor;
  if (!possible.empty()) {
    Try(index, initials, possible.contains(second_actor) ? second_actor : *possible.begin());
  } else if (!turns_[first].footprint.Continues(second_actor)) {
    Try(index, initials, std::nullopt);
  }
  // Otherwise the first turn made the second one possible, so there is no other order.
}

void ExhaustiveDecisions::OnRunEnd(std::span<const ScheduleOption> pending) {
  if (redundant_ || reduction_ != Reduction::kSourceSets) return;
  // What a turn that was not taken would have done is not known, so it is tried everywhere.
  for (const ScheduleOption& option : pending) {
    for (size_t i = path_.size(); i > 0; --i) {
      const Node& node = path_[i - 1];
      if (!node.IsChoice()) continue;
      if (node.options[node.chosen].actor == option.actor) break;
      if (!node.Offers(option.actor) || node.actors.contains(option.actor)) continue;
      Try(i - 1, {option.actor}, option.actor);
    }
  }
}

void ExhaustiveDecisions::Resume(std::vector<Node> path, size_t fixed, const Footprint& checks) {
  path_ = std::move(path);
  fixed_ = fixed;
  checks_ = checks;
}

bool ExhaustiveDecisions::Next() {
  faults_ = 0;
  depth_ = 0;
  turns_done_ = 0;
  clock_moved_ = 0;
  redundant_ = false;
  just_chose_ = false;
  sleeping_.clear();
  if (std::exchange(checks_grew_, false)) {
    // What invariants read decides which turns commute, so what was left out is to be done again.
    must_restart_ = has_ended_ = fixed_ > 0;
    if (must_restart_) return false;
    path_.clear();
    turns_.clear();
    return true;
  }
  while (path_.size() > fixed_) {
    Node& node = path_.back();
    turns_.resize(std::min(turns_.size(), node.turn));
    if (!node.IsChoice()) {
      if (++node.chosen < node.count) return true;
    } else {
      if (reduction_ != Reduction::kNone) node.sleeping.push_back(node.options[node.chosen]);
      // With source sets, an actor may have been added before the chosen one.
      const size_t first = reduction_ == Reduction::kNone ? node.chosen + 1 : 0;
      if (node.ChooseAwake(first)) return true;
    }
    path_.pop_back();
  }
  has_ended_ = true;
  return false;
}

}  // namespace redouble::inline v0_1::sim
