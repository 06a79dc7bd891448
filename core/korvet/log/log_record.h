// LogRecord, LogBounds: a record with its place in the log of a partition, and the bounds of that
// log.
//
// Log::Fetch and ConsumerGroup::Poll return LogRecord values. The offset comes from the id of the
// stream entry (offset.h); the append time is the time in that id, which is the clock of Redis.
//
// Thread-safety: plain values.
// Source: docs/systems/korvet.md 2.4, 4.8, I1, I2.
#ifndef REDOUBLE_CORE_KORVET_LOG_LOG_RECORD_H_
#define REDOUBLE_CORE_KORVET_LOG_LOG_RECORD_H_

#include <cstdint>

#include "redouble/core/korvet/log/record.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

struct LogRecord {
  int32_t partition = 0;
  int64_t offset = 0;
  // When Redis accepted the record, in milliseconds since 1970: the time of the entry id.
  int64_t append_time_ms = 0;
  Record record;

  // The size that counts against limits in bytes: key, value, header names and header values.
  int64_t size() const { return SizeOf(record); }

  friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

// The bounds of a log, as offsets: 0 <= start <= end. The start is 0 until a record is removed,
// although the first record has a much greater offset. Afterwards it is the offset of the first
// record, or the end if the log is empty (D8). The end is one above the greatest offset ever used,
// so it never decreases. It is Kafka's high watermark, log end offset and last stable offset.
struct LogBounds {
  int64_t start = 0;
  int64_t end = 0;
  store::StreamId last_id;  // The greatest id ever used; 0-0 if the stream never had an entry.

  friend bool operator==(const LogBounds&, const LogBounds&) = default;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_LOG_RECORD_H_
