#include "redouble/core/store/typed/streams.h"

#include <string>

#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/stream_decode.h"

namespace redouble::inline v0_1::store {
namespace {

void AddId(Command& command, StreamId id) { command.AddOwned(id.ToString()); }

void AddIds(Command& command, StreamIdList ids) {
  for (const StreamId id : ids) AddId(command, id);
}

void AddTrimming(Command& command, const StreamTrimming& trimming) {
  const auto add_bound = [&](std::string_view word) {
    command.Add(word);
    if (trimming.approximate) command.Add("~");
  };
  if (trimming.max_length) {
    add_bound("MAXLEN");
    command.AddInteger(*trimming.max_length);
  }
  if (trimming.min_id) {
    add_bound("MINID");
    AddId(command, *trimming.min_id);
  }
  if (trimming.limit) command.Add("LIMIT").AddInteger(*trimming.limit);
}

// Redis counts whole milliseconds. Waiting a little longer is better than not long enough.
int64_t MillisRoundedUp(absl::Duration duration) {
  return absl::ToInt64Milliseconds(absl::Ceil(duration, absl::Milliseconds(1)));
}

void AddReadOptions(Command& command, std::optional<int64_t> count,
                    std::optional<absl::Duration> block) {
  if (count) command.Add("COUNT").AddInteger(*count);
  if (!block) return;
  const bool forever = *block == absl::InfiniteDuration();
  // BLOCK 0 has no timeout, so that a zero duration becomes one millisecond.
  const int64_t block_ms = forever ? 0 : MillisRoundedUp(*block);
  command.Add("BLOCK").AddInteger(!forever && block_ms == 0 ? 1 : block_ms);
}

void AddReads(Command& command, std::span<const StreamRead> reads, std::string_view new_entries) {
  command.Add("STREAMS");
  for (const StreamRead& read : reads) command.Add(read.key);
  for (const StreamRead& read : reads) {
    read.after ? AddId(command, *read.after) : void(command.Add(new_entries));
  }
}

Command RangeCommand(CommandId id, std::string_view key, StreamId start, StreamId end,
                     std::optional<int64_t> count) {
  Command command(id, {key});
  AddId(command, start);
  AddId(command, end);
  if (count) command.Add("COUNT").AddInteger(*count);
  return command;
}

Command ClaimCommand(std::string_view key, const GroupConsumer& consumer, StreamIdList ids,
                     const XClaimOptions& options) {
  Command command(CommandId::kXClaim, {key, consumer.group, consumer.consumer});
  command.AddInteger(MillisRoundedUp(options.min_idle));
  AddIds(command, ids);
  if (options.idle) command.Add("IDLE").AddInteger(absl::ToInt64Milliseconds(*options.idle));
  if (options.deliveries) command.Add("RETRYCOUNT").AddInteger(*options.deliveries);
  if (options.force) command.Add("FORCE");
  return command;
}

Command GroupCommand(CommandId id, std::string_view key, std::string_view group,
                     const XGroupOptions& options) {
  Command command(id, {key, group});
  options.after ? AddId(command, *options.after) : void(command.Add("$"));
  if (options.make_stream) command.Add("MKSTREAM");
  if (options.entries_read) command.Add("ENTRIESREAD").AddInteger(*options.entries_read);
  return command;
}

}  // namespace

base::Task<absl::StatusOr<std::optional<StreamId>>> XAdd(Store& store, std::string_view key,
                                                         StreamFieldList fields,
                                                         XAddOptions options) {
  Command command(CommandId::kXAdd, {key});
  if (options.only_if_exists) command.Add("NOMKSTREAM");
  AddTrimming(command, options.trimming);
  if (options.id) {
    AddId(command, *options.id);
  } else if (options.id_ms) {
    command.AddOwned(std::to_string(*options.id_ms) + "-*");
  } else {
    command.Add("*");
  }
  for (const auto& [field, value] : fields) command.Add(field).Add(value);
  co_return DecodeStreamIdOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> XLen(Store& store, std::string_view key) {
  const Command command(CommandId::kXLen, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> XDel(Store& store, std::string_view key, StreamIdList ids) {
  Command command(CommandId::kXDel, {key});
  AddIds(command, ids);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> XTrim(Store& store, std::string_view key,
                                          StreamTrimming trimming) {
  Command command(CommandId::kXTrim, {key});
  AddTrimming(command, trimming);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamEntry>>> XRange(Store& store, std::string_view key,
                                                            StreamRange range) {
  const Command command =
      RangeCommand(CommandId::kXRange, key, range.first, range.last, range.count);
  co_return DecodeStreamEntries(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamEntry>>> XRevRange(Store& store, std::string_view key,
                                                               StreamRange range) {
  const Command command =
      RangeCommand(CommandId::kXRevRange, key, range.last, range.first, range.count);
  co_return DecodeStreamEntries(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamEntries>>> XRead(Store& store,
                                                             std::span<const StreamRead> reads,
                                                             XReadOptions options) {
  Command command(CommandId::kXRead);
  AddReadOptions(command, options.count, options.block);
  AddReads(command, reads, "$");
  co_return DecodeStreams(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamEntries>>> XReadGroup(Store& store,
                                                                  GroupConsumer consumer,
                                                                  std::span<const StreamRead> reads,
                                                                  XReadGroupOptions options) {
  Command command(CommandId::kXReadGroup, {"GROUP", consumer.group, consumer.consumer});
  AddReadOptions(command, options.count, options.block);
  if (options.no_ack) command.Add("NOACK");
  AddReads(command, reads, ">");
  co_return DecodeStreams(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> XAck(Store& store, std::string_view key, std::string_view group,
                                         StreamIdList ids) {
  Command command(CommandId::kXAck, {key, group});
  AddIds(command, ids);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<PendingSummary>> XPending(Store& store, std::string_view key,
                                                    std::string_view group) {
  const Command command(CommandId::kXPending, {key, group});
  co_return DecodePendingSummary(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<PendingEntry>>> XPendingRange(Store& store,
                                                                    std::string_view key,
                                                                    std::string_view group,
                                                                    XPendingOptions options) {
  Command command(CommandId::kXPending, {key, group});
  if (options.min_idle) command.Add("IDLE").AddInteger(MillisRoundedUp(*options.min_idle));
  AddId(command, options.first);
  AddId(command, options.last);
  command.AddInteger(options.count);
  if (options.consumer) command.Add(*options.consumer);
  co_return DecodePendingEntries(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamEntry>>> XClaim(Store& store, std::string_view key,
                                                            GroupConsumer consumer,
                                                            StreamIdList ids,
                                                            XClaimOptions options) {
  const Command command = ClaimCommand(key, consumer, ids, options);
  co_return DecodeStreamEntries(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamId>>> XClaimIds(Store& store, std::string_view key,
                                                            GroupConsumer consumer,
                                                            StreamIdList ids,
                                                            XClaimOptions options) {
  Command command = ClaimCommand(key, consumer, ids, options);
  command.Add("JUSTID");
  co_return DecodeStreamIds(co_await store.Execute(command));
}

base::Task<absl::StatusOr<AutoClaimed>> XAutoClaim(Store& store, std::string_view key,
                                                   GroupConsumer consumer,
                                                   XAutoClaimOptions options) {
  Command command(CommandId::kXAutoClaim, {key, consumer.group, consumer.consumer});
  command.AddInteger(MillisRoundedUp(options.min_idle));
  AddId(command, options.start);
  command.Add("COUNT").AddInteger(options.count);
  co_return DecodeAutoClaimed(co_await store.Execute(command));
}

base::Task<absl::Status> XGroupCreate(Store& store, std::string_view key, std::string_view group,
                                      XGroupOptions options) {
  const Command command = GroupCommand(CommandId::kXGroupCreate, key, group, options);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::Status> XGroupSetId(Store& store, std::string_view key, std::string_view group,
                                     XGroupOptions options) {
  const Command command = GroupCommand(CommandId::kXGroupSetId, key, group, options);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> XGroupDestroy(Store& store, std::string_view key,
                                               std::string_view group) {
  const Command command(CommandId::kXGroupDestroy, {key, group});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> XGroupCreateConsumer(Store& store, std::string_view key,
                                                      GroupConsumer consumer) {
  const Command command(CommandId::kXGroupCreateConsumer, {key, consumer.group, consumer.consumer});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> XGroupDelConsumer(Store& store, std::string_view key,
                                                      GroupConsumer consumer) {
  const Command command(CommandId::kXGroupDelConsumer, {key, consumer.group, consumer.consumer});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<StreamInfo>> XInfoStream(Store& store, std::string_view key) {
  const Command command(CommandId::kXInfoStream, {key});
  co_return DecodeStreamInfo(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamGroupInfo>>> XInfoGroups(Store& store,
                                                                     std::string_view key) {
  const Command command(CommandId::kXInfoGroups, {key});
  co_return DecodeStreamGroups(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<StreamConsumerInfo>>> XInfoConsumers(Store& store,
                                                                           std::string_view key,
                                                                           std::string_view group) {
  const Command command(CommandId::kXInfoConsumers, {key, group});
  co_return DecodeStreamConsumers(co_await store.Execute(command));
}

}  // namespace redouble::inline v0_1::store
