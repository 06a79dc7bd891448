#include "redouble/core/korvet/groups/consumer_group.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/korvet/topics/topic_steps.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/stream_decode.h"
#include "redouble/core/store/typed/streams.h"

namespace redouble::inline v0_1::korvet {
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

// Pending entries that one XACK of a commit acknowledges.
constexpr int64_t kCommitPage = 1000;
// Entries per page when the lag is counted.
constexpr int64_t kCountPage = 1000;

// KEYS: the partition's stream, the topic's hash. ARGV: the topic's id in both forms, the group,
// its start id, the number of entries read (empty: unknown). Replies 0, or 3 if there is no topic,
// or 103 if it is another one.
const store::Script& CreateScript() {
  static const store::Script& script = *new store::Script(std::string(kCreateGroupText));
  return script;
}

// KEYS: the stream. ARGV: the group, the last id to acknowledge, the member. Replies the number of
// acknowledged entries.
const store::Script& CommitOwnScript() {
  static const store::Script& script = *new store::Script(std::string(kCommitOwnEntriesText));
  return script;
}

bool IsNoGroup(const absl::Status& status) { return store::ServerErrorCode(status) == kNoGroup; }

// Returns the text of the exclusive start id for a position.
absl::StatusOr<std::string> IdOf(const GroupPosition& position, const OffsetCodec& offsets) {
  switch (position.kind) {
    case GroupPosition::Kind::kEarliest:
      return "0";
    case GroupPosition::Kind::kLatest:
      return "$";
    case GroupPosition::Kind::kOffset:
      break;
  }
  REDOUBLE_ASSIGN_OR_RETURN(const StreamId id, offsets.Decode(position.offset));
  const std::optional<StreamId> before = id.Previous();
  return before ? before->ToString() : "0";
}

// An entry that is not a record goes to `unreadable`, or is an error if that is null.
absl::StatusOr<PendingRecords> RecordsOf(const Topic& topic, int32_t partition,
                                         std::span<const StreamEntry> entries,
                                         std::vector<UnreadableEntry>* unreadable) {
  PendingRecords pending;
  for (const StreamEntry& entry : entries) {
    if (entry.deleted) {
      ++pending.lost;
      continue;
    }
    absl::StatusOr<LogRecord> record = LogRecordOf(partition, entry, topic.config.offsets);
    if (record.ok()) {
      pending.records.push_back(*std::move(record));
    } else if (unreadable != nullptr) {
      unreadable->push_back({partition, entry.id, record.status(), topic.name});
    } else {
      return record.status();
    }
  }
  return pending;
}

// Returns the group's row of XINFO GROUPS, or nullopt if the group or the stream is missing.
absl::StatusOr<std::optional<store::StreamGroupInfo>> FindGroup(const Reply& reply,
                                                                std::string_view group) {
  if (IsNoSuchKey(reply)) return std::nullopt;
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<store::StreamGroupInfo> groups,
                            store::DecodeStreamGroups(reply));
  for (store::StreamGroupInfo& info : groups) {
    if (info.name == group) return std::move(info);
  }
  return std::nullopt;
}

// Returns the committed position of a group that exists.
absl::StatusOr<std::optional<int64_t>> CommittedOf(const store::PendingSummary& pending,
                                                   const store::StreamGroupInfo& group,
                                                   const OffsetCodec& offsets) {
  if (pending.first) {
    REDOUBLE_ASSIGN_OR_RETURN(const int64_t first, offsets.Encode(*pending.first));
    return first;
  }
  const StreamId last = group.last_delivered_id;
  if (last == StreamId::Min()) return std::nullopt;
  // After XGROUP SETID to the predecessor of the first id in a millisecond, the last delivered id
  // has no offset, but its successor has one.
  const std::optional<StreamId> next = last.Next();
  const absl::StatusOr<int64_t> offset = offsets.Encode(last);
  if (offset.ok()) return *offset + 1;
  if (next && next->seq == 0) {
    const absl::StatusOr<int64_t> behind = offsets.Encode(*next);
    if (behind.ok()) return *behind;
  }
  return offset.status();
}

absl::Status CheckMember(std::string_view member) {
  if (!member.empty()) return absl::OkStatus();
  return MakeError(ErrorCode::kUnknownMemberId, "the member has no name");
}

}  // namespace

absl::Status ConsumerGroup::NoGroup() const {
  return MakeError(ErrorCode::kGroupIdNotFound,
                   absl::StrCat("the topic ", topic_.name, " has no group ", group_));
}

absl::Status ConsumerGroup::Explain(const absl::Status& status) const {
  const bool no_stream = store::ErrorKindOf(status) == store::ErrorKind::kServer &&
                         // lint: one-home: a system must not include a backend
                         (status.message() == "ERR no such key" ||
                          base::ToStd(status.message()).starts_with(kNoStream));
  if (IsNoGroup(status) || no_stream) return NoGroup();
  return AsGroupError(status);
}

absl::StatusOr<std::string> ConsumerGroup::StreamOf(int32_t partition) const {
  if (group_.empty()) {
    return MakeError(ErrorCode::kInvalidGroupId, "the name of the group is empty");
  }
  return StreamKeyOf(keys_, topic_, partition);
}

absl::StatusOr<std::vector<std::string>> ConsumerGroup::StreamsOf(
    std::span<const int32_t> partitions) const {
  std::vector<std::string> streams;
  for (const int32_t partition : partitions) {
    REDOUBLE_ASSIGN_OR_RETURN(std::string stream, StreamOf(partition));
    streams.push_back(std::move(stream));
  }
  return streams;
}

base::Task<absl::StatusOr<ErrorCode>> ConsumerGroup::RunCreateScript(
    int32_t partition, std::string_view id, const GroupPosition& position) {
  const TopicPartition named = {topic_.name, partition};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(partition));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string topic_key, keys_.Metadata(named));
  const std::string id_text = topic_.id.ToString();
  const std::string uuid = topic_.id.ToUuid();
  const std::string entries_read =
      position.entries_read ? base::FormatInt64(*position.entries_read) : std::string();
  const std::vector<std::string_view> arguments = {id_text, uuid, group_, id, entries_read};
  const std::vector<std::string_view> keys = {stream, topic_key};
  const absl::StatusOr<int64_t> outcome =
      store::DecodeInteger(co_await CreateScript().Run(store_, keys, arguments));
  if (!outcome.ok()) co_return AsGroupError(outcome.status());
  co_return static_cast<ErrorCode>(*outcome);
}

base::Task<absl::Status> ConsumerGroup::CreateGuarded(std::span<const int32_t> partitions,
                                                      std::string_view id,
                                                      const GroupPosition& position) {
  for (const int32_t partition : partitions) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ErrorCode code, co_await RunCreateScript(partition, id, position));
    if (code != ErrorCode::kNone && keys_.in_cluster_layout()) {
      // The topic's hash decides whether the topic is gone or the partition's copy is missing.
      TopicSteps steps(store_, keys_);
      const absl::Status renewed = co_await steps.RenewPartition(topic_, partition);
      if (!renewed.ok()) co_return AsGroupError(renewed);
      REDOUBLE_CO_ASSIGN_OR_RETURN(code, co_await RunCreateScript(partition, id, position));
    }
    if (code != ErrorCode::kNone) {
      co_return MakeError(code, absl::StrCat("the topic ", topic_.name, " was deleted"));
    }
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> ConsumerGroup::Refresh() {
  Topic topic = topic_;
  const absl::Status refreshed = co_await RefreshTopic(store_, keys_, topic);
  if (!refreshed.ok()) co_return AsGroupError(refreshed);
  std::vector<int32_t> added;
  for (int32_t number = topic_.partitions; number < topic.partitions; ++number) {
    added.push_back(number);
  }
  const Topic before = std::exchange(topic_, std::move(topic));
  if (added.empty()) co_return absl::OkStatus();
  const GroupPosition earliest;
  const absl::Status created = co_await Create(added, earliest);
  // The next refresh must see the added partitions again.
  if (!created.ok()) topic_ = before;
  co_return created;
}

base::Task<absl::Status> ConsumerGroup::Create(std::span<const int32_t> partitions,
                                               GroupPosition position) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> streams, StreamsOf(partitions));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string id, IdOf(position, topic_.config.offsets));
  if (options_.hardening.guard_topic) co_return co_await CreateGuarded(partitions, id, position);

  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& stream : streams) {
    Command& create = batch.Add(CommandId::kXGroupCreate, {stream, group_, id, "MKSTREAM"});
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
  TopicPoll topic;
  topic.group = this;
  topic.partitions.assign(request.partitions.begin(), request.partitions.end());
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<PolledRecord> polled,
                               co_await PollTopics(std::span(&topic, 1), request));
  std::vector<LogRecord> records;
  for (PolledRecord& one : polled) records.push_back(std::move(one.record));
  co_return records;
}

base::Task<absl::StatusOr<std::vector<PolledRecord>>> ConsumerGroup::PollTopics(
    std::span<const TopicPoll> topics, PollRequest request) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckMember(request.member));
  std::vector<PolledPlace> places;
  for (const TopicPoll& topic : topics) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> streams,
                                 topic.group->StreamsOf(topic.partitions));
    for (size_t i = 0; i < streams.size(); ++i) {
      places.push_back({topic.group, topic.partitions[i], std::move(streams[i])});
    }
  }
  if (places.empty()) co_return std::vector<PolledRecord>();
  if (!topics.front().group->keys_.in_cluster_layout()) {
    co_return co_await ReadTogether(topics, places, request);
  }
  co_return co_await ReadEach(places, request);
}

base::Task<absl::StatusOr<std::vector<PolledRecord>>> ConsumerGroup::ReadTogether(
    std::span<const TopicPoll> topics, std::span<const PolledPlace> places, PollRequest request) {
  std::vector<store::StreamRead> reads;
  for (const PolledPlace& place : places) reads.emplace_back().key = place.stream;
  ConsumerGroup& first = *places.front().group;
  const store::GroupConsumer consumer{first.group_, request.member};
  store::XReadGroupOptions options;
  options.count = request.max_records;
  options.block = request.max_wait;

  auto read = co_await store::XReadGroup(first.store_, consumer, reads, options);
  if (IsNoGroup(read.status())) {
    for (const TopicPoll& topic : topics) {
      const GroupPosition start = topic.group->options_.start;
      REDOUBLE_CO_RETURN_IF_ERROR(co_await topic.group->Create(topic.partitions, start));
    }
    read = co_await store::XReadGroup(first.store_, consumer, reads, options);
  }
  if (!read.ok()) co_return first.Explain(read.status());
  co_return RecordsOfStreams(places, *read, request.unreadable);
}

absl::StatusOr<std::vector<PolledRecord>> ConsumerGroup::RecordsOfStreams(
    std::span<const PolledPlace> places, std::span<const store::StreamEntries> streams,
    std::vector<UnreadableEntry>* unreadable) {
  std::vector<PolledRecord> records;
  for (const store::StreamEntries& stream : streams) {
    const auto place = std::find_if(places.begin(), places.end(), [&](const PolledPlace& one) {
      return one.stream == stream.key;
    });
    if (place == places.end()) return store::ProtocolError("XREADGROUP read another stream");
    REDOUBLE_ASSIGN_OR_RETURN(
        PendingRecords delivered,
        RecordsOf(place->group->topic_, place->partition, stream.entries, unreadable));
    for (LogRecord& record : delivered.records) {
      records.push_back({place->group, std::move(record)});
    }
  }
  return records;
}

base::Task<absl::StatusOr<std::vector<PolledRecord>>> ConsumerGroup::ReadEach(
    std::span<const PolledPlace> places, PollRequest request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<PolledRecord> records,
                               co_await ReadPipelined(places, request));
  if (!request.max_wait || !records.empty()) co_return records;
  // Every wait is for one partition; a wait for several looks at the others in between.
  absl::Duration left = *request.max_wait;
  for (size_t turn = 0; left > absl::ZeroDuration(); ++turn) {
    const absl::Duration slice = places.size() == 1 ? left : std::min(left, kWaitSlice);
    left -= slice;
    const PolledPlace& place = places[turn % places.size()];
    store::StreamRead read;
    read.key = place.stream;
    const store::GroupConsumer consumer{place.group->group_, request.member};
    store::XReadGroupOptions options;
    options.count = request.max_records;
    options.block = slice;
    const auto waited =
        co_await store::XReadGroup(place.group->store_, consumer, std::span(&read, 1), options);
    if (!waited.ok() && !IsNoGroup(waited.status())) {
      co_return place.group->Explain(waited.status());
    }
    if (waited.ok() && !waited->empty()) {
      co_return RecordsOfStreams(places, *waited, request.unreadable);
    }
    if (places.size() == 1 && waited.ok()) break;
    REDOUBLE_CO_ASSIGN_OR_RETURN(records, co_await ReadPipelined(places, request));
    if (!records.empty()) break;
  }
  co_return records;
}

base::Task<absl::StatusOr<std::vector<PolledRecord>>> ConsumerGroup::ReadPipelined(
    std::span<const PolledPlace> places, PollRequest request) {
  std::vector<PolledPlace> asked(places.begin(), places.end());
  std::vector<store::StreamEntries> streams;
  for (bool is_created = false; !asked.empty();) {
    Batch batch(Batch::Atomicity::kPipeline);
    for (const PolledPlace& place : asked) {
      batch.Add(CommandId::kXReadGroup, {"GROUP", place.group->group_, request.member, "COUNT"})
          .AddInteger(request.max_records)
          .Add("STREAMS")
          .Add(place.stream)
          .Add(">");
    }
    ConsumerGroup& first = *asked.front().group;
    const auto replies = co_await store::Execute(first.store_, batch);
    if (!replies.ok()) co_return first.Explain(replies.status());
    std::vector<PolledPlace> without_group;
    for (size_t i = 0; i < asked.size(); ++i) {
      auto read = store::DecodeStreams((*replies)[i]);
      if (IsNoGroup(read.status()) && !is_created) {
        without_group.push_back(std::move(asked[i]));
      } else if (!read.ok()) {
        co_return asked[i].group->Explain(read.status());
      } else {
        std::move(read->begin(), read->end(), std::back_inserter(streams));
      }
    }
    for (const PolledPlace& place : without_group) {
      const GroupPosition start = place.group->options_.start;
      const std::vector<int32_t> one = {place.partition};
      REDOUBLE_CO_RETURN_IF_ERROR(co_await place.group->Create(one, start));
    }
    asked = std::move(without_group);
    is_created = true;
  }
  co_return RecordsOfStreams(places, streams, request.unreadable);
}

base::Task<absl::StatusOr<PendingRecords>> ConsumerGroup::Backlog(BacklogRequest request) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckMember(request.member));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(request.partition));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const StreamId from, topic_.config.offsets.Decode(request.offset));
  store::StreamRead read;
  read.key = stream;
  read.after = from.Previous().value_or(StreamId::Min());
  const store::GroupConsumer consumer{group_, request.member};
  store::XReadGroupOptions options;
  options.count = request.max_records;
  const auto streams = co_await store::XReadGroup(store_, consumer, std::span(&read, 1), options);
  if (!streams.ok()) co_return Explain(streams.status());
  if (streams->empty()) co_return PendingRecords();
  co_return RecordsOf(topic_, request.partition, streams->front().entries,
                      /*unreadable=*/nullptr);
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(request.partition));
  if (request.metadata.size() > CommitRequest::kMaxMetadataBytes) {
    co_return MakeError(ErrorCode::kOffsetMetadataTooLarge,
                        absl::StrCat("the metadata has ", request.metadata.size(), " bytes"));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const StreamId next, topic_.config.offsets.Decode(request.offset));
  // No entry has an offset below 0, but XPENDING still reports a missing group.
  const std::string last = next.Previous().value_or(StreamId::Min()).ToString();
  if (options_.hardening.commit_own_entries) {
    co_return co_await CommitOwn(stream, last, request.member);
  }

  int64_t acknowledged = 0;
  for (;;) {
    Command pending(CommandId::kXPending, {stream, group_, "-", last});
    pending.AddInteger(kCommitPage);
    const auto entries = store::DecodePendingEntries(co_await store_.Execute(pending));
    if (!entries.ok()) co_return Explain(entries.status());
    if (entries->empty()) co_return acknowledged;
    std::vector<StreamId> ids;
    for (const store::PendingEntry& entry : *entries) ids.push_back(entry.id);
    const absl::StatusOr<int64_t> count = co_await store::XAck(store_, stream, group_, ids);
    if (!count.ok()) co_return Explain(count.status());
    acknowledged += *count;
    if (static_cast<int64_t>(entries->size()) < kCommitPage) co_return acknowledged;
  }
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::Acknowledge(int32_t partition,
                                                               std::span<const int64_t> offsets) {
  std::vector<StreamId> ids;
  for (const int64_t offset : offsets) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const StreamId id, topic_.config.offsets.Decode(offset));
    ids.push_back(id);
  }
  co_return co_await AcknowledgeIds(partition, ids);
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::AcknowledgeIds(int32_t partition,
                                                                  std::span<const StreamId> ids) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(partition));
  if (ids.empty()) co_return 0;
  const absl::StatusOr<int64_t> count = co_await store::XAck(store_, stream, group_, ids);
  if (!count.ok()) co_return Explain(count.status());
  co_return count;
}

base::Task<absl::StatusOr<std::optional<int64_t>>> ConsumerGroup::Committed(int32_t partition) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(partition));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kXPending, {stream, group_});
  batch.Add(CommandId::kXInfoGroups, {stream});
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  const auto group = FindGroup((*replies)[1], group_);
  if (!group.ok()) co_return AsGroupError(group.status());
  if (!*group) co_return std::nullopt;
  const absl::StatusOr<store::PendingSummary> pending = store::DecodePendingSummary((*replies)[0]);
  if (!pending.ok()) co_return Explain(pending.status());

  co_return CommittedOf(*pending, **group, topic_.config.offsets);
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(const GroupProgress progress, co_await Progress(partition));
  co_return progress.lag;
}

base::Task<absl::StatusOr<GroupProgress>> ConsumerGroup::Progress(int32_t partition) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(partition));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kXPending, {stream, group_});
  batch.Add(CommandId::kXInfoGroups, {stream});
  AddStreamQuestion(batch, stream);
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  const auto group = FindGroup((*replies)[1], group_);
  if (!group.ok()) co_return AsGroupError(group.status());
  if (!*group) co_return NoGroup();
  const absl::StatusOr<store::PendingSummary> pending = store::DecodePendingSummary((*replies)[0]);
  if (!pending.ok()) co_return Explain(pending.status());
  const absl::StatusOr<store::StreamInfo> info = store::DecodeStreamInfo((*replies)[2]);
  if (!info.ok()) co_return Explain(info.status());

  GroupProgress progress;
  // Foreign ids without an offset do not hide the lag.
  const absl::StatusOr<std::optional<int64_t>> committed =
      CommittedOf(*pending, **group, topic_.config.offsets);
  if (committed.ok()) progress.committed = *committed;
  const absl::StatusOr<LogBounds> bounds = BoundsOf((*replies)[2], topic_.config.offsets);
  progress.log_end = bounds.ok() ? bounds->end : -1;
  // The lag of Redis 7.0 includes undelivered entries that were trimmed, and stays too large when
  // the group has read on. It is exact only while nothing was removed.
  GroupLag& lag = progress.lag;
  const StreamId delivered = (*group)->last_delivered_id;
  if (info->length == 0 || delivered < info->first_entry_id) {
    lag.undelivered = info->length;
  } else if ((*group)->lag && info->entries_added == info->length) {
    lag.undelivered = *(*group)->lag;
  } else if (delivered < info->last_generated_id) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counted, co_await CountBehind(stream, delivered));
    lag.undelivered = counted;
  }
  lag.pending = pending->count;
  const bool may_be_lost =
      pending->first && (info->length == 0 || *pending->first < info->first_entry_id ||
                         *pending->first <= info->max_deleted_entry_id);
  if (may_be_lost) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t lost, co_await CountLost(stream));
    lag.pending -= lost;
  }
  co_return progress;
}

base::Task<absl::Status> ConsumerGroup::Seek(int32_t partition, GroupPosition position) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(partition));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string id, IdOf(position, topic_.config.offsets));
  if (position.kind == GroupPosition::Kind::kOffset) {
    const Command info(CommandId::kXInfoStream, {stream});
    const absl::StatusOr<Reply> reply = co_await store_.Execute(info);
    if (!reply.ok()) co_return AsGroupError(reply.status());
    REDOUBLE_CO_ASSIGN_OR_RETURN(const LogBounds bounds, BoundsOf(*reply, topic_.config.offsets));
    if (position.offset < bounds.start || position.offset > bounds.end) {
      co_return MakeError(ErrorCode::kOffsetOutOfRange,
                          absl::StrCat("the offset ", position.offset, " is not in the log, from ",
                                       bounds.start, " to ", bounds.end));
    }
  }
  Command set(CommandId::kXGroupSetId, {stream, group_, id});
  if (position.entries_read) set.Add("ENTRIESREAD").AddInteger(*position.entries_read);
  co_return Explain(store::DecodeStatus(co_await store_.Execute(set)));
}

base::Task<absl::StatusOr<PendingRecords>> ConsumerGroup::Claim(ClaimRequest request) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckMember(request.member));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(request.partition));
  PendingRecords claimed;
  StreamId cursor = StreamId::Min();
  do {
    Command claim(CommandId::kXAutoClaim, {stream, group_, request.member});
    claim.AddInteger(
        absl::ToInt64Milliseconds(absl::Ceil(request.min_idle, absl::Milliseconds(1))));
    claim.AddOwned(cursor.ToString()).Add("COUNT").AddInteger(request.page);
    const auto page = store::DecodeAutoClaimed(co_await store_.Execute(claim));
    if (!page.ok()) co_return Explain(page.status());
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        PendingRecords records,
        RecordsOf(topic_, request.partition, page->entries, request.unreadable));
    std::move(records.records.begin(), records.records.end(), std::back_inserter(claimed.records));
    claimed.lost += records.lost + static_cast<int64_t>(page->deleted.size());
    cursor = page->next;
  } while (cursor != StreamId::Min());
  co_return claimed;
}

base::Task<absl::StatusOr<int64_t>> ConsumerGroup::RemoveMember(int32_t partition,
                                                                std::string_view member) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckMember(member));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, StreamOf(partition));
  const store::GroupConsumer consumer{group_, member};
  const absl::StatusOr<int64_t> lost = co_await store::XGroupDelConsumer(store_, stream, consumer);
  if (!lost.ok()) co_return Explain(lost.status());
  co_return lost;
}

}  // namespace redouble::inline v0_1::korvet
