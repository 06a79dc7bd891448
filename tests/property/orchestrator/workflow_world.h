// WorkflowWorld: two random workflows in a world of coordinators, workers, approvers, timers, a
// sweeper, somebody who patches and somebody who sends signals, entries and decisions twice, who
// crash before any of their commands. A ProtocolWatch looks on behind every single one.
//
// Thread-safety: one thread.
// Source: reference/orchestrator.md 13.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/orchestrator/keys.h"
#include "core/orchestrator/mutation.h"
#include "tests/property/orchestrator/protocol_watch.h"

namespace redouble::orchestrator {

// What becomes of approvals.
enum class Deciders {
  kApprove,
  kReject,
  kNobody,  // They time out.
  kRace,    // One approves, another rejects, and the time-out comes about then.
};

struct WorkflowWorldOptions {
  uint64_t seed = 1;
  KeyForm key_form = KeyForm::kHashTagged;
  double crash_probability = 0.01;  // Of every command, a dozen times at most.
  // In place of that: whoever sends the n-th command crashes before it, once. 0: nobody.
  int64_t crash_before = 0;
  bool duplicates = true;
  bool patches = false;
  bool failures = false;  // Each run has a node that fails, if the draw has it so.
  Deciders deciders = Deciders::kApprove;
  Mutation mutation = Mutation::kNone;
  bool plain_pop = false;
  bool group_at_end = false;
  bool reclaims = true;
  // The server is a node of a cluster, which refuses what crosses slots.
  bool cluster = false;
};

struct WorldReport {
  Violations violations;  // Of the first command that broke anything, or of the end.
  std::vector<RunSummary> runs;
  int64_t commands = 0;
  int64_t crashes = 0;
  int compared = 0;  // Runs whose outcome the model knew.
  // Whether anything about these runs depends on more than their graphs.
  bool repeatable = true;
  // What broke, and what the runs looked like; empty when nothing did.
  std::string text;

  bool Broke(const std::string& invariant) const;
};

// One world, from its start to the end of both runs. The runs are compared with the outcomes that
// the routing model has for their graphs; what it does not have is called "oracle" among the
// violations.
WorldReport RunWorkflowWorld(const WorkflowWorldOptions& options);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_
