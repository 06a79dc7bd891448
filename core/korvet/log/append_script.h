// AppendScript: the script with which Producer appends a batch to a partition.
//
// This is a part of producer.h. Use Producer to write records. The script checks the topic,
// allocates the entry ids, adds the records and trims the stream in one atomic step.
//
//   const store::Script& script = AppendScript(keys.layout());   // scripts/append_records.lua
//
// Thread-safety: constant data and pure functions.
// Source: docs/systems/korvet.md 1.2, 2.4, 2.6, 4.7, 4.10.
#ifndef REDOUBLE_CORE_KORVET_LOG_APPEND_SCRIPT_H_
#define REDOUBLE_CORE_KORVET_LOG_APPEND_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/log/record.h"
#include "redouble/core/korvet/log/retention.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

// Returns the script of a layout. KEYS: the partition's stream, and Keys::Metadata. ARGV:
// AppendArguments.
const store::Script& AppendScript(store::KeyLayout layout);
// The same with a third key, the hash of a batch (Keys::WrittenBatch), and two more arguments: the
// name of the part of the batch in that hash, and the TTL of the hash in seconds. It keeps its
// reply there, returns a reply that is there, and then writes nothing.
const store::Script& AppendOnceScript(store::KeyLayout layout);

// What the values of a batch imply for the topic's value type.
struct ValueTypeProposal {
  // JSON if the first value is a JSON object, otherwise bytes. Nullopt if all records are
  // tombstones.
  std::optional<ValueType> type = std::nullopt;
  // The number of the first record whose value is not JSON, counted from 1; 0 if all are JSON.
  size_t first_other = 0;
};
// Parses the values, unless the topic is known to hold bytes. O(total size of the values).
ValueTypeProposal ProposeValueType(const Topic& topic, std::span<const NewRecord> records);

// What an append writes, besides the records.
struct AppendRequest {
  store::KeyLayout layout = store::KeyLayout::kDocumented;
  ValueTypeProposal proposal = {};
  Trimming trimming = Trimming::kExact;
};
// Returns the script's arguments in their order. The result owns its texts.
std::vector<std::string> AppendArguments(const Topic& topic, const AppendRequest& request,
                                         std::span<const RecordFields> records);

// The greatest number of fields of one record. Lua's unpack takes at most 8000 values, and XADD has
// three other words, or six when it trims.
inline constexpr size_t kMaxRecordFields = 3990;

// The reply of the script.
struct AppendOutcome {
  // In the cluster layout, why nothing was written yet.
  enum class Missing {
    kNothing,    // The batch was written.
    kValueType,  // The topic's hash must have a value type first.
    kCopy,       // The partition's copy is missing, or older than the topic that the caller knows.
  };
  Missing missing = Missing::kNothing;
  int32_t partitions = 0;               // The topic's number of partitions at that moment.
  std::optional<ValueType> value_type;  // The topic's value type after the append.
  std::vector<store::StreamId> ids;
};
// INVALID_RECORD: the value of a record, counted from 1, is not JSON.
absl::Status NotJson(const Topic& topic, int64_t record);

// Decodes the reply of the script. In the cluster layout a copy of no topic, or of another one,
// counts as missing. Errors: those of Producer::Append that the script detects, and a protocol
// error for an unexpected reply.
absl::StatusOr<AppendOutcome> ReadAppendOutcome(const Topic& topic, store::KeyLayout layout,
                                                absl::StatusOr<store::Reply> reply);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_APPEND_SCRIPT_H_
