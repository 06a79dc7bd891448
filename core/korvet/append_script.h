// AppendScript: the script by which a Producer writes a batch. Part of producer.h; not for use on
// its own.
//
// Thread-safety: constant data and pure functions.
// Source: reference/korvet.md sections 2, 4.2, 4.3, 7.
#ifndef REDOUBLE_CORE_KORVET_APPEND_SCRIPT_H_
#define REDOUBLE_CORE_KORVET_APPEND_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/korvet/producer.h"
#include "core/korvet/record.h"
#include "core/korvet/retention.h"
#include "core/korvet/topics.h"
#include "core/store/reply.h"
#include "core/store/script.h"
#include "core/store/stream_id.h"

namespace redouble::korvet {

// KEYS: the partition's stream, the topic's hash. ARGV: AppendArguments.
const store::Script& AppendScript();

// What the values of a batch say of the topic's value type.
struct ValueTypeProposal {
  // JSON when the first value is a JSON object, else bytes; none when all are tombstones.
  std::optional<ValueType> type = std::nullopt;
  // The first record, counted from 1, whose value is not JSON; 0: all are.
  size_t first_other = 0;
};
// Parses values, unless the topic is known to hold bytes.
ValueTypeProposal ProposeValueType(const Topic& topic, std::span<const NewRecord> records);

// The script's arguments, in their order; they own their texts.
std::vector<std::string> AppendArguments(const Topic& topic, const ValueTypeProposal& proposal,
                                         Trimming trimming, std::span<const RecordFields> records);

// What the script answered.
struct AppendOutcome {
  std::optional<ValueType> value_type;  // The topic's from now on.
  std::vector<store::StreamId> ids;
};
// Errors: those that the script found, as Producer::Append names them.
absl::StatusOr<AppendOutcome> ReadAppendOutcome(const Topic& topic,
                                                absl::StatusOr<store::Reply> reply);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_APPEND_SCRIPT_H_
