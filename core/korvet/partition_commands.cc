#include "core/korvet/partition_commands.h"

#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/korvet/error_code.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/stream_decode.h"

namespace redouble::korvet {

using store::CommandId;
using store::Reply;

absl::StatusOr<std::string> StreamKeyOf(const Keys& keys, const Topic& topic, int32_t partition) {
  if (partition < 0 || partition >= topic.partitions) {
    return KafkaError(ErrorCode::kUnknownTopicOrPartition,
                      absl::StrCat("the topic ", topic.name, " has ", topic.partitions,
                                   " partitions, so no partition ", partition));
  }
  return keys.Stream({topic.name, partition});
}

void AddTopicQuestion(store::Batch& batch, std::string_view topic_key) {
  batch.Add(CommandId::kHMGet, {topic_key, "id", "partitions"});
}

absl::Status CheckTopicAnswer(const Reply& reply, const Topic& topic) {
  absl::StatusOr<std::vector<std::optional<std::string>>> answer = store::DecodeStringsOrNil(reply);
  if (!answer.ok()) return answer.status();
  if (answer->size() != 2 || !(*answer)[0] || !(*answer)[1]) {
    return KafkaError(ErrorCode::kUnknownTopicOrPartition,
                      absl::StrCat("there is no topic ", topic.name, " any more"));
  }
  if (TopicId::Parse(*(*answer)[0]) != topic.id) {
    return KafkaError(
        ErrorCode::kInconsistentTopicId,
        absl::StrCat("the topic ", topic.name, " was deleted and made anew: its id is ",
                     *(*answer)[0], ", not ", topic.id.ToString()));
  }
  return absl::OkStatus();
}

bool IsNoSuchKey(const Reply& reply) {
  return reply.is_error() && reply.text() == "ERR no such key";
}

absl::StatusOr<LogBounds> BoundsOf(const Reply& reply, const OffsetCodec& offsets) {
  if (IsNoSuchKey(reply)) return LogBounds();
  const absl::StatusOr<store::StreamInfo> info = store::DecodeStreamInfo(reply);
  if (!info.ok()) return info.status();
  LogBounds bounds;
  bounds.last_id = info->last_generated_id;
  if (bounds.last_id == store::StreamId::Min()) return bounds;

  const absl::StatusOr<int64_t> last = offsets.Encode(bounds.last_id);
  if (!last.ok()) return last.status();
  if (*last == std::numeric_limits<int64_t>::max()) {
    return KafkaError(ErrorCode::kUnknownServerError,
                      absl::StrCat("the log has no end: ", bounds.last_id.ToString(),
                                   " has the greatest offset of all"));
  }
  bounds.end = *last + 1;
  if (info->entries_added == info->length) return bounds;
  if (info->length == 0) {
    bounds.start = bounds.end;
    return bounds;
  }
  const absl::StatusOr<int64_t> first = offsets.Encode(info->first_entry_id);
  if (!first.ok()) return first.status();
  bounds.start = *first;
  return bounds;
}

absl::StatusOr<LogRecord> LogRecordOf(int32_t partition, const store::StreamEntry& entry,
                                      const OffsetCodec& offsets) {
  const absl::StatusOr<int64_t> offset = offsets.Encode(entry.id);
  if (!offset.ok()) return offset.status();
  absl::StatusOr<Record> record = DecodeRecord(entry.fields, entry.id);
  if (!record.ok()) return record.status();
  return LogRecord{partition, *offset, static_cast<int64_t>(entry.id.ms), *std::move(record)};
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

}  // namespace redouble::korvet
