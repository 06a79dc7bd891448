// Post: sends a batch without waiting for its replies (fire and forget).
//
// A coroutine that is destroyed while it awaits a command abandons it, and a command that was not
// written yet is then never sent. A posted batch has no waiter that could be destroyed: it is sent
// like any other request, and its replies are dropped, also those that are errors.
//
//   store::Batch batch(store::Batch::Atomicity::kPipeline);
//   batch.Add(CommandId::kIncr, {"visits"});
//   store::Post(*redis, batch);
//
// Thread-safety: that of the store.
#ifndef REDOUBLE_CORE_STORE_POST_H_
#define REDOUBLE_CORE_STORE_POST_H_

#include "redouble/core/store/batch.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

// Copies the batch and submits it; the batch and its arguments may end with this call. No round
// trip is awaited. Whether the server runs the commands remains unknown. An empty batch is not
// sent.
void Post(Store& store, const Batch& batch);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_POST_H_
