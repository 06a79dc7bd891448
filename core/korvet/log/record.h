// Record: a Kafka record, and its encoding as the fields of a stream entry.
//
//   | field           | text                           | absent if            |
//   | --------------- | ------------------------------ | -------------------- |
//   | `key`           | the bytes                      | the key is null      |
//   | `value`         | the bytes                      | it is a tombstone    |
//   | `timestamp`     | decimal milliseconds           | never                |
//   | `header.<name>` | the bytes; a field per header  |                      |
//
// The fields are written in this order, and headers in their own order. A header name may be
// repeated and may be empty. Null and empty are different, for keys and for values.
//
//   Record record{.key = "order-123", .value = "{}", .timestamp_ms = 1234567890000};
//   RecordFields fields = EncodeRecord(record);
//   absl::StatusOr<Record> back = DecodeRecord(fields, id);      // record
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/korvet.md 2.5, D3.
#ifndef REDOUBLE_CORE_KORVET_LOG_RECORD_H_
#define REDOUBLE_CORE_KORVET_LOG_RECORD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

struct RecordHeader {
  std::string name;
  // Nullopt: Kafka's null value. It is written as an empty value, and read back as empty.
  std::optional<std::string> value;

  friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};

struct Record {
  std::optional<std::string> key = std::nullopt;
  // Nullopt: a tombstone, which states that the key was deleted.
  std::optional<std::string> value = std::nullopt;
  // The creation time in milliseconds since 1970.
  int64_t timestamp_ms = 0;
  std::vector<RecordHeader> headers = {};

  friend bool operator==(const Record&, const Record&) = default;
};

// Returns the size of a record in bytes, as used by all limits: the key, the value, the header
// names and the header values. Field names and the timestamp are not counted.
int64_t SizeOf(const Record& record);

// The fields of an entry, as in XADD and in store::StreamEntry::fields.
using RecordFields = std::vector<std::pair<std::string, std::string>>;

// Returns the fields of a record. There is at least one, as XADD requires.
RecordFields EncodeRecord(const Record& record);

// Decodes the fields of an entry. A missing timestamp is the time in `id`. Unknown fields are
// ignored. The inverse of EncodeRecord, except for null header values.
//
// Errors: CORRUPT_MESSAGE (errors.h) with the id, if `key`, `value` or `timestamp` is repeated,
// if the timestamp is not a decimal 64-bit integer, or if it is missing and the time in the id
// exceeds 64 signed bits.
absl::StatusOr<Record> DecodeRecord(std::span<const std::pair<std::string, std::string>> fields,
                                    store::StreamId id);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_RECORD_H_
