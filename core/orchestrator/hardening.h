// Hardening: options that remove documented hazards of the orchestrator.
//
// The guarded scripts and the names of operations remove most hazards without an option
// (docs/systems/orchestrator.md 5). The options here select between a documented command sequence
// and a safer one. They can be combined. A deployment whose programs share one Redis may mix them,
// except where an option says otherwise.
//
//   orchestrator::CoordinatorOptions options;
//   options.hardening.extend_on_commit = true;
//   Coordinator coordinator(store, clock, keys, options);
//
// Thread-safety: a plain value.
// Source: docs/systems/orchestrator.md 5, hazards H5, H6, H7, H20 and H25 to H28.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_HARDENING_H_
#define REDOUBLE_CORE_ORCHESTRATOR_HARDENING_H_

namespace redouble::inline v0_1::orchestrator {

struct Hardening {
  // Removes H7, and with it H5: BLPOP removes a signal, and a crash loses it. With this option a
  // signal moves to the coordinator's processing list (BLMOVE), and SignalQueue::Recover returns
  // it. On by default; off, coordinators take signals as in the original documents.
  bool reliable_pop = true;

  // Removes H28: a run expires 24 hours after its start although it is still making progress. With
  // this option each commit extends all keys of the run to CoordinatorOptions::run_ttl, by one more
  // script.
  bool extend_on_commit = false;

  // Removes H6, H25 and H26: a crash between publication and consumption, or a second coordinator
  // with the same signal, publishes a token twice. With this option one script stores, counts,
  // publishes and consumes, unless a successor joins several paths. Likewise one script of a worker
  // pushes the signal and acknowledges its entry, so that a crash between the two cannot execute
  // the token twice. A hop takes 7 round trips instead of 10. Needs one server: without effect with
  // KeyLayout::kCluster, where the streams are in other slots than the run.
  bool atomic_hops = false;

  // Removes H27: after a crash between a decision and its signal, PushUndelivered does not know who
  // decided, nor the comment. With this option the decision also stores the fields `decided_by` and
  // `comment` in the hash of the approval, which the original documents do not have. Readers ignore
  // unknown fields.
  bool keep_decision_details = false;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_HARDENING_H_
