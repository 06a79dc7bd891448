// XREAD and XREADGROUP, including their blocking forms.
//
// The id ">" is stored as the greatest id, as in Redis: no entry is after it.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/block_timeout.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/streams/stream_arguments.h"
#include "redouble/backends/memory/commands/streams/stream_consumers.h"
#include "redouble/backends/memory/commands/streams/stream_replies.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

// The limit of a call that was blocked and has no COUNT.
constexpr uint64_t kCountAfterWaiting = 1000;

constexpr StreamId kNewEntries = StreamId::Max();

// The group and consumer of XREADGROUP.
struct GroupReader {
  std::string_view group;
  std::string_view consumer;
  bool no_ack = false;
};

struct ReadRequest {
  Arguments keys;
  Arguments ids;
  uint64_t count = 0;  // 0: all.
  std::optional<BlockTimeout> block = std::nullopt;
  std::optional<GroupReader> reader = std::nullopt;
  // Entries after these ids are read; one for each key.
  std::vector<StreamId> after = {};
};

Reply OnlyXReadGroup(std::string_view option) {
  return Reply::Error(absl::StrCat("ERR The ", base::ToAbsl(option),
                                   " option is only supported by XREADGROUP. You called XREAD "
                                   "instead."));
}

// Reads the arguments of XREAD and XREADGROUP. Returns an error reply, or nil if `request` is
// filled.
class RequestReader {
 public:
  RequestReader(CommandContext& context, Arguments arguments, bool is_group)
      : context_(context), arguments_(arguments), is_group_(is_group) {}

  Reply Read(ReadRequest& request) {
    while (at_ < arguments_.size() && request.keys.empty()) {
      if (Reply error = ReadOption(request); error.is_error()) return error;
      ++at_;
    }
    if (request.keys.empty()) return SyntaxError();
    if (is_group_ && !has_group_) return Reply::Error("ERR Missing GROUP option for XREADGROUP");
    if (is_group_) request.reader = reader_;
    return Reply::Nil();
  }

 private:
  Reply ReadOption(ReadRequest& request) {
    const std::string_view word = arguments_[at_];
    const size_t more = arguments_.size() - at_ - 1;
    if (more >= 1 && IsWord(word, "BLOCK")) return ReadBlock(request);
    if (more >= 1 && IsWord(word, "COUNT")) return ReadCount(request);
    if (more >= 1 && IsWord(word, "STREAMS")) return ReadStreams(request);
    if (more >= 2 && IsWord(word, "GROUP")) return ReadGroup();
    if (!IsWord(word, "NOACK")) return SyntaxError();
    if (!is_group_) return OnlyXReadGroup("NOACK");
    reader_.no_ack = true;
    return Reply::Nil();
  }

  Reply ReadBlock(ReadRequest& request) {
    if (context_.session().runs_script() && !context_.engine().Has(Feature::kBlockInScripts)) {
      return Reply::Error(absl::StrCat("ERR ", base::ToAbsl(context_.called_name()),
                                       " command is not allowed with BLOCK option from scripts"));
    }
    BlockTimeout timeout = ReadTimeoutMillis(context_, arguments_[++at_]);
    if (timeout.error) return *std::move(timeout.error);
    request.block = std::move(timeout);
    return Reply::Nil();
  }

  Reply ReadCount(ReadRequest& request) {
    const std::optional<int64_t> count = base::ParseInt64(arguments_[++at_]);
    if (!count) return Reply::Error(error_text::kNotAnInteger);
    request.count = *count < 0 ? 0 : static_cast<uint64_t>(*count);
    return Reply::Nil();
  }

  Reply ReadStreams(ReadRequest& request) {
    const Arguments rest = arguments_.subspan(at_ + 1);
    if (rest.size() % 2 != 0) return Unbalanced();
    request.keys = rest.first(rest.size() / 2);
    request.ids = rest.subspan(rest.size() / 2);
    return Reply::Nil();
  }

  Reply Unbalanced() const {
    const EngineCore& engine = context_.engine();
    if (!engine.Has(Feature::kStreamErrors)) {
      // Redis 7.0's text says XREAD and $ for both commands.
      return Reply::Error(
          "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be "
          "specified.");
    }
    const bool names_last_entry =
        engine.Has(Feature::kReadLastEntry) && !engine.Has(Feature::kValkeyNames);
    const absl::string_view ids = is_group_          ? "ID or '>'"
                                  : names_last_entry ? "ID, '+', or '$'"
                                                     : "ID or '$'";
    return Reply::Error(absl::StrCat(
        "ERR Unbalanced '", absl::AsciiStrToLower(base::ToAbsl(context_.called_name())),
        "' list of streams: for each stream key an ", ids, " must be specified."));
  }

  Reply ReadGroup() {
    if (!is_group_) return OnlyXReadGroup("GROUP");
    has_group_ = true;
    reader_.group = arguments_[at_ + 1];
    reader_.consumer = arguments_[at_ + 2];
    at_ += 2;
    return Reply::Nil();
  }

  CommandContext& context_;
  const Arguments arguments_;
  const bool is_group_;
  size_t at_ = 0;
  bool has_group_ = false;
  GroupReader reader_;
};

// Of an id that XREADGROUP does not take.
Reply Meaningless(std::string_view id) {
  return Reply::Error(absl::StrCat(
      "ERR The ", base::ToAbsl(id),
      " ID is meaningless in the context of XREADGROUP: you want to read the history of this "
      "consumer by specifying a proper ID, or use the > ID to get new messages. The ",
      base::ToAbsl(id), " ID would just return an empty result set."));
}

// Reads one id of a request. Returns an error reply, or nil if `after` is set.
Reply ReadAfter(const CommandContext& context, std::string_view text, const Stream* stream,
                bool is_group, StreamId& after) {
  if (text == "+" && context.engine().Has(Feature::kReadLastEntry)) {
    if (is_group) return Meaningless(text);
    // The last entry: all after the id before it.
    const bool has_entries = stream != nullptr && stream->size() > 0;
    after = has_entries         ? stream->LastEntryId().Previous().value_or(StreamId::Min())
            : stream == nullptr ? StreamId::Min()
                                : stream->last_id();
    return Reply::Nil();
  }
  if (text == "$") {
    if (is_group) return Meaningless(text);
    after = stream == nullptr ? StreamId::Min() : stream->last_id();
    return Reply::Nil();
  }
  if (text == ">") {
    if (!is_group) {
      return Reply::Error(
          "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> "
          "<consumer> option.");
    }
    after = kNewEntries;
    return Reply::Nil();
  }
  const std::optional<StreamId> id = ReadStreamId(text);
  if (!id) return InvalidStreamId();
  after = *id;
  return Reply::Nil();
}

// Checks all streams before any is read. Returns an error reply, or nil if `request.after` is
// filled.
Reply ResolveIds(CommandContext& context, ReadRequest& request) {
  for (size_t i = 0; i < request.keys.size(); ++i) {
    const std::string_view key = request.keys[i];
    const Lookup<Stream> stream = context.Find<Stream>(key);
    if (request.reader) context.CountRead(key, stream.exists());
    if (stream.wrong_type()) return WrongType();
    if (request.reader && (!stream || stream->FindGroup(request.reader->group) == nullptr)) {
      return NoSuchKeyOrGroup(key, request.reader->group, " in XREADGROUP with GROUP option");
    }
    StreamId after;
    if (Reply error = ReadAfter(context, request.ids[i], stream ? &*stream : nullptr,
                                request.reader.has_value(), after);
        error.is_error()) {
      return error;
    }
    request.after.push_back(after);
  }
  return Reply::Nil();
}

Reply StreamReply(std::string_view key, std::vector<Reply> entries) {
  std::vector<Reply> pair;
  pair.reserve(2);
  pair.push_back(Reply::Bulk(key));
  pair.push_back(Reply::Array(std::move(entries)));
  return Reply::Array(std::move(pair));
}

// The consumer of a read that delivers entries. With NOACK no XCLAIM creates it on replicas.
StreamConsumer& ReadingConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                                const GroupReader& reader) {
  const bool is_new = group.FindConsumer(reader.consumer) == nullptr;
  if (is_new && reader.no_ack) {
    context.PropagateAlso("XGROUP", "CREATECONSUMER", key, reader.group, reader.consumer);
  }
  return SeeConsumer(context, key, group, reader.consumer);
}

// Delivers the entries after `after` to the consumer.
std::vector<Reply> DeliverNew(CommandContext& context, std::string_view key, const Stream& stream,
                              StreamId after, uint64_t count, StreamGroup& group,
                              StreamConsumer& consumer, const GroupReader& reader) {
  std::vector<Reply> entries;
  const GroupName name{.key = key, .group = reader.group};
  const std::optional<StreamId> first = after.Next();
  if (!first) return entries;
  const Stream::LagRule rule = LagRuleOf(context);
  for (Stream::Cursor at = stream.From(*first); at.valid(); at.Next()) {
    if (count != 0 && entries.size() == count) break;
    stream.Advance(group, at.id(), rule);
    entries.push_back(StreamEntryReply(at));
    if (reader.no_ack) continue;
    consumer.active_ms = context.now_ms();
    group.Deliver(at.id(), consumer, context.now_ms());
    if (context.propagates()) {
      PropagateClaim(context, name, group, at.id().ToString(), *group.FindPending(at.id()));
    }
  }
  if (reader.no_ack && !entries.empty()) PropagatePosition(context, name, group);
  return entries;
}

// The consumer's pending entries after `after`, delivered once more; deleted entries have nil
// instead of fields.
std::vector<Reply> DeliverHistory(CommandContext& context, const Stream& stream, StreamId after,
                                  uint64_t count, StreamGroup& group,
                                  const StreamConsumer& consumer) {
  std::vector<Reply> entries;
  for (auto id = consumer.pending.upper_bound(after); id != consumer.pending.end(); ++id) {
    if (count != 0 && entries.size() == count) break;
    const Stream::Cursor at = stream.From(*id);
    if (!at.valid() || at.id() != *id) {
      entries.push_back(Reply::Array({StreamIdReply(*id), Reply::NilArray()}));
      continue;
    }
    entries.push_back(StreamEntryReply(at));
    StreamPending& pending = *group.FindPending(*id);
    pending.delivered_ms = context.now_ms();
    ++pending.deliveries;
  }
  return entries;
}

// The reply of one stream for XREADGROUP; nullopt if it has no entries.
std::optional<Reply> ReadGroupStream(CommandContext& context, std::string_view key,
                                     const ReadRequest& request, StreamId after) {
  Stream& stream = *context.Find<Stream>(key);
  const GroupReader& reader = *request.reader;
  StreamGroup& group = *stream.FindGroup(reader.group);
  const StreamId delivered = group.position.last_delivered_id;
  const bool is_history = after != kNewEntries;
  if (context.engine().Has(Feature::kActiveTime)) ReadingConsumer(context, key, group, reader);
  if (!is_history && (stream.size() == 0 || stream.LastEntryId() <= delivered)) {
    return std::nullopt;
  }
  // Redis 7.0 neither creates nor marks as seen a consumer that receives nothing.
  StreamConsumer& consumer = ReadingConsumer(context, key, group, reader);
  context.Resized(key);
  if (is_history) {
    return StreamReply(key, DeliverHistory(context, stream, after, request.count, group, consumer));
  }
  return StreamReply(
      key, DeliverNew(context, key, stream, delivered, request.count, group, consumer, reader));
}

// The reply of XREAD; nullopt if no stream has entries.
std::optional<Reply> ReadStreams(CommandContext& context, const ReadRequest& request) {
  struct Part {
    std::string_view key;
    const Stream* stream;
    StreamId after;
  };
  std::vector<Part> parts;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    const Lookup<Stream> stream = context.Find<Stream>(request.keys[i]);
    const StreamId after = request.after[i];
    if (!stream || stream->size() == 0 || stream->LastEntryId() <= after) continue;
    parts.push_back({request.keys[i], &*stream, after});
  }
  if (parts.empty()) return std::nullopt;
  ReplyArray streams(context, Reply::Shape::kMapOfPairs, parts.size());
  for (const Part& part : parts) {
    streams.AddPair(Reply::Bulk(part.key), [&] {
      ReplyArray entries(context, Reply::Shape::kPlain);
      VisitStreamEntries(*part.stream, {.first = *part.after.Next()}, request.count,
                         /*backwards=*/false,
                         [&](const Stream::Cursor& at) { entries.Add(StreamEntryReply(at)); });
      return std::move(entries).Finish();
    });
  }
  return std::move(streams).Finish();
}

// The reply of XREADGROUP; nullopt if no stream has entries.
std::optional<Reply> ReadGroupStreams(CommandContext& context, const ReadRequest& request) {
  std::vector<Reply> streams;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    const std::string_view key = request.keys[i];
    const bool exists = static_cast<bool>(context.Find<Stream>(key));
    context.CountRead(key, exists);
    if (!exists) continue;
    std::optional<Reply> reply = ReadGroupStream(context, key, request, request.after[i]);
    if (reply) streams.push_back(*std::move(reply));
  }
  if (streams.empty()) return std::nullopt;
  context.CountChange();
  return Reply::MapOfPairs(std::move(streams));
}

// A blocked call that is executed again. It owns the words that the request points to.
class WaitingRequest {
 public:
  explicit WaitingRequest(const ReadRequest& request) : request_(request) {
    keys_.assign(request.keys.begin(), request.keys.end());
    ids_.assign(request.ids.begin(), request.ids.end());
    if (request.reader) {
      group_ = request.reader->group;
      consumer_ = request.reader->consumer;
    }
    key_views_.assign(keys_.begin(), keys_.end());
    id_views_.assign(ids_.begin(), ids_.end());
  }
  WaitingRequest(const WaitingRequest&) = delete;
  WaitingRequest& operator=(const WaitingRequest&) = delete;

  // The reply; nullopt if it waits on.
  std::optional<Reply> Retry(CommandContext& context) const {
    ReadRequest request;
    request.keys = key_views_;
    request.ids = id_views_;
    request.count = request_.count;
    request.reader = request_.reader;
    if (request.reader) {
      request.reader->group = group_;
      request.reader->consumer = consumer_;
      if (Reply error = ResolveIds(context, request); error.is_error()) return error;
      return ReadGroupStreams(context, request);
    }
    for (const std::string_view key : request.keys) {
      if (context.Find<Stream>(key).wrong_type()) return WrongType();
    }
    // The ids are those of the time of the call: "$" is what was last then.
    request.after = request_.after;
    return ReadStreams(context, request);
  }

 private:
  const ReadRequest request_;
  std::vector<std::string> keys_;
  std::vector<std::string> ids_;
  std::string group_;
  std::string consumer_;
  std::vector<std::string_view> key_views_;
  std::vector<std::string_view> id_views_;
};

// The state of a blocked call of Redis 7.0, which outlives the words of its command.
struct WaitingRead {
  std::map<std::string, StreamId, std::less<>> after;
  uint64_t count;
};

struct WaitingGroupRead {
  std::string group;
  std::string consumer;
  bool no_ack;
  uint64_t count;
};

Reply OneStreamReply(std::string_view key, std::vector<Reply> entries) {
  std::vector<Reply> streams;
  streams.push_back(StreamReply(key, std::move(entries)));
  return Reply::MapOfPairs(std::move(streams));
}

// Redis compares with the last id ever added: entries that were deleted again also wake the client,
// with nothing to read.
std::optional<Reply> RetryRead(CommandContext& context, std::string_view key,
                               const WaitingRead& waiting) {
  const Stream& stream = *context.Find<Stream>(key);
  const StreamId after = waiting.after.find(key)->second;
  if (stream.last_id() <= after) return std::nullopt;
  return OneStreamReply(key, StreamEntryReplies(stream, {.first = *after.Next()}, waiting.count));
}

std::optional<Reply> RetryGroupRead(CommandContext& context, std::string_view key,
                                    const WaitingGroupRead& waiting) {
  const Lookup<Stream> stream = context.Find<Stream>(key);
  if (!stream) return Reply::Error("UNBLOCKED the stream key no longer exists");
  StreamGroup* group = stream->FindGroup(waiting.group);
  if (group == nullptr) {
    return Reply::Error("NOGROUP the consumer group this client was blocked on no longer exists");
  }
  const StreamId delivered = group->position.last_delivered_id;
  if (stream->last_id() <= delivered) return std::nullopt;
  const GroupReader reader{
      .group = waiting.group, .consumer = waiting.consumer, .no_ack = waiting.no_ack};
  StreamConsumer& consumer = ReadingConsumer(context, key, *group, reader);
  return OneStreamReply(
      key, DeliverNew(context, key, *stream, delivered, waiting.count, *group, consumer, reader));
}

Reply WaitForStreams(CommandContext& context, const ReadRequest& request) {
  BlockedOperation operation;
  operation.type = store::KeyType::kStream;
  operation.deadline_ms = request.block->deadline_ms;
  WaitingRead plain{.after = {}, .count = request.count == 0 ? kCountAfterWaiting : request.count};
  for (size_t i = 0; i < request.keys.size(); ++i) {
    // For a stream that is named twice the first id counts.
    const std::string key(request.keys[i]);
    if (plain.after.try_emplace(key, request.after[i]).second) operation.keys.push_back(key);
  }
  operation.also_when_gone = request.reader.has_value();
  if (context.engine().Has(Feature::kReexecution)) {
    operation.retry = [waiting = std::make_shared<WaitingRequest>(request)](CommandContext& later,
                                                                            std::string_view) {
      return waiting->Retry(later);
    };
  } else if (request.reader) {
    operation.retry = [waiting = WaitingGroupRead{.group = std::string(request.reader->group),
                                                  .consumer = std::string(request.reader->consumer),
                                                  .no_ack = request.reader->no_ack,
                                                  .count = plain.count}](CommandContext& later,
                                                                         std::string_view key) {
      return RetryGroupRead(later, key, waiting);
    };
  } else {
    operation.retry = [waiting = std::move(plain)](CommandContext& later, std::string_view key) {
      return RetryRead(later, key, waiting);
    };
  }
  return context.Block(std::move(operation));
}

Reply ReadGeneric(CommandContext& context, Arguments arguments, bool is_group) {
  ReadRequest request;
  if (Reply error = RequestReader(context, arguments, is_group).Read(request); error.is_error()) {
    return error;
  }
  if (Reply error = ResolveIds(context, request); error.is_error()) return error;
  std::optional<Reply> streams =
      request.reader ? ReadGroupStreams(context, request) : ReadStreams(context, request);
  if (streams) return *std::move(streams);
  if (!request.block || !context.may_block()) return Reply::NilArray();
  return WaitForStreams(context, request);
}

}  // namespace

Reply HandleXRead(CommandContext& context, Arguments arguments) {
  return ReadGeneric(context, arguments, false);
}

Reply HandleXReadGroup(CommandContext& context, Arguments arguments) {
  context.PropagateOnlyOthers();
  return ReadGeneric(context, arguments, true);
}

}  // namespace redouble::inline v0_1::memory
