// Mutation: faults of the protocol that tests put in on purpose, to see that they are caught. Not
// for production: every program leaves it at kNone.
//
// Thread-safety: a value.
// Source: reference/orchestrator.md 13, "Mutation checks worth having".
#ifndef REDOUBLE_CORE_ORCHESTRATOR_MUTATION_H_
#define REDOUBLE_CORE_ORCHESTRATOR_MUTATION_H_

namespace redouble::orchestrator {

enum class Mutation {
  kNone,
  kConsumeBeforeEmit,     // The token is consumed before those that follow it are counted.
  kNoCounterGuard,        // Changes of the counter by the seed's script, which revives a dead run.
  kFreshEmitKey,          // Every attempt to emit has an operation of its own.
  kNodeConsumeKey,        // The consuming operation names the node rather than the token.
  kTwoStepCheck,          // The pending approvals are read before the counter, not with it.
  kRemoveApprovalFirst,   // A decision empties the pending set before it raises the counter.
  kPatchLosesTimeToLive,  // A patch sets the graph without KEEPTTL.
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_MUTATION_H_
