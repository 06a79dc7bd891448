#include "redouble/core/korvet/log/append_script.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Reply;

absl::Status UnexpectedReply() {
  return store::ProtocolError("the script that appends records answered something else");
}

absl::Status Refusal(const Topic& topic, std::span<const Reply> answer) {
  const int64_t code = answer[0].integer();
  if (code == 3) {
    return MakeError(ErrorCode::kUnknownTopicOrPartition,
                     absl::StrCat("there is no topic ", topic.name, " any more"));
  }
  if (code == 103) {
    return MakeError(ErrorCode::kInconsistentTopicId,
                     absl::StrCat("the topic ", topic.name, " was deleted and made anew"));
  }
  if (answer.size() != 2) return UnexpectedReply();
  if (code == 87 && answer[1].is_integer()) {
    return NotJson(topic, answer[1].integer());
  }
  if (code == -2 && answer[1].is_bulk()) {
    return MakeError(ErrorCode::kUnknownServerError,
                     absl::StrCat("the hash of topic ", topic.name, ": ", answer[1].text(),
                                  " is not an allowed number"));
  }
  if (code == -1 && answer[1].is_bulk()) {
    return MakeError(ErrorCode::kUnknownServerError,
                     absl::StrCat("behind ", answer[1].text(), " there is no id with an offset"));
  }
  return UnexpectedReply();
}

}  // namespace

// Lua numbers are exact up to 2^53, which is the greatest time of an id with 10 bits of sequence.
// The script refuses an id above the topic's greatest and then writes nothing.
//
// ARGV: 1, 2 the topic's id in both forms; 3 the greatest sequence; 4 the greatest milliseconds; 5
// and 6 the default retention time in ms and the default retention in bytes, or -1; 7 "=", "~" or
// "" for no trimming; 8 the value type that the batch implies, or ""; 9 the first record that is
// not JSON, or 0; 10 the default size of a record in bytes; then for each record the number of its
// field names and values, followed by these. The topic's hash has the retention; a default replaces
// a missing field.
//
// Replies: {0, value type, partitions, id...}; {3} no topic; {103} another topic; {87, n} record n
// is not JSON; {-1, id} no id after the last one has an offset; {-2, field} an option is
// unreadable.
//
// In the cluster layout two more arguments follow: "1" if the value type is that of the topic's
// hash, and the epoch of the topic that the caller knows. The script of that layout has a first
// part that reads and removes them. It has two more replies: {-3} the topic's hash must get the
// value type first; {-4} the copy is older than the topic that the caller knows.
const store::Script& AppendScript(store::KeyLayout layout) {
  static const store::Script& documented = *new store::Script(std::string(kAppendRecordsText));
  static const store::Script& in_partition = *new store::Script(
      absl::StrCat(base::ToAbsl(kAppendInPartitionText), base::ToAbsl(kAppendRecordsText)));
  return layout == store::KeyLayout::kCluster ? in_partition : documented;
}

const store::Script& AppendOnceScript(store::KeyLayout layout) {
  const auto make = [](store::KeyLayout of) {
    return new store::Script(absl::StrCat(base::ToAbsl(kAppendOnceBeginText),
                                          base::ToAbsl(AppendScript(of).source()),
                                          base::ToAbsl(kAppendOnceEndText)));
  };
  static const store::Script& documented = *make(store::KeyLayout::kDocumented);
  static const store::Script& in_partition = *make(store::KeyLayout::kCluster);
  return layout == store::KeyLayout::kCluster ? in_partition : documented;
}

ValueTypeProposal ProposeValueType(const Topic& topic, std::span<const NewRecord> records) {
  ValueTypeProposal proposal;
  if (topic.config.value_type == ValueType::kBytes) return proposal;
  for (size_t i = 0; i < records.size(); ++i) {
    const std::optional<std::string>& value = records[i].value;
    if (!value) continue;
    const bool is_json = nlohmann::json::accept(*value);
    if (!proposal.type) {
      const size_t begin = value->find_first_not_of(" \t\r\n");
      const bool is_object = is_json && begin != std::string::npos && (*value)[begin] == '{';
      proposal.type = is_object ? ValueType::kJson : ValueType::kBytes;
    }
    if (!is_json && proposal.first_other == 0) proposal.first_other = i + 1;
    // Only a JSON topic uses the rest, and it refuses this batch in any case.
    if (proposal.first_other != 0) break;
  }
  return proposal;
}

std::vector<std::string> AppendArguments(const Topic& topic, const AppendRequest& request,
                                         std::span<const RecordFields> records) {
  const bool in_cluster = request.layout == store::KeyLayout::kCluster;
  // A known type was read from the topic's hash. The copy may not have it yet.
  const bool is_settled = in_cluster && topic.config.value_type.has_value();
  const std::optional<ValueType> type =
      is_settled ? topic.config.value_type : request.proposal.type;
  const OffsetCodec& offsets = topic.config.offsets;
  const TopicConfig defaults;
  std::vector<std::string> words = {
      topic.id.ToString(),
      topic.id.ToUuid(),
      absl::StrCat(offsets.max_sequence()),
      absl::StrCat(offsets.max_ms()),
      absl::StrCat(defaults.retention_time_ms),
      absl::StrCat(defaults.retention_bytes),
      std::string(request.trimming == Trimming::kNone ? "" : TrimmingSign(request.trimming)),
      std::string(type ? ValueTypeName(*type) : ""),
      absl::StrCat(request.proposal.first_other),
      absl::StrCat(defaults.message_bytes),
  };
  for (const RecordFields& fields : records) {
    words.push_back(absl::StrCat(2 * fields.size()));
    for (const auto& [name, value] : fields) {
      words.push_back(name);
      words.push_back(value);
    }
  }
  if (in_cluster) {
    words.push_back(is_settled ? "1" : "0");
    words.push_back(absl::StrCat(topic.epoch));
  }
  return words;
}

absl::Status NotJson(const Topic& topic, int64_t record) {
  return MakeError(ErrorCode::kInvalidRecord,
                   absl::StrCat("the topic ", topic.name, " holds JSON, and the value of record ",
                                record, " of the batch is none"));
}

absl::StatusOr<AppendOutcome> ReadAppendOutcome(const Topic& topic, store::KeyLayout layout,
                                                absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Reply> answer, store::DecodeArray(std::move(reply)));
  if (answer.empty() || !answer.front().is_integer()) return UnexpectedReply();
  if (layout == store::KeyLayout::kCluster) {
    const int64_t code = answer.front().integer();
    AppendOutcome outcome;
    if (code == -3) outcome.missing = AppendOutcome::Missing::kValueType;
    if (code == 3 || code == 103 || code == -4) outcome.missing = AppendOutcome::Missing::kCopy;
    if (outcome.missing != AppendOutcome::Missing::kNothing) return outcome;
  }
  if (answer.front().integer() != 0) return Refusal(topic, answer);
  if (answer.size() < 3 || !answer[1].is_bulk() || !answer[2].is_bulk()) return UnexpectedReply();
  AppendOutcome outcome;
  const std::optional<int64_t> partitions = base::ParseInt64(answer[2].text());
  if (!partitions || *partitions < 1 || *partitions > std::numeric_limits<int32_t>::max()) {
    return UnexpectedReply();
  }
  outcome.partitions = static_cast<int32_t>(*partitions);
  outcome.value_type = FindValueType(answer[1].text());
  for (const Reply& element : std::span(answer).subspan(3)) {
    const std::optional<store::StreamId> id =
        element.is_bulk() ? store::StreamId::Parse(element.text()) : std::nullopt;
    if (!id) return UnexpectedReply();
    outcome.ids.push_back(*id);
  }
  return outcome;
}

}  // namespace redouble::inline v0_1::korvet
