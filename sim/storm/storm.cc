#include "redouble/sim/storm/storm.h"

#include <algorithm>

namespace redouble::inline v0_1::sim {

FaultRule StormFault(Fault fault, double probability, int64_t limit, absl::Duration duration) {
  FaultRule rule{.fault = fault};
  rule.probability = probability;
  rule.limit = limit;
  rule.duration = duration;
  return rule;
}

std::vector<FaultRule> ClientFaults() {
  return {
      StormFault(Fault::kDropRequest, 0.05),
      StormFault(Fault::kDropReply, 0.05),
      StormFault(Fault::kDelay, 0.05, 5, absl::Milliseconds(700)),
      StormFault(Fault::kDuplicate, 0.05),
      StormFault(Fault::kErrorReply, 0.05),
      StormFault(Fault::kDisconnect, 0.05),
      StormFault(Fault::kCrash, 0.03, 3, absl::Seconds(3)),
      StormFault(Fault::kSkewClock, 0.02, 1, absl::Seconds(40)),
      StormFault(Fault::kStepClock, 0.03, 2, absl::Seconds(-90)),
      StormFault(Fault::kGiveUp, 0.05),
      StormFault(Fault::kCrashInFlight, 0.03, 2, absl::Seconds(2)),
      StormFault(Fault::kPartitionRequests, 0.02, 2, absl::Seconds(4)),
      StormFault(Fault::kPartitionReplies, 0.02, 2, absl::Seconds(4)),
  };
}

// Rarely: after the loss of all data, the promises about what was stored are void.
std::vector<FaultRule> ServerFaults() {
  std::vector<FaultRule> rules = {
      StormFault(Fault::kFlush, 0.003, 1),
      StormFault(Fault::kRestart, 0.003, 1),
      StormFault(Fault::kRestartLosingTail, 0.003, 1, absl::Seconds(1)),
      StormFault(Fault::kFailover, 0.003, 1),
      StormFault(Fault::kEvict, 0.003, 1),
  };
  rules[3].count = 3;
  return rules;
}

namespace {

// The fewest actors of a role that is drawn by swarm, if a run has any.
constexpr int kSeveral = 3;

bool IsDrawnBySwarm(const StormRole& role) { return role.least == 0 && role.most >= kSeveral; }

int DrawActors(const StormRole& role, base::Rng& rng) {
  if (!IsDrawnBySwarm(role)) return static_cast<int>(rng.Between(role.least, role.most));
  return rng.Chance(0.5) ? static_cast<int>(rng.Between(kSeveral, role.most)) : 0;
}

int MostOperations(const StormRole& role, int actors) {
  if (!IsDrawnBySwarm(role) || actors == 0) return role.operations;
  return std::clamp(kSharedOperations / actors, 1, role.operations);
}

}  // namespace

StormPlan DrawPlan(const StormSystem& system, base::Rng& rng) {
  StormPlan plan;
  for (size_t role = 0; role < system.roles.size(); ++role) {
    const StormRole& row = system.roles[role];
    const int actors = DrawActors(row, rng);
    for (int number = 0; number < actors; ++number) {
      StormActor& actor = plan.emplace_back(StormActor{role, number, {}});
      if (row.operations == 0) continue;
      actor.operations.resize(static_cast<size_t>(rng.Between(1, MostOperations(row, actors))));
      for (uint64_t& seed : actor.operations) seed = rng.Next();
    }
  }
  return plan;
}

size_t OperationsOf(const StormPlan& plan) {
  size_t operations = 0;
  for (const StormActor& actor : plan) operations += actor.operations.size();
  return operations;
}

}  // namespace redouble::inline v0_1::sim
