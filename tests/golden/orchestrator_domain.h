// The orchestrator for the domain replay. Its goldens record commands only; those that stand for an
// operation of the system are done by that operation, on the same connection, and must be answered
// as the command was:
//
//   | command                                        | operation                                  |
//   | ---------------------------------------------- | ------------------------------------------ |
//   | EVAL @apply_delta_seed, @apply_delta_guarded   | ApplyDelta, ApplyDeltaGuarded              |
//   | EVAL @hitl_pause, @hitl_decide                 | PauseForApproval, DecideApproval           |
//   | EVAL @join_quiesce, @finish_run                | QuiesceJoins, FinishRun                    |
//   | LMOVE to a processing list, LREM from it       | SignalQueue::TakeNow, Done                 |
//   | RPUSH of a signal as this project writes it    | PushSignal                                 |
//   | SET ir:* KEEPTTL XX                            | ReplaceIr                                  |
//   | PUBLISH of an event as this project writes it  | PublishRunEvent                            |
//   | GET, SET EX 3600 and DEL of cache:*            | ResultCache                                |
//
// A call that the operation would do otherwise, because it names fewer keys or writes what is no
// approval, is sent as it is, like all other commands; so is @join_arrive, whose operation sets the
// time to live that the recorder set by a command of its own (core/orchestrator/script_texts_test
// compares the two).
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_ORCHESTRATOR_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_ORCHESTRATOR_DOMAIN_H_

#include "tests/golden/domain.h"

namespace redouble::golden {

Domain OrchestratorDomain();

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_ORCHESTRATOR_DOMAIN_H_
