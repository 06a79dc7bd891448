#include "core/store/batch.h"

#include "core/store/errors.h"

namespace redouble::store {

Store::Execution Store::Execute(const Batch& batch) {
  const Request::Kind kind = batch.atomicity() == Batch::Atomicity::kTransaction
                                 ? Request::Kind::kTransaction
                                 : Request::Kind::kPipeline;
  return Execution(*this, kind, batch.commands());
}

base::Task<absl::StatusOr<std::vector<Reply>>> Execute(Store& store, const Batch& batch) {
  absl::StatusOr<Reply> reply = co_await store.Execute(batch);
  if (!reply.ok()) co_return reply.status();
  if (reply->is_error()) co_return ServerError(reply->text());
  if (reply->is_nil()) {
    co_return absl::AbortedError("the transaction did not run: a watched key changed");
  }
  if (!reply->is_array() || reply->elements().size() != batch.commands().size()) {
    co_return ProtocolError("a batch was answered by something other than one reply per command");
  }
  co_return std::move(*reply).elements();
}

}  // namespace redouble::store
