#include "redouble/sim/fault/fault.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Command;

constexpr std::array kFaults = {
    FaultSpec{
        .fault = Fault::kDropRequest,
        .name = "drop_request",
        .scope = FaultScope::kRequest,
        .effect = "The request never reaches the server; the client cannot know whether it did.",
        .in_server = true,
        .in_stores = true,
        .alias = "DROP"},
    FaultSpec{.fault = Fault::kDropReply,
              .name = "drop_reply",
              .scope = FaultScope::kRequest,
              .effect = "The request is executed, but its reply is lost.",
              .in_server = true,
              .in_stores = true,
              .alias = "LOSE"},
    FaultSpec{.fault = Fault::kDelay,
              .name = "delay",
              .scope = FaultScope::kRequest,
              .effect = "The request is sent only after a delay.",
              .parameter = FaultParameter::kDuration,
              .in_stores = true},
    FaultSpec{.fault = Fault::kDuplicate,
              .name = "duplicate",
              .scope = FaultScope::kRequest,
              .effect =
                  "The request is executed twice, as if a client retried it; the second reply "
                  "is returned. With split events, the copy is executed at any later turn.",
              .in_stores = true},
    FaultSpec{.fault = Fault::kErrorReply,
              .name = "error_reply",
              .scope = FaultScope::kRequest,
              .effect = "The request is not executed and gets an error reply (OOM, READONLY, "
                        "LOADING, BUSY, CLUSTERDOWN).",
              .parameter = FaultParameter::kError,
              .in_server = true,
              .in_stores = true,
              .alias = "ERROR"},
    FaultSpec{.fault = Fault::kDisconnect,
              .name = "disconnect",
              .scope = FaultScope::kRequest,
              .effect = "The connection closes before the request is sent; MULTI, WATCH and SELECT "
                        "are forgotten.",
              .in_stores = true},
    FaultSpec{.fault = Fault::kCrash,
              .name = "crash",
              .scope = FaultScope::kActor,
              .effect = "The actor crashes before it sends the request, and restarts after a while "
                        "or never.",
              .parameter = FaultParameter::kDuration},
    FaultSpec{
        .fault = Fault::kSkewClock,
        .name = "skew_clock",
        .scope = FaultScope::kActor,
        .effect = "From now on the actor's clock is ahead of the server's clock, or behind it.",
        .parameter = FaultParameter::kDuration},
    FaultSpec{.fault = Fault::kStepClock,
              .name = "step_clock",
              .scope = FaultScope::kActor,
              .effect = "The actor's clock jumps forward or backward.",
              .parameter = FaultParameter::kDuration},
    FaultSpec{.fault = Fault::kFlush,
              .name = "flush",
              .scope = FaultScope::kServer,
              .effect = "All keys are deleted, as by FLUSHALL; connections stay open.",
              .in_scenarios = true},
    FaultSpec{.fault = Fault::kRestart,
              .name = "restart",
              .scope = FaultScope::kServer,
              .effect = "The server crashes and restarts empty; all connections break.",
              .in_scenarios = true,
              .breaks_connections = true},
    FaultSpec{.fault = Fault::kRestartFromSnapshot,
              .name = "restart_from_snapshot",
              .scope = FaultScope::kServer,
              .effect = "The server crashes and restarts with the data of an earlier time, as from "
                        "an RDB file; all connections break.",
              .parameter = FaultParameter::kSnapshot,
              .breaks_connections = true,
              .restores_data = true},
    FaultSpec{.fault = Fault::kRestartLosingTail,
              .name = "restart_losing_tail",
              .scope = FaultScope::kServer,
              .effect =
                  "The server crashes and restarts without the most recent writes, as from an "
                  "AOF that is synced every second; all connections break.",
              .parameter = FaultParameter::kDuration,
              .breaks_connections = true,
              .restores_data = true},
    FaultSpec{.fault = Fault::kFailover,
              .name = "failover",
              .scope = FaultScope::kServer,
              .effect = "A replica that has not received the last writes takes over; all "
                        "connections break.",
              .parameter = FaultParameter::kCount,
              .breaks_connections = true,
              .restores_data = true},
    FaultSpec{
        .fault = Fault::kEvict,
        .name = "evict",
        .scope = FaultScope::kServer,
        .effect =
            "Some keys are evicted, as under maxmemory; a decision of the run says which ones.",
        .parameter = FaultParameter::kCount},
    FaultSpec{.fault = Fault::kGiveUp,
              .name = "give_up",
              .scope = FaultScope::kRequest,
              .effect = "The client gives up after it has sent the request, and its connection "
                        "closes; a decision of the run says how many of the commands sent the "
                        "server executes, at later turns. Needs split events.",
              .needs_split_events = true},
    FaultSpec{.fault = Fault::kCrashInFlight,
              .name = "crash_in_flight",
              .scope = FaultScope::kActor,
              .effect =
                  "The actor crashes after it has sent the request, which the server executes "
                  "later, as with `give_up`, even after the restart. Needs split events.",
              .parameter = FaultParameter::kDuration,
              .needs_split_events = true},
    FaultSpec{.fault = Fault::kPartitionRequests,
              .name = "partition_requests",
              .scope = FaultScope::kActor,
              .effect = "For a while nothing that the actor sends reaches the server; it arrives "
                        "afterwards. Needs split events.",
              .parameter = FaultParameter::kDuration,
              .needs_split_events = true},
    FaultSpec{.fault = Fault::kPartitionReplies,
              .name = "partition_replies",
              .scope = FaultScope::kActor,
              .effect = "For a while the actor receives nothing from the server, which still "
                        "executes what the actor sends. Needs split events.",
              .parameter = FaultParameter::kDuration,
              .needs_split_events = true},
    FaultSpec{.fault = Fault::kPromote,
              .name = "promote",
              .scope = FaultScope::kServer,
              .effect =
                  "The replica `server` becomes the master. Writes that it has not applied are "
                  "lost. Connections to the former master break, and that server follows "
                  "the new master. Needs a world with replicas.",
              .parameter = FaultParameter::kServer,
              .breaks_connections = true},
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

std::string_view FaultScopeName(FaultScope scope) {
  constexpr std::array<std::string_view, 3> kNames = {"request", "actor", "server"};
  return kNames[static_cast<size_t>(scope)];
}

std::string_view FaultParameterName(FaultParameter parameter) {
  constexpr std::array<std::string_view, 6> kNames = {"",      "for",   "snapshot",
                                                      "count", "error", "server"};
  return kNames[static_cast<size_t>(parameter)];
}

bool FaultSpec::AppliesTo(FaultSite site) const {
  switch (site) {
    case FaultSite::kWorld:
      return true;
    case FaultSite::kScenario:
      return in_scenarios;
    case FaultSite::kServer:
      return in_server;
    case FaultSite::kStore:
      return in_stores;
  }
  return false;
}

std::span<const FaultSpec> AllFaults() { return kFaults; }

std::vector<const FaultSpec*> FaultsOf(FaultSite site) {
  std::vector<const FaultSpec*> specs;
  for (const FaultSpec& spec : kFaults) {
    if (spec.AppliesTo(site)) specs.push_back(&spec);
  }
  return specs;
}

const FaultSpec& SpecOf(Fault fault) {
  const FaultSpec& spec = kFaults[static_cast<size_t>(fault)];
  assert(spec.fault == fault);
  return spec;
}

const FaultSpec* FindFaultSpec(std::string_view name) {
  return FindFaultSpec(name, FaultSite::kWorld);
}

const FaultSpec* FindFaultSpec(std::string_view name, FaultSite site) {
  const auto found = std::find_if(kFaults.begin(), kFaults.end(), [&](const FaultSpec& spec) {
    return spec.name == name && spec.AppliesTo(site);
  });
  return found == kFaults.end() ? nullptr : &*found;
}

FaultPlan::FaultPlan(std::vector<FaultRule> rules) {
  for (FaultRule& rule : rules) states_.push_back(State{.rule = std::move(rule)});
}

const FaultRule* FaultPlan::Draw(std::string_view actor, const store::Request& request,
                                 absl::Time now, DecisionSource& decisions) {
  if (stopped_) return nullptr;
  for (State& state : states_) {
    if (!Matches(state.rule, actor, request, now) || !Fires(state, decisions)) continue;
    ++injected_;
    return &state.rule;
  }
  return nullptr;
}

bool FaultPlan::Counts(std::string_view actor, const store::Request& request,
                       absl::Time now) const {
  return std::any_of(states_.begin(), states_.end(), [&](const State& state) {
    const bool counts =
        state.rule.nth > 0 || state.rule.limit != std::numeric_limits<int64_t>::max();
    return counts && Matches(state.rule, actor, request, now);
  });
}

std::vector<int64_t> FaultPlan::matches() const {
  std::vector<int64_t> matches;
  for (const State& state : states_) matches.push_back(state.matches);
  return matches;
}

std::map<std::string, int64_t> FaultPlan::injected_by_name() const {
  std::map<std::string, int64_t> counts;
  for (const State& state : states_) {
    if (state.fired > 0) counts[std::string(SpecOf(state.rule.fault).name)] += state.fired;
  }
  return counts;
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
    // Drawn for every rule, so that the draws of one rule do not depend on the others.
    const bool is_on = rng.Chance(0.5);
    const double share = 0.1 + 0.9 * rng.Unit();
    if (!is_on) continue;
    drawn.push_back(rule);
    if (rule.nth == 0) drawn.back().probability *= share;
  }
  return drawn;
}

}  // namespace redouble::inline v0_1::sim
