// SubmitAndRun: runs an event loop until one request is complete.
//
// Internal to SyncClient and SyncStore, the clients without an event loop of the caller.
//
//   SubmitAndRun(context_, *client_, request, [this] { client_->Close(); });
//
// Thread-safety: the thread that owns the context.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_SYNC_SUBMIT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_SYNC_SUBMIT_H_

#include <boost/asio/io_context.hpp>

#include "absl/functional/function_ref.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// Handles the events that happened while the loop did not run. A loop stops when it runs out of
// work; after this call it can run again, whether it stopped before the call or in it.
void HandlePendingEvents(boost::asio::io_context& context);

// Handles pending events, submits the request to `store`, which uses `context`, and runs the
// context until the request is complete. Calls `close` if the context runs out of work first;
// `close` must make the store fail all requests under way.
void SubmitAndRun(boost::asio::io_context& context, store::Store& store, store::Request& request,
                  absl::FunctionRef<void()> close);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_SYNC_SUBMIT_H_
