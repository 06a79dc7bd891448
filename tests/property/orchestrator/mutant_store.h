// MutantStore: breaks the orchestrator's protocol from outside, to prove that the tests notice.
//
// The wrapper lies between a coordinator, worker or approval service and its store. It replaces
// commands of the protocol by the commands that a wrong implementation would send, and translates
// the replies back. The production code is unchanged and contains no switch for it.
//
//   MutantStore store(actor.store(), keys, Mutation::kTwoStepCheck);
//   Coordinator coordinator(store, actor.clock(), keys, options);
//
// With Mutation::kNone every request is forwarded unchanged, at the cost of a virtual call.
//
// Thread-safety: as the store behind it.
// Source: docs/systems/orchestrator.md 7.2.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_MUTANT_STORE_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_MUTANT_STORE_H_

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

namespace redouble::inline v0_1::orchestrator {

// What the store breaks. The comment names the invariant that detects it.
enum class Mutation {
  kNone,
  kConsumeBeforeEmit,     // I7: the token is consumed before its successors are counted.
  kNoCounterGuard,        // I2: apply_delta replaces the guarded scripts.
  kFreshEmitKey,          // I1: each attempt to emit has its own operation name.
  kNodeConsumeKey,        // L2: the consume operation names the node instead of the token.
  kTwoStepCheck,          // I4: the completion check reads approvals and counter separately.
  kRemoveApprovalFirst,   // I6: a decision removes the pending member before it counts.
  kPatchLosesTimeToLive,  // I12: a patch sets the graph without KEEPTTL.
  kGroupAtTheEnd,         // L2: the worker groups start at `$` instead of 0.
};

class MutantStore final : public store::InterceptingStore {
 public:
  // `inner` must outlive this store.
  MutantStore(store::Store& inner, Keys keys, Mutation mutation)
      : InterceptingStore(inner), keys_(keys), mutation_(mutation) {}

 private:
  // An EVALSHA command: the views are those of the request.
  struct Call {
    std::string_view sha1;
    std::span<const std::string_view> keys;
    std::span<const std::string_view> arguments;
  };
  using Result = base::Task<absl::StatusOr<store::Reply>>;

  bool Intercepts(const store::Request&) override { return mutation_ != Mutation::kNone; }
  Result Intercept(const store::Request& request) override;
  // The replacement of a script; a task for the request itself if the mutation keeps the script.
  Result InterceptCall(const store::Request& request, const Call& call);

  Result ConsumeBeforeEmit(const Call& call);
  Result EmitUnguarded(const Call& call);
  Result EmitWithFreshKey(const Call& call);
  Result CountEmission(const Call& call, std::string op);
  Result ApplyUnguarded(const Call& call);
  Result ConsumeNode(const Call& call);
  Result ConsumeAndReportZero(const Call& call);
  Result FinishInTwoSteps(const Call& call);
  Result RemoveThenDecide(const Call& call);
  Result ReplaceWithoutKeepTtl(const Call& call);

  Result CreateGroupAtTheEnd(const store::Command& command);
  Result TakeSignal(const store::Request& request);
  Result ReadRunByNode(const store::Request& request);

  static std::optional<Call> CallOf(const store::Request& request);
  std::string RunIdOf(std::string_view key) const;
  std::string NodeOp(std::string_view consume_op) const;

  const Keys keys_;
  const Mutation mutation_;
  int64_t attempts_ = 0;                      // For kFreshEmitKey.
  std::map<std::string, std::string> nodes_;  // For kNodeConsumeKey: the node of each token.
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_MUTANT_STORE_H_
