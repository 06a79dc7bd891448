// LogRecord, LogBounds: a record as it stands in the log of its partition, and where that log
// begins and ends.
//
// Thread-safety: plain values.
// Source: reference/korvet.md section 5.
#ifndef REDOUBLE_CORE_KORVET_LOG_RECORD_H_
#define REDOUBLE_CORE_KORVET_LOG_RECORD_H_

#include <cstdint>

#include "core/korvet/record.h"
#include "core/store/stream_id.h"

namespace redouble::korvet {

struct LogRecord {
  int32_t partition = 0;
  int64_t offset = 0;
  // When Redis took it, in milliseconds since 1970: the time of the entry's id.
  int64_t append_time_ms = 0;
  Record record;

  // What the record counts against limits of bytes: key, value, names and values of headers.
  int64_t size() const { return SizeOf(record); }

  friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

// Offsets: 0 <= start <= end. A log from which nothing was ever removed starts at 0, although its
// first record has a far greater offset; any other at its first record, or at its end when it has
// none. The end is one above the greatest offset ever given, so that it never goes down, whatever
// is removed; it is Kafka's high watermark, log end and last stable offset in one.
struct LogBounds {
  int64_t start = 0;
  int64_t end = 0;
  store::StreamId last_id;  // The greatest id ever given; 0-0: none.

  friend bool operator==(const LogBounds&, const LogBounds&) = default;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_RECORD_H_
