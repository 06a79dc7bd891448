#include "redouble/core/korvet/log/partition_commands.h"

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/stream_decode.h"

namespace redouble::inline v0_1::korvet {

using store::CommandId;
using store::Reply;

absl::StatusOr<std::string> StreamKeyOf(const Keys& keys, const Topic& topic, int32_t partition) {
  if (partition < 0 || partition >= topic.partitions) {
    return MakeError(ErrorCode::kUnknownTopicOrPartition,
                     absl::StrCat("the topic ", topic.name, " has ", topic.partitions,
                                  " partitions, so no partition ", partition));
  }
  return keys.Stream({topic.name, partition});
}

absl::StatusOr<int64_t> MillisOfTime(const Reply& reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> time, store::DecodeStrings(reply));
  const std::optional<int64_t> seconds =
      time.size() == 2 ? base::ParseInt64(time[0]) : std::nullopt;
  const std::optional<int64_t> micros = time.size() == 2 ? base::ParseInt64(time[1]) : std::nullopt;
  if (!seconds || !micros) return store::ProtocolError("TIME answered something else");
  return *seconds * 1000 + *micros / 1000;
}

void AddTopicQuestion(store::Batch& batch, std::string_view topic_key) {
  batch.Add(CommandId::kHMGet, {topic_key, "id", "partitions", "compression"});
}

absl::Status AdoptTopicAnswer(const Reply& reply, Topic& topic) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::optional<std::string>> answer,
                            store::DecodeStringsOrNil(reply));
  if (answer.size() != 3 || !answer[0] || !answer[1]) {
    return MakeError(ErrorCode::kUnknownTopicOrPartition,
                     absl::StrCat("there is no topic ", topic.name, " any more"));
  }
  if (TopicId::Parse(*answer[0]) != topic.id) {
    return MakeError(
        ErrorCode::kInconsistentTopicId,
        absl::StrCat("the topic ", topic.name, " was deleted and made anew: its id is ", *answer[0],
                     ", not ", topic.id.ToString()));
  }
  const std::optional<int64_t> partitions = base::ParseInt64(*answer[1]);
  const std::optional<Compression> compression =
      answer[2] ? FindCompression(*answer[2]) : Compression::kNone;
  if (!partitions || *partitions < 1 || *partitions > std::numeric_limits<int32_t>::max() ||
      !compression) {
    return MakeError(ErrorCode::kUnknownServerError,
                     absl::StrCat("the hash of topic ", topic.name,
                                  ": partitions or compression is not an allowed value"));
  }
  topic.partitions = static_cast<int32_t>(*partitions);
  topic.config.compression = *compression;
  return absl::OkStatus();
}

bool IsNoSuchKey(const Reply& reply) {
  // lint: one-home: a system must not include a backend
  return reply.is_error() && reply.text() == "ERR no such key";
}

absl::StatusOr<LogBounds> BoundsOf(const Reply& reply, const OffsetCodec& offsets) {
  if (IsNoSuchKey(reply)) return LogBounds();
  REDOUBLE_ASSIGN_OR_RETURN(const store::StreamInfo info, store::DecodeStreamInfo(reply));
  LogBounds bounds;
  bounds.last_id = info.last_generated_id;
  if (bounds.last_id == store::StreamId::Min()) return bounds;

  REDOUBLE_ASSIGN_OR_RETURN(const int64_t last, offsets.Encode(bounds.last_id));
  if (last == std::numeric_limits<int64_t>::max()) {
    return MakeError(ErrorCode::kUnknownServerError,
                     absl::StrCat("the log has no end: ", bounds.last_id.ToString(),
                                  " has the greatest offset of all"));
  }
  bounds.end = last + 1;
  if (info.entries_added == info.length) return bounds;
  if (info.length == 0) {
    bounds.start = bounds.end;
    return bounds;
  }
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t first, offsets.Encode(info.first_entry_id));
  bounds.start = first;
  return bounds;
}

absl::StatusOr<LogRecord> LogRecordOf(int32_t partition, const store::StreamEntry& entry,
                                      const OffsetCodec& offsets) {
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t offset, offsets.Encode(entry.id));
  REDOUBLE_ASSIGN_OR_RETURN(Record record, DecodeRecord(entry.fields, entry.id));
  return LogRecord{partition, offset, static_cast<int64_t>(entry.id.ms), std::move(record)};
}

void AddStreamQuestion(store::Batch& batch, std::string_view stream_key) {
  batch.Add(CommandId::kXInfoStream, {stream_key});
}

void AddRange(store::Batch& batch, std::string_view stream_key, store::StreamId first,
              int64_t count) {
  batch.Add(CommandId::kXRange, {stream_key})
      .AddOwned(first.ToString())
      .Add("+")
      .Add("COUNT")
      .AddInteger(count);
}

}  // namespace redouble::inline v0_1::korvet
