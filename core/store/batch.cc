#include "redouble/core/store/batch.h"

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {

Store::Execution Store::ExecuteRaw(const Batch& batch) {
  const Request::Kind kind = batch.atomicity() == Batch::Atomicity::kTransaction
                                 ? Request::Kind::kTransaction
                                 : Request::Kind::kPipeline;
  return Execution(*this, kind, batch.commands());
}

base::Task<absl::StatusOr<std::vector<Reply>>> Execute(Store& store, const Batch& batch) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(Reply reply, co_await store.ExecuteRaw(batch));
  if (reply.is_error()) co_return ServerError(reply.text());
  if (reply.is_nil()) {
    co_return absl::AbortedError("the transaction did not run: a watched key changed");
  }
  if (!reply.is_array() || reply.elements().size() != batch.commands().size()) {
    co_return ProtocolError("a batch was answered by something other than one reply per command");
  }
  co_return std::move(reply).elements();
}

}  // namespace redouble::inline v0_1::store
