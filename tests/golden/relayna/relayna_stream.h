// The operation `status.stream` of goldens: one status stream, from its beginning to its end, or
// until all is written that the arguments name.
//
//   | argument          | meaning                                                               |
//   | ----------------- | --------------------------------------------------------------------- |
//   | task_id           | the task                                                              |
//   | last_event_id     | the last event that the client has seen (optional)                    |
//   | terminal_statuses | the statuses that end the stream (optional)                           |
//   | adapter           | "document": relayna::WithDocumentId (optional)                        |
//   | aliases           | an object: relayna::WithAliases, after the adapter (optional)         |
//   | between           | what is written after the subscription, before the history is read    |
//   | live              | what is written when the stream has nothing to send; PING follows     |
//
// `between` and `live` are arrays of {"event": ...}, a status event, or {"publish": "text"}, each
// with an optional `task_id`. The options are those of `status.set_history`.
//
// Returns {"frames", "error"}: arrays of texts, up to the first comment without which the stream
// would wait, then those after each item of `live`; and the class of the error that ended it, or
// null.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_RELAYNA_RELAYNA_STREAM_H_
#define REDOUBLE_TESTS_GOLDEN_RELAYNA_RELAYNA_STREAM_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::golden {

// Returns the operation. `error_type` names the class of an error. The context must have a
// connector whose connections receive messages.
sim::Operation StatusStream(std::function<std::string(const absl::Status&)> error_type);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_RELAYNA_RELAYNA_STREAM_H_
