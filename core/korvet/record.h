// Record: a Kafka record, and how it is written as the fields of a stream's entry.
//
//   | field           | text                           | absent when     |
//   | --------------- | ------------------------------ | --------------- |
//   | `key`           | the bytes                      | there is no key |
//   | `value`         | the bytes                      | a tombstone     |
//   | `timestamp`     | decimal milliseconds           | never           |
//   | `header.<name>` | the bytes; a field per header  |                 |
//
// in this order, headers in theirs; a name may come twice and may be empty. Absent and empty are
// two things, for keys as for values.
//
//   Record record{.key = "order-123", .value = "{}", .timestamp_ms = 1234567890000};
//   RecordFields fields = EncodeRecord(record);
//   absl::StatusOr<Record> back = DecodeRecord(fields, id);      // record
//
// The seed shows `key`, `value` and, in one of its three partitions, `timestamp`; order, headers
// and absence are this project's decisions. Its sample timestamps look like seconds; Kafka's are
// milliseconds, and so are these.
//
// Thread-safety: plain values and pure functions.
// Source: seed 003 "Redis Key Layout"; reference/korvet.md 4.3.
#ifndef REDOUBLE_CORE_KORVET_RECORD_H_
#define REDOUBLE_CORE_KORVET_RECORD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/store/stream_id.h"

namespace redouble::korvet {

struct RecordHeader {
  std::string name;
  // Kafka knows a header without a value; a field has one. It is written as empty and comes back
  // so.
  std::optional<std::string> value;

  friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};

struct Record {
  std::optional<std::string> key = std::nullopt;
  // None: a tombstone, which says that what the key stood for is gone.
  std::optional<std::string> value = std::nullopt;
  // When the producer made the record, in milliseconds since 1970.
  int64_t timestamp_ms = 0;
  std::vector<RecordHeader> headers = {};

  friend bool operator==(const Record&, const Record&) = default;
};

// What a record counts against limits of bytes: its key, its value, and names and values of its
// headers; nothing for the fields' names or the timestamp.
int64_t SizeOf(const Record& record);

// The fields of an entry, as XADD takes and XRANGE gives them (store::StreamEntry::fields).
using RecordFields = std::vector<std::pair<std::string, std::string>>;

// The fields of a record; never empty, as XADD demands.
RecordFields EncodeRecord(const Record& record);

// The record of an entry. Where there is no timestamp, it is the time of the entry's `id`; other
// fields than those above are somebody else's and are left out. Gives back what EncodeRecord got,
// but for headers without a value.
//
// Errors: CORRUPT_MESSAGE (error_code.h), naming the id: `key`, `value` or `timestamp` comes twice,
// the timestamp is no decimal 64-bit integer, or, where it is absent, the id's time is none.
absl::StatusOr<Record> DecodeRecord(std::span<const std::pair<std::string, std::string>> fields,
                                    store::StreamId id);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_RECORD_H_
