#include "core/korvet/append_script.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/korvet/error_code.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "nlohmann/json.hpp"

namespace redouble::korvet {
namespace {

using store::Reply;

// Numbers up to 2^53 are exact in Lua, which is the greatest time of an id with 10 bits of
// sequence; whatever is beyond the topic's greatest is refused, and nothing is written.
//
// ARGV: 1, 2 the topic's id in both its texts; 3 greatest sequence; 4 greatest milliseconds;
// 5 retention time in ms, -1: none; 6 greatest length, -1: none; 7 "=", "~" or "" (no trimming);
// 8 the value type that the batch would make of the topic, ""; 9 the first record that is not JSON;
// then for each record the count of its words, and its words.
// Answers {0, value type, id...}, {3} no topic, {103} another topic, {87, n} record n is not JSON,
// {-1, id} the log's last id is beyond all offsets.
constexpr std::string_view kAppend = R"lua(
local id, partitions, kind = unpack(redis.call('HMGET', KEYS[2], 'id', 'partitions', 'valueType'))
if not id or not partitions then return {3} end
if id ~= ARGV[1] and string.lower(id) ~= ARGV[2] then return {103} end

local kind_is_new = not kind and ARGV[8] ~= ''
kind = kind or ARGV[8]
if kind == 'JSON' and ARGV[9] ~= '0' then return {87, tonumber(ARGV[9])} end

local ms, seq, last = 0, 0, '0-0'
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = info[i + 1] end
  end
  ms, seq = string.match(last, '^(%d+)-(%d+)$')
  ms, seq = tonumber(ms), tonumber(seq)
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local max_seq, max_ms = tonumber(ARGV[3]), tonumber(ARGV[4])
local answer, at = {0, kind}, 10
while at <= #ARGV do
  if now > ms then
    ms, seq = now, 0
  else
    seq = seq + 1
  end
  if seq > max_seq then
    ms, seq = ms + 1, 0
  end
  if ms > max_ms then return {-1, last} end
  answer[#answer + 1] = string.format('%.0f-%.0f', ms, seq)
  at = at + 1 + ARGV[at]
end

if kind_is_new then redis.call('HSET', KEYS[2], 'valueType', kind) end
local oldest = now - ARGV[5]
local cuts_by_age = ARGV[7] ~= '' and ARGV[5] ~= '-1' and oldest > 0
at = 10
for i = 3, #answer do
  local words = {'XADD', KEYS[1]}
  if cuts_by_age and i == 3 then
    words[3], words[4], words[5] = 'MINID', ARGV[7], string.format('%.0f', oldest)
  end
  words[#words + 1] = answer[i]
  for j = at + 1, at + ARGV[at] do words[#words + 1] = ARGV[j] end
  redis.call(unpack(words))
  at = at + 1 + ARGV[at]
end
if ARGV[7] ~= '' and ARGV[6] ~= '-1' then
  redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[7], ARGV[6])
end
return answer
)lua";

constexpr std::string_view kJson = "JSON";
constexpr std::string_view kBytes = "BYTES";

absl::Status OddAnswer() {
  return store::ProtocolError("the script that appends records answered something else");
}

std::optional<ValueType> ValueTypeOf(std::string_view text) {
  if (text == kJson) return ValueType::kJson;
  if (text == kBytes) return ValueType::kBytes;
  return std::nullopt;
}

absl::Status Refusal(const Topic& topic, std::span<const Reply> answer) {
  const int64_t code = answer[0].integer();
  if (code == 3) {
    return KafkaError(ErrorCode::kUnknownTopicOrPartition,
                      absl::StrCat("there is no topic ", topic.name, " any more"));
  }
  if (code == 103) {
    return KafkaError(ErrorCode::kInconsistentTopicId,
                      absl::StrCat("the topic ", topic.name, " was deleted and made anew"));
  }
  if (answer.size() != 2) return OddAnswer();
  if (code == 87 && answer[1].is_integer()) {
    return KafkaError(
        ErrorCode::kInvalidRecord,
        absl::StrCat("the topic ", topic.name, " holds JSON, and the value of record ",
                     answer[1].integer(), " of the batch is none"));
  }
  if (code == -1 && answer[1].is_bulk()) {
    return KafkaError(ErrorCode::kUnknownServerError,
                      absl::StrCat("behind ", answer[1].text(), " there is no id with an offset"));
  }
  return OddAnswer();
}

}  // namespace

const store::Script& AppendScript() {
  static const store::Script& script = *new store::Script(std::string(kAppend));
  return script;
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
    // The rest matters only to a topic of JSON, and this batch is refused by one already.
    if (proposal.first_other != 0) break;
  }
  return proposal;
}

std::vector<std::string> AppendArguments(const Topic& topic, const ValueTypeProposal& proposal,
                                         Trimming trimming, std::span<const RecordFields> records) {
  const TopicConfig& config = topic.config;
  // The script knows what time it is; what is asked for here is the length.
  const RetentionBounds bounds = RetentionOf(config, /*now_ms=*/0);
  std::vector<std::string> words = {
      topic.id.ToString(),
      topic.id.ToUuid(),
      absl::StrCat(config.offsets.max_sequence()),
      absl::StrCat(config.offsets.max_ms()),
      absl::StrCat(config.retention_time_ms),
      absl::StrCat(bounds.max_length.value_or(-1)),
      std::string(trimming == Trimming::kNone ? "" : TrimmingSign(trimming)),
      std::string(!proposal.type                      ? ""
                  : proposal.type == ValueType::kJson ? kJson
                                                      : kBytes),
      absl::StrCat(proposal.first_other),
  };
  for (const RecordFields& fields : records) {
    words.push_back(absl::StrCat(2 * fields.size()));
    for (const auto& [name, value] : fields) {
      words.push_back(name);
      words.push_back(value);
    }
  }
  return words;
}

absl::StatusOr<AppendOutcome> ReadAppendOutcome(const Topic& topic, absl::StatusOr<Reply> reply) {
  const absl::StatusOr<std::vector<Reply>> answer = store::DecodeArray(std::move(reply));
  if (!answer.ok()) return answer.status();
  if (answer->empty() || !answer->front().is_integer()) return OddAnswer();
  if (answer->front().integer() != 0) return Refusal(topic, *answer);
  if (answer->size() < 2 || !(*answer)[1].is_bulk()) return OddAnswer();
  AppendOutcome outcome;
  outcome.value_type = ValueTypeOf((*answer)[1].text());
  for (const Reply& element : std::span(*answer).subspan(2)) {
    const std::optional<store::StreamId> id =
        element.is_bulk() ? store::StreamId::Parse(element.text()) : std::nullopt;
    if (!id) return OddAnswer();
    outcome.ids.push_back(*id);
  }
  return outcome;
}

}  // namespace redouble::korvet
