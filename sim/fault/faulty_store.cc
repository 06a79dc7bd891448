#include "redouble/sim/fault/faulty_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::sim {
namespace {

absl::Status Validate(const std::vector<FaultRule>& rules) {
  for (const FaultRule& rule : rules) {
    const FaultSpec& spec = SpecOf(rule.fault);
    if (spec.AppliesTo(FaultSite::kStore)) continue;
    return store::NotSentError(
        absl::StrCat("the fault \"", base::ToAbsl(spec.name), "\" does not apply to a store"),
        absl::StatusCode::kInvalidArgument);
  }
  return absl::OkStatus();
}

}  // namespace

FaultyStore::FaultyStore(store::Store& inner, base::Clock& clock, FaultyStoreOptions options)
    : InterceptingStore(inner),
      clock_(clock),
      client_(std::move(options.client)),
      seeded_decisions_(options.seed),
      decisions_(options.decisions != nullptr ? *options.decisions : seeded_decisions_),
      disconnect_(std::move(options.disconnect)),
      status_(Validate(options.faults)),
      plan_(std::move(options.faults)) {}

bool FaultyStore::Intercepts(const store::Request&) { return !plan_.empty(); }

base::Task<FaultyStore::Result> FaultyStore::Intercept(const store::Request& request) {
  REDOUBLE_CO_RETURN_IF_ERROR(status_);
  const FaultRule* rule = plan_.Draw(client_, request, clock_.Now(), decisions_);
  if (rule == nullptr) co_return co_await Forward(request);
  co_return co_await Inject(*rule, request);
}

// The rule is a copy: Heal() may discard the plan while the request is delayed.
base::Task<FaultyStore::Result> FaultyStore::Inject(FaultRule rule, const store::Request& request) {
  switch (rule.fault) {
    case Fault::kDropRequest:
      co_return store::OutcomeUnknownError("the request was lost");
    case Fault::kErrorReply:
      co_return store::Reply::Error(rule.error);
    case Fault::kDisconnect:
      if (disconnect_) disconnect_();
      co_return store::NotSentError("the connection closed");
    case Fault::kDropReply: {
      Result result = co_await Forward(request);
      REDOUBLE_CO_RETURN_IF_ERROR(result.status());
      co_return store::OutcomeUnknownError("the reply was lost");
    }
    case Fault::kDuplicate:
      (void)co_await Forward(request);
      break;
    case Fault::kDelay:
      co_await clock_.Sleep(rule.duration);
      break;
    default:  // Validate() admits no other fault.
      break;
  }
  co_return co_await Forward(request);
}

}  // namespace redouble::inline v0_1::sim
