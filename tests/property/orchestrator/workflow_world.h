// WorkflowWorld: a random workflow in a world of coordinators, workers, approvers, a sweeper and
// somebody who sends signals twice, who crash before any of their commands; and what must hold
// after every single command.
//
//   | invariant | what                                                                        |
//   | --------- | --------------------------------------------------------------------------- |
//   | I1, I3    | the counter is the sum of the distinct operations that were applied         |
//   | I2        | it is never negative and never comes back                                   |
//   | I4, I5    | a run ends only when counter and pending approvals are 0, and is announced  |
//   |           | once at most                                                                |
//   | I6        | as many approvals are pending as the pending set has members                |
//   | I7        | a token is consumed behind the publication of those that follow it          |
//   | I8, I15   | each node is executed as often as the interpreter of the graph says, however |
//   |           | often signals come (graphs without loops and patches)                       |
//   | I9        | by the same comparison: a branch takes one way                              |
//   | I10       | nothing of a run is left behind its end                                     |
//   | I11, I12  | all of its keys have a time to live, within 24 hours                        |
//   | I13       | applied and context only grow                                               |
//   | I14       | two runs, the id of one the beginning of the other's, keep to all of this   |
//   | L1 to L6  | both end within hours, and queues, processing lists and pending entries are |
//   |           | empty then                                                                  |
//
// Thread-safety: one thread.
// Source: reference/orchestrator.md 13.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/orchestrator/keys.h"
#include "core/orchestrator/mutation.h"

namespace redouble::orchestrator {

struct WorkflowWorldOptions {
  uint64_t seed = 1;
  KeyForm key_form = KeyForm::kHashTagged;
  double crash_probability = 0.01;  // Of every command, a dozen times at most.
  bool patches = false;
  Mutation mutation = Mutation::kNone;
  bool plain_pop = false;
  bool group_at_end = false;
  bool reclaims = true;
  // The server is a node of a cluster, which refuses what crosses slots.
  bool cluster = false;
};

// OK when all of the above held. Errors: Internal with the invariant and what was seen.
absl::Status RunWorkflowWorld(const WorkflowWorldOptions& options);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_WORKFLOW_WORLD_H_
