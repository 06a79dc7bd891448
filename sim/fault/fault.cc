#include "sim/fault/fault.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "core/base/glob.h"
#include "core/base/string_bridge.h"
#include "core/store/command_table.h"

namespace redouble::sim {
namespace {

using store::Command;

constexpr std::array kFaults = {
    FaultSpec{Fault::kDropRequest, "drop_request", FaultScope::kRequest,
              "It never reaches the server; the actor is told that the outcome is unknown."},
    FaultSpec{Fault::kDropReply, "drop_reply", FaultScope::kRequest,
              "It is executed; the actor is told that the outcome is unknown."},
    FaultSpec{Fault::kDelay, "delay", FaultScope::kRequest,
              "It is sent only after a while, during which the clock moves on."},
    FaultSpec{Fault::kDuplicate, "duplicate", FaultScope::kRequest,
              "It is executed twice, as by a client that retries; the second reply counts."},
    FaultSpec{Fault::kErrorReply, "error_reply", FaultScope::kRequest,
              "The server refuses it with an error (OOM, READONLY, LOADING, BUSY, CLUSTERDOWN)."},
    FaultSpec{Fault::kDisconnect, "disconnect", FaultScope::kRequest,
              "Its connection closes before it is sent: MULTI, WATCH and SELECT are forgotten."},
    FaultSpec{
        Fault::kCrash, "crash", FaultScope::kActor,
        "The actor dies before it sends the request, and starts anew after a while or never."},
    FaultSpec{Fault::kSkewClock, "skew_clock", FaultScope::kActor,
              "The actor's clock is ahead of the server's, or behind it, from then on."},
    FaultSpec{Fault::kStepClock, "step_clock", FaultScope::kActor,
              "The actor's clock jumps, forwards or backwards."},
    FaultSpec{Fault::kFlush, "flush", FaultScope::kServer,
              "All keys are gone, as after FLUSHALL; connections stay."},
    FaultSpec{Fault::kRestart, "restart", FaultScope::kServer,
              "The server dies and comes back empty. Every connection breaks."},
    FaultSpec{Fault::kRestartFromSnapshot, "restart_from_snapshot", FaultScope::kServer,
              "The server dies and comes back with the data of an earlier moment, as from an RDB."},
    FaultSpec{Fault::kRestartLosingTail, "restart_losing_tail", FaultScope::kServer,
              "The server dies and comes back without the writes of the last while, as from an AOF "
              "synchronised every second."},
    FaultSpec{Fault::kFailover, "failover", FaultScope::kServer,
              "A replica takes over that has not seen the last writes. Every connection breaks."},
    FaultSpec{Fault::kEvict, "evict", FaultScope::kServer,
              "Some keys go, as under maxmemory; which ones, the seed says."},
};

bool MatchesKey(const Command& command, std::string_view glob) {
  if (command.id() == store::CommandId::kUnknown) return false;
  const std::optional<std::vector<size_t>> indexes =
      store::KeyIndexes(store::SpecOf(command.id()), command.arguments());
  if (!indexes.has_value()) return false;
  return std::any_of(indexes->begin(), indexes->end(), [&](size_t index) {
    return base::GlobMatch(glob, command.arguments()[index]);
  });
}

bool Matches(const FaultRule& rule, const Command& command) {
  if (!rule.command.empty() &&
      !absl::EqualsIgnoreCase(base::ToAbsl(rule.command), base::ToAbsl(command.name()))) {
    return false;
  }
  return rule.key.empty() || MatchesKey(command, rule.key);
}

bool Matches(const FaultRule& rule, std::string_view actor, const store::Request& request,
             absl::Time now) {
  if (!rule.actor.empty() && rule.actor != actor) return false;
  if (now < rule.from || now >= rule.until) return false;
  const std::span<const Command> commands = request.commands();
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& command) { return Matches(rule, command); });
}

}  // namespace

std::span<const FaultSpec> AllFaults() { return kFaults; }

const FaultSpec& SpecOf(Fault fault) {
  const FaultSpec& spec = kFaults[static_cast<size_t>(fault)];
  assert(spec.fault == fault);
  return spec;
}

const FaultSpec* FindFaultSpec(std::string_view name) {
  const auto found = std::find_if(kFaults.begin(), kFaults.end(),
                                  [&](const FaultSpec& spec) { return spec.name == name; });
  return found == kFaults.end() ? nullptr : &*found;
}

FaultPlan::FaultPlan(std::vector<FaultRule> rules) {
  for (FaultRule& rule : rules) states_.push_back(State{.rule = std::move(rule)});
}

const FaultRule* FaultPlan::Draw(std::string_view actor, const store::Request& request,
                                 absl::Time now, DecisionSource& decisions) {
  for (State& state : states_) {
    if (!Matches(state.rule, actor, request, now) || !Fires(state, decisions)) continue;
    ++inflicted_;
    return &state.rule;
  }
  return nullptr;
}

bool FaultPlan::Fires(State& state, DecisionSource& decisions) {
  ++state.matches;
  const FaultRule& rule = state.rule;
  if (state.fired == rule.limit) return false;
  if (rule.nth > 0 ? state.matches != rule.nth : !decisions.Happens(rule.probability)) {
    return false;
  }
  ++state.fired;
  return true;
}

bool FaultPlan::Has(Fault fault) const {
  return std::any_of(states_.begin(), states_.end(),
                     [&](const State& state) { return state.rule.fault == fault; });
}

std::vector<FaultRule> DrawSwarm(std::span<const FaultRule> rules, base::Rng& rng) {
  std::vector<FaultRule> drawn;
  for (const FaultRule& rule : rules) {
    // Drawn in any case, so that the draws of one rule do not depend on the others.
    const bool is_on = rng.Chance(0.5);
    const double share = 0.1 + 0.9 * rng.Unit();
    if (!is_on) continue;
    drawn.push_back(rule);
    if (rule.nth == 0) drawn.back().probability *= share;
  }
  return drawn;
}

}  // namespace redouble::sim
