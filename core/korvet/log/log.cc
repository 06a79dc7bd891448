#include "redouble/core/korvet/log/log.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/stream_decode.h"
#include "redouble/core/store/typed/streams.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;
using store::StreamEntry;
using store::StreamId;

// Entries per page, as many as a stream node holds.
constexpr int64_t kPage = 100;

absl::Status CheckInRange(int64_t offset, const LogBounds& bounds) {
  if (offset >= bounds.start && offset <= bounds.end) return absl::OkStatus();
  return MakeError(ErrorCode::kOffsetOutOfRange,
                   absl::StrCat("the offset ", offset, " is not in the log, which goes from ",
                                bounds.start, " to ", bounds.end));
}

// The remaining capacity of a fetch for one partition.
class Room {
 public:
  Room(const FetchRequest& request, const FetchPosition& position, int64_t bytes, int64_t count)
      : bytes_(std::min(request.max_bytes - bytes, position.max_bytes)),
        count_(request.max_records - count),
        first_of_all_(count == 0) {}

  int64_t count() const { return count_; }
  // Reserves capacity for a record of `size` bytes; returns false if it does not fit.
  bool Take(int64_t size) {
    if (count_ <= 0 || (size > bytes_ && !first_of_all_)) return false;
    first_of_all_ = false;
    bytes_ -= size;
    --count_;
    return true;
  }

 private:
  int64_t bytes_;
  int64_t count_;
  bool first_of_all_;  // No record of any partition was returned yet.
};

int64_t PageFor(int64_t room) { return std::clamp<int64_t>(room, 1, kPage); }

absl::StatusOr<ListedOffset> ListedOf(const std::vector<StreamEntry>& entries,
                                      const OffsetCodec& offsets) {
  if (entries.empty()) return ListedOffset();
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t offset, offsets.Encode(entries.front().id));
  return ListedOffset{offset, static_cast<int64_t>(entries.front().id.ms)};
}

}  // namespace

base::Task<absl::StatusOr<std::vector<FetchedPartition>>> Log::Fetch(FetchRequest request) {
  const absl::Time deadline = clock_.Now() + request.max_wait;
  for (;;) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(Round round, co_await ReadOnce(request));
    const absl::Duration left = deadline - clock_.Now();
    const bool enough = round.bytes >= request.min_bytes || round.full || round.failed;
    if (enough || left <= absl::ZeroDuration()) co_return std::move(round.partitions);
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Wait(round, left));
  }
}

base::Task<absl::StatusOr<Log::Round>> Log::ReadOnce(FetchRequest request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string topic_key, keys_.Topic(topic_.name));
  int32_t greatest = 0;
  for (const FetchPosition& position : request.positions) {
    greatest = std::max(greatest, position.partition);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await EnsurePartition(greatest));
  Round round;
  std::vector<std::string> streams(request.positions.size());
  Batch batch(Batch::Atomicity::kTransaction);
  AddTopicQuestion(batch, topic_key);
  for (size_t i = 0; i < request.positions.size(); ++i) {
    const FetchPosition& position = request.positions[i];
    FetchedPartition& partition = round.partitions.emplace_back();
    partition.partition = position.partition;
    partition.next_offset = position.offset;
    absl::StatusOr<std::string> stream = StreamKeyOf(keys_, topic_, position.partition);
    const absl::StatusOr<StreamId> first = topic_.config.offsets.Decode(position.offset);
    partition.status = stream.ok() ? first.status() : stream.status();
    if (!partition.status.ok()) continue;
    streams[i] = *std::move(stream);
    AddStreamQuestion(batch, streams[i]);
    AddRange(batch, streams[i], *first, PageFor(request.max_records));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store_, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(AdoptTopicAnswer(replies.front(), topic_));

  size_t next = 1;
  for (size_t i = 0; i < request.positions.size(); ++i) {
    FetchedPartition& partition = round.partitions[i];
    partition.compression = topic_.config.compression;
    if (partition.status.ok()) {
      const std::span<const Reply> answers = std::span(replies).subspan(next, 2);
      next += 2;
      const Pages pages{i, topic_key, streams[i], answers};
      REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadPages(request, pages, round));
    }
    round.failed = round.failed || !partition.status.ok();
  }
  co_return round;
}

base::Task<absl::Status> Log::ReadPages(const FetchRequest& request, Pages pages, Round& round) {
  const FetchPosition& position = request.positions[pages.index];
  FetchedPartition& partition = round.partitions[pages.index];
  Room room(request, position, round.bytes, round.count);
  std::vector<Reply> answers(pages.answers.begin(), pages.answers.end());
  for (bool first_page = true;; first_page = false) {
    const absl::StatusOr<LogBounds> bounds = BoundsOf(answers[0], topic_.config.offsets);
    const absl::StatusOr<std::vector<StreamEntry>> entries = store::DecodeStreamEntries(answers[1]);
    absl::Status status = bounds.ok() ? entries.status() : bounds.status();
    if (status.ok()) status = CheckInRange(partition.next_offset, *bounds);
    // After the first page, the next fetch reports the error, because it starts at this entry.
    if (first_page) partition.status = status;
    if (bounds.ok() && first_page) partition.bounds = *bounds;
    if (!status.ok()) co_return absl::OkStatus();

    const int64_t asked = PageFor(first_page ? request.max_records : room.count());
    for (const StreamEntry& entry : *entries) {
      absl::StatusOr<LogRecord> record =
          LogRecordOf(position.partition, entry, topic_.config.offsets);
      if (!record.ok()) {
        if (partition.records.empty()) partition.status = record.status();
        co_return absl::OkStatus();
      }
      if (!room.Take(record->size())) {
        round.full = true;
        co_return absl::OkStatus();
      }
      round.bytes += record->size();
      ++round.count;
      partition.next_offset = record->offset + 1;
      partition.records.push_back(*std::move(record));
    }
    if (static_cast<int64_t>(entries->size()) < asked) co_return absl::OkStatus();
    if (room.count() <= 0) {
      round.full = true;
      co_return absl::OkStatus();
    }
    Batch batch(Batch::Atomicity::kTransaction);
    AddTopicQuestion(batch, pages.topic_key);
    AddStreamQuestion(batch, pages.stream);
    AddRange(batch, pages.stream, *topic_.config.offsets.Decode(partition.next_offset),
             PageFor(room.count()));
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies,
                                 co_await store::Execute(store_, batch));
    // The records of a topic of the same name must not continue those of this one.
    REDOUBLE_CO_RETURN_IF_ERROR(AdoptTopicAnswer(replies.front(), topic_));
    answers.assign(replies.begin() + 1, replies.end());
  }
}

base::Task<absl::Status> Log::Wait(const Round& round, absl::Duration time) {
  std::vector<std::string> keys;
  for (const FetchedPartition& partition : round.partitions) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string key, StreamKeyOf(keys_, topic_, partition.partition));
    keys.push_back(std::move(key));
  }
  std::vector<store::StreamRead> reads;
  for (size_t i = 0; i < keys.size(); ++i) {
    store::StreamRead& read = reads.emplace_back();
    read.key = keys[i];
    read.after = round.partitions[i].bounds.last_id;
  }
  store::XReadOptions options;
  options.count = 1;
  options.block = time;
  const auto woken = co_await store::XRead(store_, reads, options);
  co_return woken.status();
}

base::Task<absl::Status> Log::EnsurePartition(int32_t partition) {
  if (partition < topic_.partitions) co_return absl::OkStatus();
  co_return co_await RefreshTopic(store_, keys_, topic_);
}

base::Task<absl::StatusOr<LogBounds>> Log::Bounds(int32_t partition) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await EnsurePartition(partition));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamKeyOf(keys_, topic_, partition));
  const store::Command info(CommandId::kXInfoStream, {stream});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Reply reply, co_await store_.Execute(info));
  co_return BoundsOf(reply, topic_.config.offsets);
}

base::Task<absl::StatusOr<ListedOffset>> Log::ListOffset(int32_t partition, int64_t timestamp_ms) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await EnsurePartition(partition));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamKeyOf(keys_, topic_, partition));
  if (timestamp_ms < kEarliestLocalTimestamp) {
    co_return MakeError(ErrorCode::kInvalidRequest,
                        absl::StrCat("no offset is asked for by the timestamp ", timestamp_ms));
  }
  ListedOffset listed;
  if (timestamp_ms != kLatestTimestamp) {
    const bool last = timestamp_ms == kMaxTimestamp;
    store::Command range(last ? CommandId::kXRevRange : CommandId::kXRange, {stream});
    if (timestamp_ms >= 0) {
      range.AddOwned(StreamId{static_cast<uint64_t>(timestamp_ms), 0}.ToString()).Add("+");
    } else {
      range.Add(last ? "+" : "-").Add(last ? "-" : "+");
    }
    range.Add("COUNT").Add("1");
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto entries,
                                 store::DecodeStreamEntries(co_await store_.Execute(range)));
    const absl::StatusOr<ListedOffset> found = ListedOf(entries, topic_.config.offsets);
    const bool earliest = timestamp_ms <= kEarliestTimestamp && !last;
    if (!found.ok() || found->offset >= 0 || !earliest) co_return found;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const LogBounds bounds, co_await Bounds(partition));
  listed.offset = timestamp_ms == kLatestTimestamp ? bounds.end : bounds.start;
  co_return listed;
}

base::Task<absl::StatusOr<int64_t>> Log::Sweep(SweepOptions options) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshTopic(store_, keys_, topic_));
  int64_t now_ms = 0;
  if (options.now_ms) {
    now_ms = *options.now_ms;
  } else {
    const store::Command time(CommandId::kTime);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Reply reply, co_await store_.Execute(time));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t redis_ms, MillisOfTime(reply));
    now_ms = redis_ms;
  }
  const RetentionBounds bounds = RetentionOf(topic_.config, now_ms);
  const std::string_view sign = TrimmingSign(options.trimming);
  std::vector<int32_t> partitions(options.partitions.begin(), options.partitions.end());
  if (partitions.empty()) {
    for (int32_t partition = 0; partition < topic_.partitions; ++partition) {
      partitions.push_back(partition);
    }
  }
  Batch batch(Batch::Atomicity::kPipeline);
  for (const int32_t partition : partitions) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string stream, StreamKeyOf(keys_, topic_, partition));
    const auto trim = [&](std::string_view bound, int64_t value) {
      batch.Add(CommandId::kXTrim).AddOwned(stream).Add(bound).Add(sign).AddInteger(value);
    };
    if (options.by_time && bounds.min_id_ms) trim("MINID", *bounds.min_id_ms);
    if (options.by_size && bounds.max_length) trim("MAXLEN", *bounds.max_length);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  int64_t removed = 0;
  for (const Reply& reply : replies) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, store::DecodeInteger(reply));
    removed += count;
  }
  co_return removed;
}

base::Task<absl::StatusOr<std::optional<int64_t>>> Log::MeasureMessageBytes(int64_t samples) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshTopic(store_, keys_, topic_));
  Batch batch(Batch::Atomicity::kPipeline);
  for (int32_t partition = 0; partition < topic_.partitions; ++partition) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string stream, StreamKeyOf(keys_, topic_, partition));
    store::Command& range = batch.Add(CommandId::kXRevRange);
    range.AddOwned(std::move(stream)).Add("+").Add("-").Add("COUNT").AddInteger(samples);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  int64_t count = 0;
  int64_t bytes = 0;
  for (const Reply& reply : replies) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto entries, store::DecodeStreamEntries(reply));
    for (const StreamEntry& entry : entries) {
      const absl::StatusOr<LogRecord> record = LogRecordOf(0, entry, topic_.config.offsets);
      if (!record.ok()) continue;
      ++count;
      bytes += record->size();
    }
  }
  if (count == 0) co_return std::nullopt;
  co_return std::max<int64_t>((bytes + count - 1) / count, 1);
}

}  // namespace redouble::inline v0_1::korvet
