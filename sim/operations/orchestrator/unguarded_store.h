// UnguardedStore: does what the original documents do where the library has a guarded step.
//
// The wrapper lies between a coordinator, worker or approval service and its store. It replaces
// commands of the protocol by those that the original documents show, or that follow from them, and
// translates the replies back. So the worlds of scenarios/hazards run the library's operations with
// and without the step that removes a hazard, and tests/property proves that its invariants notice.
// The production code is unchanged and contains no switch for it.
//
//   UnguardedStore store(context.store, keys, Unguarded::kTwoStepCheck);
//   Coordinator coordinator(store, context.clock, keys, options);
//
// With Unguarded::kNone every request is forwarded unchanged, at the cost of a virtual call.
//
// Thread-safety: the same as the wrapped store's.
// Source: docs/systems/orchestrator.md 5, 7.2.
#ifndef REDOUBLE_SIM_OPERATIONS_ORCHESTRATOR_UNGUARDED_STORE_H_
#define REDOUBLE_SIM_OPERATIONS_ORCHESTRATOR_UNGUARDED_STORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"

namespace redouble::inline v0_1::scenarios {

// Which step is not guarded. The comment names the hazard, and the invariant that detects it.
enum class Unguarded {
  kNone,
  kConsumeBeforeEmit,  // H3, I7: the token is consumed before its successors are counted.
  kPublishBeforeEmit,  // H3, H4: it is consumed, its successors are published, and then counted.
  kNoCounterGuard,     // H18, I2: apply_delta replaces the guarded scripts.
  kLookUpThenApply,    // H14: the three commands of apply_delta replace that script.
  kFreshEmitKey,       // H2, I1: each attempt to emit has its own operation name.
  kNodeConsumeKey,     // H10, L2: the consume operation names the node instead of the token.
  kLoopByIncrement,    // H11: each attempt to emit increments the iteration of the loop.
  kJoinInTwoSteps,     // H12: an arrival is added, and then the arrivals are counted.
  kTwoStepCheck,       // H16, H22, I4: the completion check reads counter and approvals separately.
  kDecideStepByStep,   // H15, H17, I6: a decision reads, and then writes one key after the other.
  kPatchBySet,         // H19, H20, I12: a patch sets the graph without condition and KEEPTTL.
  kGroupAtTheEnd,      // D11, L2: the worker groups start at `$` instead of 0.
};

class UnguardedStore final : public store::InterceptingStore {
 public:
  // `inner` must outlive this store.
  UnguardedStore(store::Store& inner, orchestrator::Keys keys, Unguarded unguarded)
      : InterceptingStore(inner), keys_(keys), unguarded_(unguarded) {}

 private:
  // An EVALSHA command: the views are those of the request.
  struct Call {
    std::string_view sha1;
    std::span<const std::string_view> keys;
    std::span<const std::string_view> arguments;
  };
  // The successors of a token that is consumed already, until they are counted.
  struct LateEmission {
    std::string run_id;
    std::string op;
    int64_t tokens = 0;
    int64_t counter = 0;  // After the consumption.
    bool counted = false;
  };
  using Result = base::Task<absl::StatusOr<store::Reply>>;

  bool Intercepts(const store::Request&) override { return unguarded_ != Unguarded::kNone; }
  Result Intercept(const store::Request& request) override;
  // The replacement of a script; a task for the request itself if the script is kept.
  Result InterceptCall(const store::Request& request, const Call& call);

  Result ConsumeBeforeEmit(const Call& call);
  Result ConsumeAndEmitLater(const Call& call);
  Result PublishThenCount(const store::Request& request);
  Result ReportConsumption();
  base::Task<absl::Status> CountLateEmission();
  Result EmitUnguarded(const Call& call);
  Result EmitWithFreshKey(const Call& call);
  Result IncrementLoopsThenEmit(const Call& call);
  Result CountEmission(const Call& call, std::string op);
  Result ApplyUnguarded(const Call& call);
  Result LookUpThenApply(const Call& call);
  Result ConsumeNode(const Call& call);
  Result ConsumeAndReportZero(const Call& call);
  Result FinishInTwoSteps(const Call& call);
  Result DecideStepByStep(const Call& call);
  Result ArriveInTwoSteps(const Call& call);
  Result ReplaceBySet(const Call& call);

  Result CreateGroupAtTheEnd(const store::Command& command);
  Result TakeSignal(const store::Request& request);
  Result ReadRunByNode(const store::Request& request);

  static std::optional<Call> CallOf(const store::Request& request);
  std::string RunIdOf(std::string_view key) const;
  std::string NodeOp(std::string_view consume_op) const;

  const orchestrator::Keys keys_;
  const Unguarded unguarded_;
  int64_t attempts_ = 0;                      // For kFreshEmitKey.
  std::map<std::string, std::string> nodes_;  // For kNodeConsumeKey: the node of each token.
  std::optional<LateEmission> late_;          // For kPublishBeforeEmit.
};

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_ORCHESTRATOR_UNGUARDED_STORE_H_
