// Turns the replies of stream commands into the types of stream_types.h.
//
// Use it to write typed functions for stream commands that streams.h does not have:
//
//   co_return DecodeStreamEntries(co_await store.Execute(range));
//
// As in core/store/decode.h, a status is returned unchanged, an error reply becomes its status, and
// a reply of another shape becomes a ProtocolError.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_STORE_TYPED_STREAM_DECODE_H_
#define REDOUBLE_CORE_STORE_TYPED_STREAM_DECODE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/typed/stream_types.h"

namespace redouble::inline v0_1::store {

absl::StatusOr<std::optional<StreamId>> DecodeStreamIdOrNil(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamId>> DecodeStreamIds(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamEntry>> DecodeStreamEntries(absl::StatusOr<Reply> reply);
// Of XREAD and XREADGROUP. A nil reply becomes an empty vector.
absl::StatusOr<std::vector<StreamEntries>> DecodeStreams(absl::StatusOr<Reply> reply);
absl::StatusOr<PendingSummary> DecodePendingSummary(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<PendingEntry>> DecodePendingEntries(absl::StatusOr<Reply> reply);
absl::StatusOr<AutoClaimed> DecodeAutoClaimed(absl::StatusOr<Reply> reply);
absl::StatusOr<StreamInfo> DecodeStreamInfo(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamGroupInfo>> DecodeStreamGroups(absl::StatusOr<Reply> reply);
absl::StatusOr<std::vector<StreamConsumerInfo>> DecodeStreamConsumers(absl::StatusOr<Reply> reply);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_STREAM_DECODE_H_
