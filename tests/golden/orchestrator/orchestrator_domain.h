// The orchestrator for the domain replay. Its goldens have only commands. A command that represents
// an operation of the system is replaced by that operation on the same connection, whose result
// must give the recorded reply:
//
//   | command                                        | operation                                  |
//   | ---------------------------------------------- | ------------------------------------------ |
//   | EVAL @apply_delta_seed, @apply_delta_guarded   | ApplyDelta, ApplyDeltaGuarded              |
//   | EVAL @hitl_pause, @hitl_decide                 | PauseForApproval, DecideApproval           |
//   | EVAL @join_quiesce, @finish_run                | QuiesceJoins, FinishRun                    |
//   | LMOVE to a processing list, LREM from it       | SignalQueue::TakeNow, Done                 |
//   | RPUSH of a signal in this project's format     | PushSignal                                 |
//   | SET ir:* KEEPTTL XX                            | ReplaceIr                                  |
//   | PUBLISH of an event in this project's format   | PublishRunEvent                            |
//   | GET, SET EX 3600 and DEL of cache:*            | ResultCache                                |
//
// All other commands are sent unchanged. So are calls that the operation would do in another way,
// because they name fewer keys or write a malformed approval. @join_arrive is sent unchanged too:
// its operation sets the TTL that the recorder set by a separate command
// (core/orchestrator/scripts/script_texts_test.cc compares the two scripts).
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_ORCHESTRATOR_ORCHESTRATOR_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_ORCHESTRATOR_ORCHESTRATOR_DOMAIN_H_

#include "redouble/tests/golden/replay/domain.h"

namespace redouble::inline v0_1::golden {

Domain OrchestratorDomain();

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_ORCHESTRATOR_ORCHESTRATOR_DOMAIN_H_
