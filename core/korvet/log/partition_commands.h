// The commands that Log, Producer and ConsumerGroup share, and the decoding of their replies.
//
// These functions are parts of producer.h, log.h and consumer_group.h; use those classes. A
// function Add...Question appends a command to a batch, and another function decodes its reply.
//
//   store::Batch batch(store::Batch::Atomicity::kTransaction);
//   AddTopicQuestion(batch, topic_key);
//   // Execute the batch, then decode its first reply:
//   absl::Status status = AdoptTopicAnswer(replies[0], topic);
//
// Thread-safety: free functions on values.
// Source: docs/systems/korvet.md 4.8 to 4.17.
#ifndef REDOUBLE_CORE_KORVET_LOG_PARTITION_COMMANDS_H_
#define REDOUBLE_CORE_KORVET_LOG_PARTITION_COMMANDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log_record.h"
#include "redouble/core/korvet/offset.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/typed/stream_id.h"
#include "redouble/core/store/typed/stream_types.h"

namespace redouble::inline v0_1::korvet {

// How long a wait for several partitions blocks on one of them in the cluster layout, where one
// command cannot wait for several slots.
inline constexpr absl::Duration kWaitSlice = absl::Milliseconds(100);

// Returns the key of the partition's stream. Errors: UNKNOWN_TOPIC_OR_PARTITION if the topic does
// not have the partition, INVALID_TOPIC_EXCEPTION.
absl::StatusOr<std::string> StreamKeyOf(const Keys& keys, const Topic& topic, int32_t partition);

// Appends HMGET key id partitions compression, to check that the topic still exists.
void AddTopicQuestion(store::Batch& batch, std::string_view topic_key);
// Stores the number of partitions and the compression of the reply in `topic`. Errors:
// UNKNOWN_TOPIC_OR_PARTITION if the topic does not exist any more, INCONSISTENT_TOPIC_ID if it was
// deleted and created again, UNKNOWN_SERVER_ERROR if a value is not allowed.
absl::Status AdoptTopicAnswer(const store::Reply& reply, Topic& topic);

// Decodes the reply of TIME as milliseconds since 1970.
absl::StatusOr<int64_t> MillisOfTime(const store::Reply& reply);

// Whether a reply is the error for a missing key.
bool IsNoSuchKey(const store::Reply& reply);

// Decodes the reply of XINFO STREAM. Returns the bounds of an empty log if the key is missing.
// Errors: UNKNOWN_SERVER_ERROR if the last id has no offset, or no successor.
absl::StatusOr<LogBounds> BoundsOf(const store::Reply& reply, const OffsetCodec& offsets);

// Decodes a stream entry. Errors: UNKNOWN_SERVER_ERROR for an id without an offset, CORRUPT_MESSAGE
// for an entry that is not a record.
absl::StatusOr<LogRecord> LogRecordOf(int32_t partition, const store::StreamEntry& entry,
                                      const OffsetCodec& offsets);

// Appends XINFO STREAM key.
void AddStreamQuestion(store::Batch& batch, std::string_view stream_key);
// Appends XRANGE key first + COUNT count.
void AddRange(store::Batch& batch, std::string_view stream_key, store::StreamId first,
              int64_t count);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_PARTITION_COMMANDS_H_
