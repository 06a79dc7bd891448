// What the clients without an event loop share: running their own loop until a request is complete.
//
// Internal to BlockingClient and BlockingStore.
//
// Thread-safety: the thread that owns the context.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_SUBMIT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_SUBMIT_H_

#include <boost/asio/io_context.hpp>

#include "absl/functional/function_ref.h"
#include "core/store/store.h"

namespace redouble::redis {

// Submits the request to `store`, which lives on `context`, and runs the context until it is
// complete. `close` is called when the context has nothing left to do: it must make the store fail
// what is under way.
void SubmitAndRun(boost::asio::io_context& context, store::Store& store, store::Request& request,
                  absl::FunctionRef<void()> close);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_SUBMIT_H_
