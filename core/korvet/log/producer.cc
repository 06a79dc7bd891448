#include "redouble/core/korvet/log/producer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/append_script.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/korvet/topics/topic_steps.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/post.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/stream_decode.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;
using store::StreamId;

absl::Status CheckIds(std::span<const NewRecord> records, const OffsetCodec& offsets) {
  const auto has_id = [](const NewRecord& record) { return record.id.has_value(); };
  if (std::none_of(records.begin(), records.end(), has_id)) return absl::OkStatus();
  for (const NewRecord& record : records) {
    if (!record.id) {
      return MakeError(ErrorCode::kInvalidRequest,
                       "some records of a batch have ids, and some not");
    }
    if (const auto offset = offsets.Encode(*record.id); !offset.ok()) {
      return MakeError(ErrorCode::kInvalidRecord, base::ToStd(offset.status().message()));
    }
  }
  return absl::OkStatus();
}

absl::Status AddOffsets(std::span<const StreamId> ids, const OffsetCodec& offsets,
                        Appended& appended) {
  for (const StreamId id : ids) {
    REDOUBLE_ASSIGN_OR_RETURN(const int64_t offset, offsets.Encode(id));
    if (appended.offsets.empty()) {
      appended.base_offset = offset;
      appended.append_time_ms = static_cast<int64_t>(id.ms);
    }
    appended.offsets.push_back(offset);
  }
  return absl::OkStatus();
}

// Appends XADD key [NOMKSTREAM] [MINID = ms] id field value ...
void AddEntry(Batch& batch, std::string_view stream, StreamId id, const RecordFields& fields,
              std::string_view sign, const ProducerOptions& options,
              std::optional<int64_t> min_id_ms) {
  Command& add = batch.Add(CommandId::kXAdd, {stream});
  if (options.hardening.stream_exists) add.Add("NOMKSTREAM");
  if (min_id_ms) add.Add("MINID").Add(sign).AddInteger(*min_id_ms);
  add.AddOwned(id.ToString());
  for (const auto& [name, value] : fields) add.Add(name).Add(value);
}

const store::Script& GivenIdsScript() {
  static const store::Script& script = *new store::Script(std::string(kAppendGivenIdsText));
  return script;
}

// The arguments of scripts/append_given_ids.lua.
std::vector<std::string> GivenIdsArguments(const Topic& topic, const ProducerOptions& options,
                                           const RetentionBounds& bounds,
                                           std::span<const NewRecord> records,
                                           std::span<const RecordFields> fields) {
  const auto text = [](const auto& bound) { return bound ? absl::StrCat(*bound) : std::string(); };
  std::vector<std::string> words = {topic.id.ToString(),
                                    topic.id.ToUuid(),
                                    options.hardening.stream_exists ? "1" : "0",
                                    std::string(TrimmingSign(options.trimming)),
                                    text(bounds.min_id_ms),
                                    text(bounds.max_length)};
  for (size_t i = 0; i < records.size(); ++i) {
    words.push_back(absl::StrCat(records[i].id->ms));
    words.push_back(absl::StrCat(records[i].id->seq));
    words.push_back(absl::StrCat(2 * fields[i].size()));
    for (const auto& [name, value] : fields[i]) {
      words.push_back(name);
      words.push_back(value);
    }
  }
  return words;
}

absl::Status Gone(const Topic& topic) {
  return MakeError(ErrorCode::kUnknownTopicOrPartition,
                   absl::StrCat("the stream of a partition of ", topic.name, " is gone"));
}

}  // namespace

// The runs of a script that write a batch. Several are one transaction.
struct Producer::ScriptCalls {
  const store::Script& script;
  int32_t partition = 0;
  std::vector<std::string_view> keys;
  ValueTypeProposal proposal = {};
  // The arguments of each run, for the topic as it is known then.
  std::function<std::vector<std::vector<std::string>>()> arguments = {};
  std::vector<std::vector<std::string>> words = {};  // Those that were sent last.
};

absl::Status Producer::Check(std::span<const NewRecord> records) const {
  if (options_.acks < -1 || options_.acks > 1) {
    return MakeError(ErrorCode::kInvalidRequiredAcks, absl::StrCat("acks is ", options_.acks));
  }
  if (!FindCompression(options_.codec)) {
    return MakeError(ErrorCode::kUnsupportedCompressionType,
                     absl::StrCat("there is no codec \"", base::ToAbsl(options_.codec), "\""));
  }
  for (const NewRecord& record : records) {
    const int64_t size = SizeOf({record.key, record.value, 0, record.headers});
    if (size > options_.max_record_bytes) {
      return MakeError(
          ErrorCode::kMessageTooLarge,
          absl::StrCat("a record has ", size, " bytes, more than ", options_.max_record_bytes));
    }
    // The script could not pass the fields to XADD after it has written the earlier records.
    const size_t fields =
        record.headers.size() + record.key.has_value() + record.value.has_value() + 1;
    const bool by_script = !record.id || options_.hardening.atomic_batches;
    if (by_script && fields > kMaxRecordFields) {
      return MakeError(
          ErrorCode::kMessageTooLarge,
          absl::StrCat("a record has ", fields, " fields, more than ", kMaxRecordFields));
    }
  }
  return CheckIds(records, topic_.config.offsets);
}

RecordFields Producer::FieldsOf(const NewRecord& record) const {
  int64_t timestamp_ms = record.timestamp_ms.value_or(-1);
  if (timestamp_ms == -1) timestamp_ms = clock_.NowMillis();
  return EncodeRecord({record.key, record.value, timestamp_ms, record.headers});
}

base::Task<absl::Status> Producer::WriteByScript(Place place, std::span<const NewRecord> records,
                                                 size_t first, size_t at_once, Appended& appended) {
  std::vector<RecordFields> fields;
  for (const NewRecord& record : records) fields.push_back(FieldsOf(record));
  AppendRequest request;
  request.layout = keys_.layout();
  request.proposal = ProposeValueType(topic_, records);
  request.trimming = options_.trimming;
  const bool once = !place.batch.empty();
  ScriptCalls calls{once ? AppendOnceScript(request.layout) : AppendScript(request.layout),
                    place.partition,
                    {place.stream, place.metadata}};
  if (once) calls.keys.push_back(place.batch);
  calls.proposal = request.proposal;
  calls.arguments = [this, &fields, &request, first, at_once, once] {
    std::vector<std::vector<std::string>> words;
    for (size_t begin = 0; begin < fields.size(); begin += at_once) {
      const size_t end = std::min(begin + at_once, fields.size());
      words.push_back(
          AppendArguments(topic_, request, std::span(fields).subspan(begin, end - begin)));
      if (!once) continue;
      // A later topic of the same name is another log.
      words.back().push_back(absl::StrCat(topic_.id.ToString(), ":", first + begin));
      words.back().push_back(absl::StrCat(absl::ToInt64Seconds(BatchTtl())));
    }
    return words;
  };
  co_return co_await RunScript(calls, appended);
}

base::Task<absl::Status> Producer::RunScript(ScriptCalls& calls, Appended& appended) {
  if (options_.acks == 0) {
    // The caller does not see the reply of a script that asks for the value type. An error is lost,
    // as those of the script are.
    if (!(co_await SettleValueType(calls.proposal)).ok()) co_return absl::OkStatus();
    calls.words = calls.arguments();
    const Batch batch = BatchOf(calls);
    store::Post(store_, batch);
    co_return absl::OkStatus();
  }
  for (bool is_renewed = false;;) {
    calls.words = calls.arguments();
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<AppendOutcome> outcomes,
                                 co_await SendScript(calls));
    // Nothing changes between the runs of a transaction, so what one of them misses they all do.
    using Missing = AppendOutcome::Missing;
    if (outcomes.front().missing == Missing::kValueType) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await SettleValueType(calls.proposal));
      continue;
    }
    if (outcomes.front().missing == Missing::kCopy) {
      TopicSteps steps(store_, keys_);
      REDOUBLE_CO_RETURN_IF_ERROR(co_await steps.RenewPartition(topic_, calls.partition));
      if (!std::exchange(is_renewed, true)) continue;
      co_return MakeError(ErrorCode::kUnknownTopicOrPartition,
                          absl::StrCat("the topic ", topic_.name, " is being changed"));
    }
    for (const AppendOutcome& outcome : outcomes) {
      if (outcome.value_type) topic_.config.value_type = outcome.value_type;
      topic_.partitions = outcome.partitions;
      REDOUBLE_CO_RETURN_IF_ERROR(AddOffsets(outcome.ids, topic_.config.offsets, appended));
    }
    co_return absl::OkStatus();
  }
}

// The batch has the text of the script, because an EVALSHA that fails with NOSCRIPT cannot be
// repeated: its error is lost, or the other commands have run. It views `calls`.
Batch Producer::BatchOf(const ScriptCalls& calls) {
  const bool is_divided = calls.words.size() > 1;
  Batch batch(is_divided ? Batch::Atomicity::kTransaction : Batch::Atomicity::kPipeline);
  for (const std::vector<std::string>& words : calls.words) {
    const std::vector<std::string_view> arguments(words.begin(), words.end());
    calls.script.AddTo(batch, calls.keys, arguments);
  }
  return batch;
}

base::Task<absl::StatusOr<std::vector<AppendOutcome>>> Producer::SendScript(
    const ScriptCalls& calls) {
  std::vector<store::Reply> replies;
  if (calls.words.size() == 1) {
    const std::vector<std::string>& words = calls.words.front();
    const std::vector<std::string_view> arguments(words.begin(), words.end());
    REDOUBLE_CO_ASSIGN_OR_RETURN(store::Reply reply,
                                 co_await calls.script.Run(store_, calls.keys, arguments));
    replies.push_back(std::move(reply));
  } else {
    const Batch batch = BatchOf(calls);
    REDOUBLE_CO_ASSIGN_OR_RETURN(replies, co_await store::Execute(store_, batch));
    REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  }
  std::vector<AppendOutcome> outcomes;
  for (store::Reply& reply : replies) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(AppendOutcome outcome,
                                 ReadAppendOutcome(topic_, keys_.layout(), std::move(reply)));
    outcomes.push_back(std::move(outcome));
  }
  co_return std::move(outcomes);
}

base::Task<absl::Status> Producer::SettleValueType(const ValueTypeProposal& proposal) {
  if (!keys_.in_cluster_layout() || !proposal.type || topic_.config.value_type) {
    co_return absl::OkStatus();
  }
  if (*proposal.type == ValueType::kJson && proposal.first_other != 0) {
    // A topic without a type refuses this batch, which must not give it one.
    REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshTopic(store_, keys_, topic_));
    if (topic_.config.value_type) co_return absl::OkStatus();
    co_return NotJson(topic_, static_cast<int64_t>(proposal.first_other));
  }
  TopicSteps steps(store_, keys_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(topic_.config.value_type,
                               co_await steps.SettleValueType(topic_, *proposal.type));
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<int64_t>> Producer::TimeOfTrimming() {
  if (options_.now_ms) co_return *options_.now_ms;
  if (!options_.hardening.trim_by_server_time) co_return clock_.NowMillis();
  // What passes until the records are written only keeps others for longer.
  const store::Command time(store::CommandId::kTime);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::Reply reply, co_await store_.Execute(time));
  co_return MillisOfTime(reply);
}

base::Task<absl::Status> Producer::WriteByIds(Place place, std::span<const NewRecord> records,
                                              Appended& appended) {
  RetentionBounds bounds;
  if (options_.trimming != Trimming::kNone) {
    const absl::Status refreshed = co_await RefreshTopic(store_, keys_, topic_);
    // These records are written whether the topic exists or not.
    const ErrorCode code = ErrorCodeOf(refreshed);
    const bool gone =
        code == ErrorCode::kUnknownTopicOrPartition || code == ErrorCode::kInconsistentTopicId;
    if (!gone) {
      REDOUBLE_CO_RETURN_IF_ERROR(refreshed);
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t now_ms, co_await TimeOfTrimming());
    bounds = RetentionOf(topic_.config, now_ms);
  }
  const std::string_view sign = TrimmingSign(options_.trimming);
  std::vector<RecordFields> fields;
  for (const NewRecord& record : records) fields.push_back(FieldsOf(record));
  if (options_.hardening.atomic_batches) {
    ScriptCalls calls{GivenIdsScript(), place.partition, {place.stream, place.metadata}};
    calls.arguments = [&] {
      return std::vector<std::vector<std::string>>{
          GivenIdsArguments(topic_, options_, bounds, records, fields)};
    };
    co_return co_await RunScript(calls, appended);
  }
  Batch batch(Batch::Atomicity::kPipeline);
  for (size_t i = 0; i < records.size(); ++i) {
    AddEntry(batch, place.stream, *records[i].id, fields[i], sign, options_, bounds.min_id_ms);
  }
  if (bounds.max_length) {
    batch.Add(CommandId::kXTrim, {place.stream, "MAXLEN", sign}).AddInteger(*bounds.max_length);
  }
  if (options_.acks == 0) {
    store::Post(store_, batch);
    co_return absl::OkStatus();
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  for (size_t i = 0; i < records.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<StreamId> id,
                                 store::DecodeStreamIdOrNil(replies[i]));
    if (!id) co_return Gone(topic_);
    REDOUBLE_CO_RETURN_IF_ERROR(AddOffsets(std::span(&*id, 1), topic_.config.offsets, appended));
  }
  co_return store::FirstError(replies);
}

base::Task<absl::Status> Producer::EnsurePartition(int32_t partition) {
  if (partition < topic_.partitions) co_return absl::OkStatus();
  co_return co_await RefreshTopic(store_, keys_, topic_);
}

base::Task<absl::StatusOr<Appended>> Producer::Append(int32_t partition,
                                                      std::span<const NewRecord> records,
                                                      std::string_view batch_id) {
  REDOUBLE_CO_RETURN_IF_ERROR(Check(records));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await EnsurePartition(partition));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamKeyOf(keys_, topic_, partition));
  Appended appended;
  if (records.empty()) co_return appended;
  const TopicPartition named = {topic_.name, partition};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string metadata, keys_.Metadata(named));
  std::string batch;
  if (options_.hardening.write_batches_once && !batch_id.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(batch, keys_.WrittenBatch(named, batch_id));
  }
  const Place place = {partition, stream, metadata, batch};
  if (records.front().id) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteByIds(place, records, appended));
    co_return appended;
  }
  const size_t at_once = std::max<size_t>(
      std::min(options_.max_records_per_write.value_or(records.size()), records.size()), 1);
  const size_t together = options_.hardening.atomic_batches ? records.size() : at_once;
  for (size_t begin = 0; begin < records.size(); begin += together) {
    const std::span<const NewRecord> part =
        records.subspan(begin, std::min(together, records.size() - begin));
    REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteByScript(place, part, begin, at_once, appended));
  }
  co_return appended;
}

base::Task<absl::StatusOr<std::vector<absl::StatusOr<RecordMetadata>>>> Producer::Send(
    std::span<const NewRecord> records, std::string_view batch_id) {
  // The indexes of each partition's records in the request.
  std::map<int32_t, std::vector<size_t>> places;
  int32_t greatest = 0;
  for (const NewRecord& record : records) {
    greatest = std::max(greatest, record.partition.value_or(0));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await EnsurePartition(greatest));
  for (size_t i = 0; i < records.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int32_t partition,
                                 partitioner_.Choose(topic_.name, topic_.partitions,
                                                     {records[i].partition, records[i].key}));
    places[partition].push_back(i);
  }
  std::vector<absl::StatusOr<RecordMetadata>> sent(records.size(), RecordMetadata());
  for (const auto& [partition, indexes] : places) {
    std::vector<NewRecord> batch;
    for (const size_t index : indexes) batch.push_back(records[index]);
    const absl::StatusOr<Appended> appended = co_await Append(partition, batch, batch_id);
    for (size_t i = 0; i < indexes.size(); ++i) {
      absl::StatusOr<RecordMetadata>& record = sent[indexes[i]];
      if (!appended.ok()) {
        record = appended.status();
      } else {
        record = RecordMetadata{partition, options_.acks == 0 ? -1 : appended->offsets[i]};
      }
    }
  }
  co_return sent;
}

}  // namespace redouble::inline v0_1::korvet
