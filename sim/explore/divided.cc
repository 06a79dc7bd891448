#include "redouble/sim/explore/divided.h"

#include <algorithm>
#include <set>

#include "redouble/sim/decision/fields.h"

namespace redouble::inline v0_1::sim {
namespace {

using Claim = ExhaustiveDecisions::Claim;
using Move = ExhaustiveDecisions::Move;
using Node = ExhaustiveDecisions::Node;

void AppendActors(std::string& text, const std::set<int>& actors) {
  AppendNumber(text, actors.size());
  for (const int actor : actors) AppendNumber(text, static_cast<uint64_t>(actor));
}

std::set<int> TakeActors(std::string_view& text) {
  std::set<int> actors;
  for (uint64_t left = TakeNumber(text); left > 0; --left) {
    actors.insert(static_cast<int>(TakeNumber(text)));
  }
  return actors;
}

void AppendMoves(std::string& text, const std::vector<Move>& moves) {
  AppendNumber(text, moves.size());
  for (const Move& move : moves) {
    AppendNumber(text, static_cast<uint64_t>(move.actor));
    AppendNumber(text, move.ordinal);
    move.footprint.AppendTo(text);
  }
}

std::vector<Move> TakeMoves(std::string_view& text) {
  std::vector<Move> moves(TakeNumber(text));
  for (Move& move : moves) {
    move.actor = static_cast<int>(TakeNumber(text));
    move.ordinal = TakeNumber(text);
    move.footprint = Footprint::ReadFrom(text);
  }
  return moves;
}

void AppendNode(std::string& text, const Node& node) {
  AppendMoves(text, node.options);
  AppendNumber(text, node.chosen);
  AppendNumber(text, node.count);
  AppendNumber(text, node.turn);
  AppendMoves(text, node.sleeping);
  AppendActors(text, node.actors);
}

Node TakeNode(std::string_view& text) {
  Node node;
  node.options = TakeMoves(text);
  node.chosen = TakeNumber(text);
  node.count = TakeNumber(text);
  node.turn = TakeNumber(text);
  node.sleeping = TakeMoves(text);
  node.actors = TakeActors(text);
  return node;
}

void AppendClaim(std::string& text, const Claim& claim) {
  AppendNumber(text, claim.node);
  AppendActors(text, claim.initials);
  AppendNumber(text, claim.actor ? static_cast<uint64_t>(*claim.actor) + 1 : 0);
}

Claim TakeClaim(std::string_view& text) {
  Claim claim;
  claim.node = TakeNumber(text);
  claim.initials = TakeActors(text);
  const uint64_t actor = TakeNumber(text);
  if (actor > 0) claim.actor = static_cast<int>(actor) - 1;
  return claim;
}

bool IsTried(const std::set<int>& actors, const std::set<int>& initials) {
  return std::any_of(initials.begin(), initials.end(),
                     [&](int actor) { return actors.contains(actor); });
}

}  // namespace

int64_t DividedSearch::runs() const {
  return units_.size() * 2 < options_.units ? options_.first_runs : options_.runs;
}

std::vector<DividedSearch::Place> DividedSearch::PlacesOf(const Unit& unit) const {
  std::vector<Place> places;
  for (std::optional<Place> place = unit.parent; place; place = shared_.at(place->shared).parent) {
    places.push_back(*place);
  }
  std::reverse(places.begin(), places.end());
  return places;
}

ExhaustiveDecisions DividedSearch::Begin(size_t unit) const {
  std::vector<Node> path;
  for (const Place& place : PlacesOf(units_[unit])) {
    const Shared& shared = shared_.at(place.shared);
    Node& node = path.emplace_back(shared.node);
    node.chosen = place.option;
    if (!node.IsChoice()) continue;
    for (const size_t option : shared.tried) {
      if (option == place.option) break;
      node.sleeping.push_back(node.options[option]);
    }
  }
  const size_t fixed = path.size();
  path.insert(path.end(), units_[unit].path.begin(), units_[unit].path.end());
  ExhaustiveDecisions decisions(ExhaustiveDecisions::Reduction::kSourceSets, max_faults_);
  decisions.Resume(std::move(path), fixed, checks_);
  return decisions;
}

std::string DividedSearch::ToText(const ExhaustiveDecisions& decisions) {
  std::string text;
  AppendNumber(text, decisions.has_ended() ? 1 : 0);
  AppendNumber(text, decisions.must_restart() ? 1 : 0);
  AppendNumber(text, decisions.limited() ? 1 : 0);
  decisions.checks().AppendTo(text);
  for (size_t i = 0; i < decisions.fixed(); ++i) {
    const Node& node = decisions.path()[i];
    if (node.IsChoice()) node.options[node.chosen].footprint.AppendTo(text);
  }
  AppendNumber(text, decisions.claims().size());
  for (const Claim& claim : decisions.claims()) AppendClaim(text, claim);
  AppendNumber(text, decisions.path().size() - decisions.fixed());
  for (size_t i = decisions.fixed(); i < decisions.path().size(); ++i) {
    AppendNode(text, decisions.path()[i]);
  }
  return text;
}

void DividedSearch::Add(size_t unit, std::string_view text) {
  Unit& added = units_[unit];
  added.has_ended = TakeNumber(text) != 0;
  must_restart_ = TakeNumber(text) != 0 || must_restart_;
  limited_ = TakeNumber(text) != 0 || limited_;
  checks_.Merge(Footprint::ReadFrom(text));
  const std::vector<Place> places = PlacesOf(added);
  for (const Place& place : places) {
    Node& node = shared_.at(place.shared).node;
    if (node.IsChoice()) node.options[place.option].footprint.Merge(Footprint::ReadFrom(text));
  }
  for (uint64_t left = TakeNumber(text); left > 0; --left) {
    const Claim claim = TakeClaim(text);
    Node& node = shared_.at(places[claim.node].shared).node;
    if (!IsTried(node.actors, claim.initials)) node.Add(claim.actor);
  }
  added.path.clear();
  for (uint64_t left = TakeNumber(text); left > 0; --left) added.path.push_back(TakeNode(text));
}

// Returns false if the unit lies below the place, and has yet to show something that the turn
// there can do: it has taken that turn with some answers of Chance() and Pick() only.
bool DividedSearch::KnowsTheTurnOf(const Unit& unit, const Place& place) const {
  const std::vector<Place> places = PlacesOf(unit);
  size_t at = 0;
  while (at < places.size() && places[at].shared != place.shared) ++at;
  if (at == places.size() || places[at].option != place.option) return true;
  const size_t turn = shared_.at(place.shared).node.turn;
  const auto belongs = [turn](const Node& node) { return !node.IsChoice() && node.turn == turn; };
  // Of a shared decision within the turn, each answer has a unit of its own.
  for (++at; at < places.size(); ++at) {
    if (!belongs(shared_.at(places[at].shared).node)) return true;
  }
  for (const Node& node : unit.path) {
    if (!belongs(node)) return true;
    if (node.chosen + 1 < node.count) return false;
  }
  return false;  // The turn itself, or its last answer, has yet to be run.
}

bool DividedSearch::IsKnown(const Place& place) const {
  return std::all_of(units_.begin(), units_.end(),
                     [&](const Unit& unit) { return KnowsTheTurnOf(unit, place); });
}

// Makes a unit of the next option of a decision.
void DividedSearch::TryNext(size_t number) {
  Shared& shared = shared_.at(number);
  if (shared.tried.size() == shared.node.options.size() || !shared.node.IsChoice()) return;
  if (!IsKnown({number, shared.tried.back()})) return;
  Node node = shared.node;
  for (const size_t option : shared.tried) node.sleeping.push_back(node.options[option]);
  if (!node.ChooseAwake(0)) return;
  shared.node.actors = node.actors;
  shared.tried.push_back(node.chosen);
  units_.push_back(Unit{.parent = Place{number, node.chosen}});
}

// Makes units of all further answers of Chance() or Pick().
void DividedSearch::TryAllAnswers(size_t number) {
  Shared& shared = shared_.at(number);
  for (size_t answer = shared.node.chosen + 1; answer < shared.node.count; ++answer) {
    shared.tried.push_back(answer);
    units_.push_back(Unit{.parent = Place{number, answer}});
  }
}

void DividedSearch::ShareFirstDecision(size_t unit) {
  const size_t number = next_shared_++;
  Unit& owner = units_[unit];
  Node node = std::move(owner.path.front());
  owner.path.erase(owner.path.begin());
  const size_t chosen = node.chosen;
  const bool is_choice = node.IsChoice();
  shared_.emplace(number, Shared{owner.parent, std::move(node), {chosen}});
  owner.parent = Place{number, chosen};
  is_choice ? TryNext(number) : TryAllAnswers(number);
}

void DividedSearch::ShareDecisions() {
  bool has_shared = true;
  while (has_shared && units_.size() < options_.units) {
    has_shared = false;
    const size_t count = units_.size();
    for (size_t unit = 0; unit < count && units_.size() < options_.units; ++unit) {
      if (units_[unit].path.size() <= options_.kept_decisions) continue;
      ShareFirstDecision(unit);
      has_shared = true;
    }
  }
}

// No unit can ask for anything at a decision without a unit below it.
void DividedSearch::ForgetUnused() {
  std::set<size_t> used;
  for (const Unit& unit : units_) {
    for (const Place& place : PlacesOf(unit)) used.insert(place.shared);
  }
  std::erase_if(shared_, [&](const auto& entry) { return !used.contains(entry.first); });
}

void DividedSearch::EndRound() {
  if (std::exchange(must_restart_, false)) {
    shared_.clear();
    units_ = {Unit()};
    return;
  }
  std::erase_if(units_, [](const Unit& unit) { return unit.has_ended; });
  for (const auto& [number, shared] : shared_) TryNext(number);
  ShareDecisions();
  ForgetUnused();
}

}  // namespace redouble::inline v0_1::sim
