// Turns the replies of stream commands into their types: decode.h for stream_types.h.
//
// Each function passes a failure on, makes an error reply its status, and answers a reply of
// another shape with a protocol error.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_STORE_STREAM_DECODE_H_
#define REDOUBLE_CORE_STORE_STREAM_DECODE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/store/reply.h"
#include "core/store/stream_types.h"

namespace redouble::store {

absl::StatusOr<std::optional<StreamId>> DecodeStreamIdOrNil(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamId>> DecodeStreamIds(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamEntry>> DecodeStreamEntries(absl::StatusOr<Reply> reply);
// XREAD and XREADGROUP; nil: nothing.
absl::StatusOr<std::vector<StreamEntries>> DecodeStreams(absl::StatusOr<Reply> reply);
absl::StatusOr<PendingSummary> DecodePendingSummary(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<PendingEntry>> DecodePendingEntries(absl::StatusOr<Reply> reply);
absl::StatusOr<AutoClaimed> DecodeAutoClaimed(absl::StatusOr<Reply> reply);
absl::StatusOr<StreamInfo> DecodeStreamInfo(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamGroupInfo>> DecodeStreamGroups(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamConsumerInfo>> DecodeStreamConsumers(absl::StatusOr<Reply> reply);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_STREAM_DECODE_H_
