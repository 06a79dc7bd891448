// DecodeStreamParts: a stream as the parts of a KeyValue (key_value.h).
//
//   // The reply of XINFO STREAM key FULL COUNT 0.
//   absl::StatusOr<std::vector<std::string>> parts = DecodeStreamParts(std::move(reply));
//
// Thread-safety: a free function.
#ifndef REDOUBLE_SIM_MIGRATE_STREAM_PARTS_H_
#define REDOUBLE_SIM_MIGRATE_STREAM_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::sim {

// Flattens the reply of XINFO STREAM FULL COUNT 0. It leaves out what follows from the rest or
// depends on the server's memory, such as the nodes of its tree, and what older servers do not
// have. Errors: the server's error, which a missing key has; ProtocolError.
absl::StatusOr<std::vector<std::string>> DecodeStreamParts(store::Reply reply);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_STREAM_PARTS_H_
