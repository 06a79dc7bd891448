#include "redouble/sim/explore/bounded.h"

#include <algorithm>

namespace redouble::inline v0_1::sim {
namespace {

// Tells apart footprints with different accesses.
std::string TextOf(int actor, const Footprint& footprint) {
  std::string text = std::to_string(actor);
  for (const std::string& key : footprint.reads()) text += "\nr" + key;
  for (const std::string& key : footprint.writes()) text += "\nw" + key;
  text += "\n" + std::to_string(footprint.read_states());
  return text + "\n" + std::to_string(footprint.written_states());
}

}  // namespace

uint32_t BoundedDecisions::Replay() {
  at_ = prefix_[made_++];
  return steps_[at_].decision;
}

uint32_t BoundedDecisions::TakeFirst() {
  steps_.push_back({at_, 0});
  at_ = steps_.size() - 1;
  return 0;
}

bool BoundedDecisions::WasVisited(bool continues) {
  // The actor that can continue without a preemption is part of the state.
  const uint64_t last = continues ? static_cast<uint64_t>(last_actor_) + 1 : 0;
  const auto [entry, is_new] = visited_.try_emplace(MixHash(hash_.Value(), last), cost_);
  if (is_new) return false;
  if (entry->second <= cost_) return true;
  entry->second = cost_;
  return false;
}

void BoundedDecisions::Push(size_t parent, size_t decision, int cost) {
  steps_.push_back({parent, static_cast<uint32_t>(decision)});
  (cost <= bound_ ? current_ : next_).push_back({steps_.size() - 1, cost});
}

void BoundedDecisions::Push(const Branch& branch) {
  for (size_t i = branch.first; i < branch.count; ++i) {
    Push(branch.parent, i, branch.cost);
  }
}

size_t BoundedDecisions::ChooseNext(std::span<const ScheduleOption> options) {
  if (redundant_) return 0;
  const bool continues = options.front().actor == last_actor_;
  const auto same_actor = [&](size_t i) {
    return std::count_if(
        options.begin(), options.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const ScheduleOption& option) { return option.actor == options[i].actor; });
  };
  branch_.reset();
  if (replays()) {
    const uint32_t decision = Replay();
    choices_ = MixHash(choices_, static_cast<uint64_t>(same_actor(decision)));
    return decision;
  }
  redundant_ = WasVisited(continues);
  if (redundant_) return 0;
  // The options of the actor that continues come first.
  size_t free = 1;
  while (free < options.size() && (!continues || options[free].actor == last_actor_)) ++free;
  for (size_t i = 1; i < free; ++i) Push(at_, i, cost_);
  size_t count = options.size();
  // No turn is private to the clock.
  if (free < count && options.back().moves_clock) Push(at_, --count, cost_ + 1);
  if (free < count) branch_ = Branch{at_, free, count, cost_ + 1};
  choices_ = MixHash(choices_, 0);
  return TakeFirst();
}

size_t BoundedDecisions::Answer(size_t count, int cost) {
  if (redundant_) return 0;
  has_faults_ = true;
  uint32_t decision = 0;
  if (replays()) {
    decision = Replay();
  } else {
    for (size_t i = 1; i < count; ++i) Push(at_, i, cost_ + cost);
    decision = TakeFirst();
  }
  choices_ = MixHash(choices_, decision + uint64_t{1});
  return decision;
}

void BoundedDecisions::OnTurnDone(const TurnReport& report) {
  if (redundant_) return;
  checks_grew_ = checks_.Merge(report.checks) || checks_grew_;
  Footprint footprint = report.footprint;
  footprint.MarkIfVisibleTo(checks_);
  hash_.AddTurn(report.actor, footprint, choices_);
  if (conflicts_.Add(report.actor, footprint)) ReleaseBranches();
  if (branch_) AddBranch(report.actor, footprint);
  branch_.reset();
  choices_ = 0;
  has_faults_ = false;
}

void BoundedDecisions::OnClockMove() {
  hash_.AddClockMove(choices_);
  choices_ = 0;
  has_faults_ = false;
  last_actor_ = -1;  // All actors were waiting, so any of them continues for free.
}

void BoundedDecisions::AddBranch(int actor, const Footprint& footprint) {
  // With other faults, the turn may access other keys.
  if (has_faults_ || !conflicts_.IsPrivate(actor, footprint)) return Push(*branch_);
  Private& group = private_[TextOf(actor, footprint)];
  group.actor = actor;
  group.footprint = footprint;
  group.branches.push_back(*branch_);
}

void BoundedDecisions::ReleaseBranches() {
  std::erase_if(private_, [&](const auto& entry) {
    const Private& group = entry.second;
    if (conflicts_.IsPrivate(group.actor, group.footprint)) return false;
    for (const Branch& branch : group.branches) Push(branch);
    return true;
  });
}

// What invariants read decides which turns commute, so what was reduced before is to be done again.
void BoundedDecisions::Restart() {
  bound_ = 0;
  steps_.resize(1);
  current_ = {Item{0, 0}};
  next_.clear();
  visited_.clear();
  private_.clear();
  conflicts_ = Conflicts();
  checks_grew_ = false;
}

bool BoundedDecisions::Next() {
  if (checks_grew_) Restart();
  while (current_.empty()) {
    if (next_.empty() || bound_ == max_bound_) return false;
    ++bound_;
    current_.swap(next_);
  }
  const Item item = current_.back();
  current_.pop_back();
  prefix_.clear();
  for (size_t step = item.step; step != 0; step = steps_[step].parent) prefix_.push_back(step);
  std::reverse(prefix_.begin(), prefix_.end());
  made_ = 0;
  at_ = 0;
  cost_ = item.cost;
  last_actor_ = -1;
  hash_.Clear();
  choices_ = 0;
  has_faults_ = false;
  branch_.reset();
  redundant_ = false;
  return true;
}

}  // namespace redouble::inline v0_1::sim
