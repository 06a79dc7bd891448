#include "redouble/core/korvet/log/log.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/korvet/topics/topic_steps.h"
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
  for (size_t turn = 0;; ++turn) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(Round round, co_await ReadOnce(request));
    const absl::Duration left = deadline - clock_.Now();
    const bool enough = round.bytes >= request.min_bytes || round.full || round.failed;
    if (enough || left <= absl::ZeroDuration()) co_return std::move(round.partitions);
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Wait(round, left, turn));
  }
}

base::Task<absl::StatusOr<Log::Round>> Log::ReadOnce(FetchRequest request) {
  int32_t greatest = 0;
  for (const FetchPosition& position : request.positions) {
    greatest = std::max(greatest, position.partition);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await EnsurePartition(greatest));
  Round round;
  std::vector<Page> pages;
  for (size_t i = 0; i < request.positions.size(); ++i) {
    const FetchPosition& position = request.positions[i];
    FetchedPartition& partition = round.partitions.emplace_back();
    partition.partition = position.partition;
    partition.next_offset = position.offset;
    absl::StatusOr<std::string> stream = StreamKeyOf(keys_, topic_, position.partition);
    const absl::StatusOr<StreamId> first = topic_.config.offsets.Decode(position.offset);
    partition.status = stream.ok() ? first.status() : stream.status();
    if (!partition.status.ok()) continue;
    const TopicPartition named = {topic_.name, position.partition};
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string key, keys_.Metadata(named));
    pages.push_back({i, std::move(key), *std::move(stream), *first, PageFor(request.max_records)});
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await AskAll(request, pages));
  for (FetchedPartition& partition : round.partitions) {
    partition.compression = topic_.config.compression;
  }
  for (Page& page : pages) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadPages(request, std::move(page), round));
  }
  for (const FetchedPartition& partition : round.partitions) {
    round.failed = round.failed || !partition.status.ok();
  }
  co_return round;
}

base::Task<absl::Status> Log::AskAll(const FetchRequest& request, std::span<Page> pages) {
  if (!keys_.in_cluster_layout()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string topic_key, keys_.Topic(topic_.name));
    co_return co_await Ask(topic_key, pages);
  }
  std::vector<base::Task<absl::Status>> asked;
  for (Page& page : pages) asked.push_back(Ask(page.topic_key, std::span(&page, 1)));
  const std::vector<absl::Status> answered = co_await base::WhenAll(std::move(asked));
  for (size_t i = 0; i < pages.size(); ++i) {
    const ErrorCode code = ErrorCodeOf(answered[i]);
    const bool has_no_copy =
        code == ErrorCode::kUnknownTopicOrPartition || code == ErrorCode::kInconsistentTopicId;
    if (!has_no_copy) {
      REDOUBLE_CO_RETURN_IF_ERROR(answered[i]);
      continue;
    }
    // The topic's hash decides whether the topic is gone or the partition's copy is missing.
    TopicSteps steps(store_, keys_);
    const int32_t partition = request.positions[pages[i].index].partition;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await steps.RenewPartition(topic_, partition));
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Ask(pages[i].topic_key, std::span(&pages[i], 1)));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Log::Ask(std::string_view topic_key, std::span<Page> pages) {
  Batch batch(Batch::Atomicity::kTransaction);
  AddTopicQuestion(batch, topic_key);
  for (const Page& page : pages) {
    AddStreamQuestion(batch, page.stream);
    AddRange(batch, page.stream, page.first, page.count);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store_, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(AdoptTopicAnswer(replies.front(), topic_));
  auto next = replies.begin() + 1;
  for (Page& page : pages) {
    page.answers.assign(std::make_move_iterator(next), std::make_move_iterator(next + 2));
    next += 2;
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Log::ReadPages(const FetchRequest& request, Page page, Round& round) {
  const FetchPosition& position = request.positions[page.index];
  FetchedPartition& partition = round.partitions[page.index];
  Room room(request, position, round.bytes, round.count);
  for (bool first_page = true;; first_page = false) {
    const std::vector<Reply>& answers = page.answers;
    const absl::StatusOr<LogBounds> bounds = BoundsOf(answers[0], topic_.config.offsets);
    const absl::StatusOr<std::vector<StreamEntry>> entries = store::DecodeStreamEntries(answers[1]);
    absl::Status status = bounds.ok() ? entries.status() : bounds.status();
    if (status.ok()) status = CheckInRange(partition.next_offset, *bounds);
    // After the first page, the next fetch reports the error, because it starts at this entry.
    if (first_page) partition.status = status;
    if (bounds.ok() && first_page) partition.bounds = *bounds;
    if (!status.ok()) co_return absl::OkStatus();

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
    if (static_cast<int64_t>(entries->size()) < page.count) co_return absl::OkStatus();
    if (room.count() <= 0) {
      round.full = true;
      co_return absl::OkStatus();
    }
    page.first = *topic_.config.offsets.Decode(partition.next_offset);
    page.count = PageFor(room.count());
    // The records of a topic of the same name must not continue those of this one.
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Ask(page.topic_key, std::span(&page, 1)));
  }
}

base::Task<absl::Status> Log::Wait(const Round& round, absl::Duration time, size_t turn) {
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
  std::span<const store::StreamRead> waits_for = reads;
  store::XReadOptions options;
  options.count = 1;
  options.block = time;
  if (keys_.in_cluster_layout() && reads.size() > 1) {
    waits_for = waits_for.subspan(turn % reads.size(), 1);
    options.block = std::min(time, kWaitSlice);
  }
  const auto woken = co_await store::XRead(store_, waits_for, options);
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
