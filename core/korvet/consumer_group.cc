#include "core/korvet/consumer_group.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/redis_number.h"
#include "core/base/string_bridge.h"
#include "core/korvet/error_code.h"
#include "core/korvet/partition_commands.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/script.h"
#include "core/store/stream_decode.h"
#include "core/store/streams.h"

namespace redouble::korvet {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;
using store::Reply;
using store::StreamEntry;
using store::StreamId;

constexpr std::string_view kBusyGroup = "BUSYGROUP";
constexpr std::string_view kNoGroup = "NOGROUP";
constexpr std::string_view kNoStream = "ERR The XGROUP subcommand requires the key to exist";

// How many pending entries a commit acknowledges at once.
constexpr int64_t kCommitPage = 1000;
// How many entries a lag looks at, or counts, at once.
constexpr int64_t kCountPage = 1000;

// KEYS: the partition's stream, the topic's hash. ARGV: the topic's id in both its texts, the
// group, its id, how many entries it has read (empty: unknown).
// Answers 0, or 3 when there is no topic, 103 when it is another one.
constexpr std::string_view kCreate = R"lua(
local id, partitions = unpack(redis.call('HMGET', KEYS[2], 'id', 'partitions'))
if not id or not partitions then return 3 end
if id ~= ARGV[1] and string.lower(id) ~= ARGV[2] then return 103 end
local words = {'XGROUP', 'CREATE', KEYS[1], ARGV[3], ARGV[4], 'MKSTREAM'}
if ARGV[5] ~= '' then
  words[7], words[8] = 'ENTRIESREAD', ARGV[5]
end
local reply = redis.pcall(unpack(words))
if reply.err and string.sub(reply.err, 1, 9) ~= 'BUSYGROUP' then
  return redis.error_reply(reply.err)
end
return 0
)lua";

// KEYS: the stream. ARGV: the group, the last id to acknowledge, the member.
// Answers how many entries were pending.
constexpr std::string_view kCommitOwn = R"lua(
local acknowledged = 0
while true do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], '-', ARGV[2], 1000, ARGV[3])
  if #pending == 0 then return acknowledged end
  local words = {'XACK', KEYS[1], ARGV[1]}
  for i = 1, #pending do words[i + 3] = pending[i][1] end
  acknowledged = acknowledged + redis.call(unpack(words))
end
)lua";

const store::Script& CreateScript() {
  static const store::Script& script = *new store::Script(std::string(kCreate));
  return script;
}

const store::Script& CommitOwnScript() {
  static const store::Script& script = *new store::Script(std::string(kCommitOwn));
  return script;
}

bool IsNoGroup(const absl::Status& status) { return store::ServerErrorCode(status) == kNoGroup; }

// The text of the id behind which the group reads on.
absl::StatusOr<std::string> IdOf(const GroupPosition& position, const OffsetCodec& offsets) {
  switch (position.kind) {
    case GroupPosition::Kind::kEarliest:
      return "0";
    case GroupPosition::Kind::kLatest:
      return "$";
    case GroupPosition::Kind::kOffset:
      break;
  }
  const absl::StatusOr<StreamId> id = offsets.Decode(position.offset);
  if (!id.ok()) return id.status();
  const std::optional<StreamId> before = id->Previous();
  return before ? before->ToString() : "0";
}

absl::StatusOr<PendingRecords> RecordsOf(int32_t partition, std::span<const StreamEntry> entries,
                                         const OffsetCodec& offsets) {
  PendingRecords pending;
  for (const StreamEntry& entry : entries) {
    if (entry.deleted) {
      ++pending.lost;
      continue;
    }
    absl::StatusOr<LogRecord> record = LogRecordOf(partition, entry, offsets);
    if (!record.ok()) return record.status();
    pending.records.push_back(*std::move(record));
  }
  return pending;
}

// The group's row of XINFO GROUPS; none when there is none, or no stream.
absl::StatusOr<std::optional<store::StreamGroupInfo>> FindGroup(const Reply& reply,
                                                                std::string_view group) {
  if (IsNoSuchKey(reply)) return std::nullopt;
  absl::StatusOr<std::vector<store::StreamGroupInfo>> groups = store::DecodeStreamGroups(reply);
  if (!groups.ok()) return groups.status();
  for (store::StreamGroupInfo& info : *groups) {
    if (info.name == group) return std::move(info);
  }
  return std::nullopt;
}

absl::Status CheckMember(std::string_view member) {
  if (!member.empty()) return absl::OkStatus();
  return KafkaError(ErrorCode::kUnknownMemberId, "the member has no name");
}

}  // namespace

absl::Status ConsumerGroup::NoGroup() const {
  return KafkaError(ErrorCode::kGroupIdNotFound,
                    absl::StrCat("the topic ", topic_.name, " has no group ", group_));
}

absl::Status ConsumerGroup::Explain(const absl::Status& status) const {
  const bool no_stream = store::ErrorKindOf(status) == store::ErrorKind::kServer &&
                         (status.message() == "ERR no such key" ||
                          base::ToStd(status.message()).starts_with(kNoStream));
  if (IsNoGroup(status) || no_stream) return NoGroup();
  return AsGroupError(status);
}

absl::StatusOr<std::string> ConsumerGroup::StreamOf(int32_t partition) const {
  if (group_.empty()) {
    return KafkaError(ErrorCode::kInvalidGroupId, "the name of the group is empty");
  }
  return StreamKeyOf(keys_, topic_, partition);
}

absl::StatusOr<std::vector<std::string>> ConsumerGroup::StreamsOf(
    std::span<const int32_t> partitions) const {
  std::vector<std::string> streams;
  for (const int32_t partition : partitions) {
    absl::StatusOr<std::string> stream = StreamOf(partition);
    if (!stream.ok()) return stream.status();
    streams.push_back(*std::move(stream));
  }
  return streams;
}

base::Task<absl::Status> ConsumerGroup::CreateGuarded(std::span<const std::string> streams,
                                                      std::string_view id,
                                                      const GroupPosition& position) {
  const absl::StatusOr<std::string> topic_key = keys_.Topic(topic_.name);
  if (!topic_key.ok()) co_return topic_key.status();
  const std::string id_text = topic_.id.ToString();
  const std::string uuid = topic_.id.ToUuid();
  const std::string entries_read =
      position.entries_read ? base::FormatInt64(*position.entries_read) : std::string();
  const std::vector<std::string_view> arguments = {id_text, uuid, group_, id, entries_read};
  for (const std::string& stream : streams) {
    const std::vector<std::string_view> keys = {stream, *topic_key};
    const absl::StatusOr<int64_t> outcome =
        store::DecodeInteger(co_await CreateScript().Run(store_, keys, arguments));
    if (!outcome.ok()) co_return AsGroupError(outcome.status());
    if (*outcome == static_cast<int64_t>(ErrorCode::kNone)) continue;
    co_return KafkaError(static_cast<ErrorCode>(*outcome),
                         absl::StrCat("the topic ", topic_.name, " was deleted"));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> ConsumerGroup::Create(std::span<const int32_t> partitions,
                                               GroupPosition position) {
  const absl::StatusOr<std::vector<std::string>> streams = StreamsOf(partitions);
  if (!streams.ok()) co_return streams.status();
  const absl::StatusOr<std::string> id = IdOf(position, topic_.config.offsets);
  if (!id.ok()) co_return id.status();
  if (options_.guard_topic) co_return co_await CreateGuarded(*streams, *id, position);

  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& stream : *streams) {
    Command& create = batch.Add(CommandId::kXGroupCreate, {stream, group_, *id, "MKSTREAM"});
    if (position.entries_read) create.Add("ENTRIESREAD").AddInteger(*position.entries_read);
  }
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  for (const Reply& reply : *replies) {
    absl::Status created = store::DecodeStatus(reply);
    if (!created.ok() && store::ServerErrorCode(created) != kBusyGroup) {
      co_return AsGroupError(created);
    }
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<LogRecord>>> ConsumerGroup::Poll(PollRequest request) {
  if (absl::Status status = CheckMember(request.member); !status.ok()) co_return status;
  const absl::StatusOr<std::vector<std::string>> streams = StreamsOf(request.partitions);
  if (!streams.ok()) co_return streams.status();
  std::vector<LogRecord> records;
  if (streams->empty()) co_return records;
  std::vector<store::StreamRead> reads;
  for (const std::string& stream : *streams) reads.emplace_back().key = stream;
  const store::GroupConsumer consumer{group_, request.member};
  store::XReadGroupOptions options;
  options.count = request.max_records;
  options.block = request.max_wait;

  auto read = co_await store::XReadGroup(store_, consumer, reads, options);
  if (IsNoGroup(read.status())) {
    absl::Status created = co_await Create(request.partitions, options_.start);
    if (!created.ok()) co_return created;
    read = co_await store::XReadGroup(store_, consumer, reads, options);
  }
  if (!read.ok()) co_return Explain(read.status());
  for (const store::StreamEntries& stream : *read) {
    const auto key = std::find(streams->begin(), streams->end(), stream.key);
    if (key == streams->end()) co_return store::ProtocolError("XREADGROUP read another stream");
    const int32_t partition = request.partitions[key - streams->begin()];
    absl::StatusOr<PendingRecords> delivered =
        RecordsOf(partition, stream.entries, topic_.config.offsets);
    if (!delivered.ok()) co_return delivered.status();
    std::move(delivered->records.begin(), delivered->records.end(), std::back_inserter(records));
  }
  co_return records;
}

base::Task<absl::StatusOr<PendingRecords>> ConsumerGroup::Backlog(BacklogRequest request) {
  if (absl::Status status = CheckMember(request.member); !status.ok()) co_return status;
  const absl::StatusOr<std::string> stream = StreamOf(request.partition);
  if (!stream.ok()) co_return stream.status();
  const absl::StatusOr<StreamId> from = topic_.config.offsets.Decode(request.offset);
  if (!from.ok()) co_return from.status();
  store::StreamRead read;
  read.key = *stream;
  read.after = from->Previous().value_or(StreamId::Min());
  const store::GroupConsumer consumer{group_, request.member};
  store::XReadGroupOptions options;
  options.count = request.max_records;
  const auto streams = co_await store::XReadGroup(store_, consumer, std::span(&read, 1), options);
  if (!streams.ok()) co_return Explain(streams.status());
  if (streams->empty()) co_return PendingRecords();
  co_return RecordsOf(request.partition, streams->front().entries, topic_.config.offsets);
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::CommitOwn(std::string_view stream,
                                                             std::string_view last,
                                                             std::string_view member) {
  const std::vector<std::string_view> keys = {stream};
  const std::vector<std::string_view> arguments = {group_, last, member};
  const absl::StatusOr<int64_t> count =
      store::DecodeInteger(co_await CommitOwnScript().Run(store_, keys, arguments));
  if (!count.ok()) co_return Explain(count.status());
  co_return count;
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::Commit(CommitRequest request) {
  const absl::StatusOr<std::string> stream = StreamOf(request.partition);
  if (!stream.ok()) co_return stream.status();
  if (request.metadata.size() > CommitRequest::kMaxMetadataBytes) {
    co_return KafkaError(ErrorCode::kOffsetMetadataTooLarge,
                         absl::StrCat("the metadata has ", request.metadata.size(), " bytes"));
  }
  const absl::StatusOr<StreamId> next = topic_.config.offsets.Decode(request.offset);
  if (!next.ok()) co_return next.status();
  // Below offset 0 there is nothing; the question still tells whether there is a group.
  const std::string last = next->Previous().value_or(StreamId::Min()).ToString();
  if (request.only_of) co_return co_await CommitOwn(*stream, last, *request.only_of);

  int64_t acknowledged = 0;
  for (;;) {
    Command pending(CommandId::kXPending, {*stream, group_, "-", last});
    pending.AddInteger(kCommitPage);
    const auto entries = store::DecodePendingEntries(co_await store_.Execute(pending));
    if (!entries.ok()) co_return Explain(entries.status());
    if (entries->empty()) co_return acknowledged;
    std::vector<StreamId> ids;
    for (const store::PendingEntry& entry : *entries) ids.push_back(entry.id);
    const absl::StatusOr<int64_t> count = co_await store::XAck(store_, *stream, group_, ids);
    if (!count.ok()) co_return Explain(count.status());
    acknowledged += *count;
    if (static_cast<int64_t>(entries->size()) < kCommitPage) co_return acknowledged;
  }
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::Acknowledge(int32_t partition,
                                                               std::span<const int64_t> offsets) {
  const absl::StatusOr<std::string> stream = StreamOf(partition);
  if (!stream.ok()) co_return stream.status();
  std::vector<StreamId> ids;
  for (const int64_t offset : offsets) {
    const absl::StatusOr<StreamId> id = topic_.config.offsets.Decode(offset);
    if (!id.ok()) co_return id.status();
    ids.push_back(*id);
  }
  if (ids.empty()) co_return 0;
  const absl::StatusOr<int64_t> count = co_await store::XAck(store_, *stream, group_, ids);
  if (!count.ok()) co_return Explain(count.status());
  co_return count;
}

base::Task<absl::StatusOr<std::optional<int64_t>>> ConsumerGroup::Committed(int32_t partition) {
  const absl::StatusOr<std::string> stream = StreamOf(partition);
  if (!stream.ok()) co_return stream.status();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kXPending, {*stream, group_});
  batch.Add(CommandId::kXInfoGroups, {*stream});
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  const auto group = FindGroup((*replies)[1], group_);
  if (!group.ok()) co_return AsGroupError(group.status());
  if (!*group) co_return std::nullopt;
  const absl::StatusOr<store::PendingSummary> pending = store::DecodePendingSummary((*replies)[0]);
  if (!pending.ok()) co_return Explain(pending.status());

  const OffsetCodec& offsets = topic_.config.offsets;
  if (pending->first) {
    const absl::StatusOr<int64_t> first = offsets.Encode(*pending->first);
    if (!first.ok()) co_return first.status();
    co_return *first;
  }
  const StreamId last = (*group)->last_delivered_id;
  if (last == StreamId::Min()) co_return std::nullopt;
  // A group that was set to "before the first of a millisecond" has read up to an id that has no
  // offset; what comes next has one.
  const std::optional<StreamId> next = last.Next();
  const absl::StatusOr<int64_t> offset = offsets.Encode(last);
  if (offset.ok()) co_return *offset + 1;
  if (next && next->seq == 0) {
    const absl::StatusOr<int64_t> behind = offsets.Encode(*next);
    if (behind.ok()) co_return *behind;
  }
  co_return offset.status();
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::CountBehind(std::string_view stream,
                                                               StreamId id) {
  int64_t count = 0;
  std::optional<StreamId> from = id.Next();
  while (from) {
    store::StreamRange range;
    range.first = *from;
    range.count = kCountPage;
    const auto entries = co_await store::XRange(store_, stream, range);
    if (!entries.ok()) co_return Explain(entries.status());
    count += static_cast<int64_t>(entries->size());
    if (static_cast<int64_t>(entries->size()) < kCountPage) break;
    from = entries->back().id.Next();
  }
  co_return count;
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::CountLost(std::string_view stream) {
  int64_t lost = 0;
  std::optional<StreamId> from = StreamId::Min();
  while (from) {
    store::XPendingOptions options;
    options.first = *from;
    options.count = kCountPage;
    const auto pending = co_await store::XPendingRange(store_, stream, group_, options);
    if (!pending.ok()) co_return Explain(pending.status());
    if (pending->empty()) break;
    Batch batch(Batch::Atomicity::kPipeline);
    for (const store::PendingEntry& entry : *pending) {
      const std::string id = entry.id.ToString();
      batch.Add(CommandId::kXRange, {stream}).AddOwned(id).AddOwned(id);
    }
    const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
    if (!replies.ok()) co_return Explain(replies.status());
    for (const Reply& reply : *replies) {
      const auto entries = store::DecodeStreamEntries(reply);
      if (!entries.ok()) co_return Explain(entries.status());
      lost += entries->empty() ? 1 : 0;
    }
    from = pending->back().id.Next();
  }
  co_return lost;
}

base::Task<absl::StatusOr<GroupLag>> ConsumerGroup::Lag(int32_t partition) {
  const absl::StatusOr<std::string> stream = StreamOf(partition);
  if (!stream.ok()) co_return stream.status();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kXPending, {*stream, group_});
  batch.Add(CommandId::kXInfoGroups, {*stream});
  AddStreamQuestion(batch, *stream);
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  const auto group = FindGroup((*replies)[1], group_);
  if (!group.ok()) co_return AsGroupError(group.status());
  if (!*group) co_return NoGroup();
  const absl::StatusOr<store::PendingSummary> pending = store::DecodePendingSummary((*replies)[0]);
  if (!pending.ok()) co_return Explain(pending.status());
  const absl::StatusOr<store::StreamInfo> info = store::DecodeStreamInfo((*replies)[2]);
  if (!info.ok()) co_return Explain(info.status());

  GroupLag lag;
  if ((*group)->lag) {
    lag.undelivered = *(*group)->lag;
  } else {
    const auto counted = co_await CountBehind(*stream, (*group)->last_delivered_id);
    if (!counted.ok()) co_return counted.status();
    lag.undelivered = *counted;
  }
  lag.pending = pending->count;
  const bool may_be_lost =
      pending->first && (info->length == 0 || *pending->first < info->first_entry_id ||
                         *pending->first <= info->max_deleted_entry_id);
  if (may_be_lost) {
    const absl::StatusOr<int64_t> lost = co_await CountLost(*stream);
    if (!lost.ok()) co_return lost.status();
    lag.pending -= *lost;
  }
  co_return lag;
}

base::Task<absl::Status> ConsumerGroup::Seek(int32_t partition, GroupPosition position) {
  const absl::StatusOr<std::string> stream = StreamOf(partition);
  if (!stream.ok()) co_return stream.status();
  const absl::StatusOr<std::string> id = IdOf(position, topic_.config.offsets);
  if (!id.ok()) co_return id.status();
  if (position.kind == GroupPosition::Kind::kOffset) {
    const Command info(CommandId::kXInfoStream, {*stream});
    const absl::StatusOr<Reply> reply = co_await store_.Execute(info);
    if (!reply.ok()) co_return AsGroupError(reply.status());
    const absl::StatusOr<LogBounds> bounds = BoundsOf(*reply, topic_.config.offsets);
    if (!bounds.ok()) co_return bounds.status();
    if (position.offset < bounds->start || position.offset > bounds->end) {
      co_return KafkaError(ErrorCode::kOffsetOutOfRange,
                           absl::StrCat("the offset ", position.offset, " is not in the log, from ",
                                        bounds->start, " to ", bounds->end));
    }
  }
  Command set(CommandId::kXGroupSetId, {*stream, group_, *id});
  if (position.entries_read) set.Add("ENTRIESREAD").AddInteger(*position.entries_read);
  co_return Explain(store::DecodeStatus(co_await store_.Execute(set)));
}

base::Task<absl::StatusOr<PendingRecords>> ConsumerGroup::Claim(ClaimRequest request) {
  if (absl::Status status = CheckMember(request.member); !status.ok()) co_return status;
  const absl::StatusOr<std::string> stream = StreamOf(request.partition);
  if (!stream.ok()) co_return stream.status();
  PendingRecords claimed;
  StreamId cursor = StreamId::Min();
  do {
    Command claim(CommandId::kXAutoClaim, {*stream, group_, request.member});
    claim.AddInteger(
        absl::ToInt64Milliseconds(absl::Ceil(request.min_idle, absl::Milliseconds(1))));
    claim.AddOwned(cursor.ToString()).Add("COUNT").AddInteger(request.page);
    const auto page = store::DecodeAutoClaimed(co_await store_.Execute(claim));
    if (!page.ok()) co_return Explain(page.status());
    absl::StatusOr<PendingRecords> records =
        RecordsOf(request.partition, page->entries, topic_.config.offsets);
    if (!records.ok()) co_return records.status();
    std::move(records->records.begin(), records->records.end(),
              std::back_inserter(claimed.records));
    claimed.lost += records->lost + static_cast<int64_t>(page->deleted.size());
    cursor = page->next;
  } while (cursor != StreamId::Min());
  co_return claimed;
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::RemoveMember(int32_t partition,
                                                                std::string_view member) {
  if (absl::Status status = CheckMember(member); !status.ok()) co_return status;
  const absl::StatusOr<std::string> stream = StreamOf(partition);
  if (!stream.ok()) co_return stream.status();
  const store::GroupConsumer consumer{group_, member};
  const absl::StatusOr<int64_t> lost = co_await store::XGroupDelConsumer(store_, *stream, consumer);
  if (!lost.ok()) co_return Explain(lost.status());
  co_return lost;
}

}  // namespace redouble::korvet
