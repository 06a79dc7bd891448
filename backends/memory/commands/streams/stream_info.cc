// XINFO: streams, groups and consumers.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/streams/stream_arguments.h"
#include "redouble/backends/memory/commands/streams/stream_replies.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr std::array kHelp = std::to_array<HelpLine>({
    "CONSUMERS <key> <groupname>",
    "    Show consumers of <groupname>.",
    "GROUPS <key>",
    "    Show the stream consumer groups.",
    "STREAM <key> [FULL [COUNT <count>]",
    "    Show information about the stream.",
});

// Builds a map reply.
class InfoMap {
 public:
  InfoMap& Add(std::string_view name, Reply value) {
    replies_.push_back(Reply::Bulk(name));
    replies_.push_back(std::move(value));
    return *this;
  }
  Reply Take() { return Reply::Map(std::move(replies_)); }

 private:
  std::vector<Reply> replies_;
};

// The options of XINFO STREAM: nullopt for the short form, else the number of entries, 0 for all.
struct FullForm {
  std::optional<uint64_t> count;
};

// Returns an error reply, or nil if `form` is filled. `arguments`: the words after the key.
Reply ReadFullForm(const CommandContext& context, Arguments arguments, FullForm& form) {
  constexpr int64_t kDefaultCount = 10;
  if (arguments.empty()) return Reply::Nil();
  const bool has_count = arguments.size() == 3 && IsWord(arguments[1], "COUNT");
  if ((arguments.size() != 1 && !has_count) || !IsWord(arguments[0], "FULL")) {
    return WrongSubcommandUse(context);
  }
  std::optional<int64_t> count = kDefaultCount;
  if (has_count) count = base::ParseInt64(arguments[2]);
  if (!count) return Reply::Error(error_text::kNotAnInteger);
  form.count = static_cast<uint64_t>(*count < 0 ? kDefaultCount : *count);
  return Reply::Nil();
}

Reply ConsumerPendingReply(const StreamGroup& group, const StreamConsumer& consumer,
                           uint64_t count) {
  std::vector<Reply> entries;
  for (const StreamId id : consumer.pending) {
    if (count != 0 && entries.size() == count) break;
    const StreamPending& pending = group.pending().at(id);
    entries.push_back(Reply::Array({StreamIdReply(id), Reply::Integer(pending.delivered_ms),
                                    Reply::Integer(pending.deliveries)}));
  }
  return Reply::Array(std::move(entries));
}

Reply GroupPendingReply(const StreamGroup& group, uint64_t count) {
  std::vector<Reply> entries;
  for (const auto& [id, pending] : group.pending()) {
    if (count != 0 && entries.size() == count) break;
    entries.push_back(
        Reply::Array({StreamIdReply(id), Reply::Bulk(pending.consumer->name),
                      Reply::Integer(pending.delivered_ms), Reply::Integer(pending.deliveries)}));
  }
  return Reply::Array(std::move(entries));
}

Reply FullConsumersReply(const CommandContext& context, const StreamGroup& group, uint64_t count) {
  std::vector<Reply> consumers;
  for (const auto& [name, consumer] : group.consumers()) {
    InfoMap info;
    info.Add("name", Reply::Bulk(name)).Add("seen-time", Reply::Integer(consumer->seen_ms));
    if (context.engine().Has(Feature::kActiveTime)) {
      info.Add("active-time", Reply::Integer(consumer->active_ms));
    }
    info.Add("pel-count", CountReply(consumer->pending.size()))
        .Add("pending", ConsumerPendingReply(group, *consumer, count));
    consumers.push_back(info.Take());
  }
  return Reply::Array(std::move(consumers));
}

Reply FullGroupsReply(const CommandContext& context, const Stream& stream, uint64_t count) {
  std::vector<Reply> groups;
  for (const auto& [name, group] : stream.groups()) {
    groups.push_back(InfoMap()
                         .Add("name", Reply::Bulk(name))
                         .Add("last-delivered-id", StreamIdReply(group.position.last_delivered_id))
                         .Add("entries-read", CountOrNilReply(group.position.entries_read))
                         .Add("lag", CountOrNilReply(stream.Lag(group, LagRuleOf(context))))
                         .Add("pel-count", CountReply(group.pending().size()))
                         .Add("pending", GroupPendingReply(group, count))
                         .Add("consumers", FullConsumersReply(context, group, count))
                         .Take());
  }
  return Reply::Array(std::move(groups));
}

Reply EntryOrNil(const Stream::Cursor& at) {
  return at.valid() ? StreamEntryReply(at) : Reply::Nil();
}

}  // namespace

Reply HandleXInfoStream(CommandContext& context, Arguments arguments) {
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Error(error_text::kNoSuchKey);
  FullForm form;
  if (Reply error = ReadFullForm(context, arguments.subspan(1), form); error.is_error())
    return error;
  InfoMap info;
  info.Add("length", CountReply(stream->size()))
      .Add("radix-tree-keys", CountReply(stream->node_count()))
      .Add("radix-tree-nodes", CountReply(stream->RadixTreeNodes()))
      .Add("last-generated-id", StreamIdReply(stream->last_id()))
      .Add("max-deleted-entry-id", StreamIdReply(stream->max_deleted_id()))
      .Add("entries-added", CountReply(stream->entries_added()))
      .Add("recorded-first-entry-id", StreamIdReply(stream->first_id()));
  if (form.count) {
    info.Add("entries", Reply::Array(StreamEntryReplies(*stream, {}, *form.count)))
        .Add("groups", FullGroupsReply(context, *stream, *form.count));
  } else {
    info.Add("groups", CountReply(stream->groups().size()))
        .Add("first-entry", EntryOrNil(stream->From(StreamId::Min())))
        .Add("last-entry", EntryOrNil(stream->BackFrom(StreamId::Max())));
  }
  return info.Take();
}

Reply HandleXInfoGroups(CommandContext& context, Arguments arguments) {
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Error(error_text::kNoSuchKey);
  std::vector<Reply> groups;
  for (const auto& [name, group] : stream->groups()) {
    groups.push_back(InfoMap()
                         .Add("name", Reply::Bulk(name))
                         .Add("consumers", CountReply(group.consumers().size()))
                         .Add("pending", CountReply(group.pending().size()))
                         .Add("last-delivered-id", StreamIdReply(group.position.last_delivered_id))
                         .Add("entries-read", CountOrNilReply(group.position.entries_read))
                         .Add("lag", CountOrNilReply(stream->Lag(group, LagRuleOf(context))))
                         .Take());
  }
  return Reply::Array(std::move(groups));
}

Reply HandleXInfoConsumers(CommandContext& context, Arguments arguments) {
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Error(error_text::kNoSuchKey);
  const StreamGroup* group = stream->FindGroup(arguments[1]);
  if (group == nullptr) return NoSuchGroup(arguments[0], arguments[1]);
  std::vector<Reply> consumers;
  for (const auto& [name, consumer] : group->consumers()) {
    const auto since = [&](int64_t time_ms) {
      return Reply::Integer(std::max<int64_t>(context.now_ms() - time_ms, 0));
    };
    InfoMap info;
    info.Add("name", Reply::Bulk(name))
        .Add("pending", CountReply(consumer->pending.size()))
        .Add("idle", since(consumer->seen_ms));
    if (context.engine().Has(Feature::kActiveTime)) {
      const bool was_active = consumer->active_ms != StreamConsumer::kNeverActive;
      info.Add("inactive", was_active ? since(consumer->active_ms) : Reply::Integer(-1));
    }
    consumers.push_back(info.Take());
  }
  return Reply::Array(std::move(consumers));
}

Reply HandleXInfoHelp(CommandContext& context, Arguments) { return HelpReply(context, kHelp); }

}  // namespace redouble::inline v0_1::memory
