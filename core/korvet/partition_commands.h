// The commands that the log of a partition and its consumer groups share, as they are documented,
// and what their replies mean. Part of producer.h, log.h and consumer_group.h; not for use on its
// own.
//
// Thread-safety: free functions on values.
// Source: reference/korvet.md sections 5 to 8.
#ifndef REDOUBLE_CORE_KORVET_PARTITION_COMMANDS_H_
#define REDOUBLE_CORE_KORVET_PARTITION_COMMANDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/korvet/keys.h"
#include "core/korvet/log_record.h"
#include "core/korvet/offset.h"
#include "core/korvet/topics.h"
#include "core/store/batch.h"
#include "core/store/reply.h"
#include "core/store/stream_id.h"
#include "core/store/stream_types.h"

namespace redouble::korvet {

// The key of the partition's stream. Errors: UNKNOWN_TOPIC_OR_PARTITION when the topic does not
// have the partition, INVALID_TOPIC_EXCEPTION.
absl::StatusOr<std::string> StreamKeyOf(const Keys& keys, const Topic& topic, int32_t partition);

// Asks which id the topic of that key has: HMGET key id partitions.
void AddTopicQuestion(store::Batch& batch, std::string_view topic_key);
// Whether the answer is the topic that the caller knows. Errors: UNKNOWN_TOPIC_OR_PARTITION when
// there is none any more, INCONSISTENT_TOPIC_ID when it was deleted and made anew.
absl::Status CheckTopicAnswer(const store::Reply& reply, const Topic& topic);

// Whether a reply says that there is no such key.
bool IsNoSuchKey(const store::Reply& reply);

// The bounds that XINFO STREAM tells; those of an empty log when there is no such key. Errors:
// UNKNOWN_SERVER_ERROR for a last id without an offset, or one that is the last of all.
absl::StatusOr<LogBounds> BoundsOf(const store::Reply& reply, const OffsetCodec& offsets);

// The record of an entry. Errors: UNKNOWN_SERVER_ERROR for an id without an offset,
// CORRUPT_MESSAGE.
absl::StatusOr<LogRecord> LogRecordOf(int32_t partition, const store::StreamEntry& entry,
                                      const OffsetCodec& offsets);

// XINFO STREAM key.
void AddStreamQuestion(store::Batch& batch, std::string_view stream_key);
// XRANGE key first + COUNT count.
void AddRange(store::Batch& batch, std::string_view stream_key, store::StreamId first,
              int64_t count);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_PARTITION_COMMANDS_H_
