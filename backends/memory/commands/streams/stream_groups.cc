// XGROUP and XACK. As in Redis, only XGROUP CREATE MKSTREAM makes transactions that watch the key
// fail.
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/streams/stream_arguments.h"
#include "redouble/backends/memory/commands/streams/stream_consumers.h"
#include "redouble/backends/memory/commands/streams/stream_replies.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr std::string_view kKeyMustExist =
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use "
    "the MKSTREAM option to create an empty stream automatically.";

constexpr std::array kHelp = std::to_array<HelpLine>({
    "CREATE <key> <groupname> <id|$> [option]",
    "    Create a new consumer group. Options are:",
    "    * MKSTREAM",
    "      Create the empty stream if it does not exist.",
    "    * ENTRIESREAD entries_read",
    "      Set the group's entries_read counter (internal use).",
    "CREATECONSUMER <key> <groupname> <consumer>",
    "    Create a new consumer in the specified group.",
    "DELCONSUMER <key> <groupname> <consumer>",
    "    Remove the specified consumer.",
    "DESTROY <key> <groupname>",
    "    Remove the specified group.",
    "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
    "    Set the current group ID and entries_read counter.",
});

struct GroupOptions {
  bool make_stream = false;
  std::optional<int64_t> entries_read = std::nullopt;
};

// Reads the words after the id. Returns an error reply, or nil if `options` is filled.
Reply ReadGroupOptions(const CommandContext& context, Arguments arguments, bool creates,
                       GroupOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (creates && IsWord(arguments[i], "MKSTREAM")) {
      options.make_stream = true;
    } else if (IsWord(arguments[i], "ENTRIESREAD") && i + 1 < arguments.size()) {
      const std::optional<int64_t> count = base::ParseInt64(arguments[++i]);
      if (!count) return Reply::Error(error_text::kNotAnInteger);
      if (*count < -1) return Reply::Error("ERR value for ENTRIESREAD must be positive or -1");
      // Redis writes -1 for an unknown number.
      options.entries_read = *count == -1 ? std::nullopt : count;
    } else {
      return WrongSubcommandUse(context);
    }
  }
  return Reply::Nil();
}

// A group that a subcommand needs, or the error.
struct GroupLookup {
  Stream* stream = nullptr;
  StreamGroup* group = nullptr;
  std::optional<Reply> error = std::nullopt;
};

GroupLookup FindStream(CommandContext& context, std::string_view key) {
  const Lookup<Stream> stream = context.Find<Stream>(key);
  if (stream.wrong_type()) return {.error = WrongType()};
  if (!stream) return {.error = Reply::Error(kKeyMustExist)};
  return {.stream = &*stream};
}

GroupLookup FindGroup(CommandContext& context, std::string_view key, std::string_view name) {
  GroupLookup found = FindStream(context, key);
  if (found.error) return found;
  found.group = found.stream->FindGroup(name);
  if (found.group == nullptr) found.error = NoSuchGroup(key, name);
  return found;
}

}  // namespace

StreamConsumer& AddConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                            std::string_view name) {
  StreamConsumer& consumer = group.AddConsumer(name, context.now_ms());
  context.CountChange();
  context.Notify(key, EventClass::kStream, "xgroup-createconsumer");
  return consumer;
}

StreamConsumer& SeeConsumer(CommandContext& context, std::string_view key, StreamGroup& group,
                            std::string_view name) {
  StreamConsumer* consumer = group.FindConsumer(name);
  if (consumer == nullptr) return AddConsumer(context, key, group, name);
  consumer->seen_ms = context.now_ms();
  return *consumer;
}

void PropagateClaim(const CommandContext& context, const GroupName& name, const StreamGroup& group,
                    std::string_view id, const StreamPending& pending) {
  if (!context.propagates()) return;
  context.PropagateAlso("XCLAIM", name.key, name.group, pending.consumer->name, "0", id, "TIME",
                        base::FormatInt64(pending.delivered_ms), "RETRYCOUNT",
                        base::FormatInt64(pending.deliveries), "FORCE", "JUSTID", "LASTID",
                        group.position.last_delivered_id.ToString());
}

void PropagatePosition(const CommandContext& context, const GroupName& name,
                       const StreamGroup& group) {
  if (!context.propagates()) return;
  context.PropagateAlso("XGROUP", "SETID", name.key, name.group,
                        group.position.last_delivered_id.ToString(), "ENTRIESREAD",
                        base::FormatInt64(group.position.entries_read.value_or(-1)));
}

Reply HandleXGroupCreate(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  GroupOptions options;
  if (Reply error = ReadGroupOptions(context, arguments.subspan(3), true, options);
      error.is_error()) {
    return error;
  }
  Lookup<Stream> stream = context.Find<Stream>(key);
  if (stream.wrong_type()) return WrongType();
  if (!stream && !options.make_stream) return Reply::Error(kKeyMustExist);
  if (arguments.size() > 6) return WrongSubcommandUse(context);
  std::optional<StreamId> id;
  if (arguments[2] == "$") {
    id = stream ? stream->last_id() : StreamId::Min();
  } else {
    id = ReadStreamId(arguments[2]);
  }
  if (!id) return InvalidStreamId();
  if (!stream) {
    stream = context.FindOrAdd<Stream>(key);
    context.Touched(key);
  }
  if (!stream->AddGroup(arguments[1], {*id, options.entries_read})) {
    return Reply::Error("BUSYGROUP Consumer Group name already exists");
  }
  context.CountChange();
  context.Resized(key);
  context.Notify(key, EventClass::kStream, "xgroup-create");
  return Reply::Ok();
}

Reply HandleXGroupSetId(CommandContext& context, Arguments arguments) {
  GroupOptions options;
  if (Reply error = ReadGroupOptions(context, arguments.subspan(3), false, options);
      error.is_error()) {
    return error;
  }
  GroupLookup found = FindGroup(context, arguments[0], arguments[1]);
  if (found.error) return *std::move(found.error);
  if (arguments.size() > 5) return WrongSubcommandUse(context);
  const std::optional<StreamId> id =
      arguments[2] == "$" ? found.stream->last_id() : ReadStreamIdOrEnd(arguments[2]);
  if (!id) return InvalidStreamId();
  found.group->position = {*id, options.entries_read};
  context.CountChange();
  context.Notify(arguments[0], EventClass::kStream, "xgroup-setid");
  return Reply::Ok();
}

Reply HandleXGroupDestroy(CommandContext& context, Arguments arguments) {
  GroupLookup found = FindStream(context, arguments[0]);
  if (found.error) return *std::move(found.error);
  if (!found.stream->RemoveGroup(arguments[1])) return Reply::Integer(0);
  context.CountChange();
  context.Notify(arguments[0], EventClass::kStream, "xgroup-destroy");
  context.Resized(arguments[0]);
  // Consumers that are blocked on the group must fail.
  context.SignalReady(arguments[0], store::KeyType::kStream);
  return Reply::Integer(1);
}

Reply HandleXGroupCreateConsumer(CommandContext& context, Arguments arguments) {
  GroupLookup found = FindGroup(context, arguments[0], arguments[1]);
  if (found.error) return *std::move(found.error);
  if (found.group->FindConsumer(arguments[2]) != nullptr) return Reply::Integer(0);
  AddConsumer(context, arguments[0], *found.group, arguments[2]);
  return Reply::Integer(1);
}

Reply HandleXGroupDelConsumer(CommandContext& context, Arguments arguments) {
  GroupLookup found = FindGroup(context, arguments[0], arguments[1]);
  if (found.error) return *std::move(found.error);
  const std::optional<size_t> pending = found.group->RemoveConsumer(arguments[2]);
  if (pending) {
    context.CountChange();
    context.Notify(arguments[0], EventClass::kStream, "xgroup-delconsumer");
  }
  context.Resized(arguments[0]);
  return CountReply(pending.value_or(0));
}

Reply HandleXGroupHelp(CommandContext& context, Arguments) { return HelpReply(context, kHelp); }

Reply HandleXAck(CommandContext& context, Arguments arguments) {
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  context.CountRead(arguments[0], stream.exists());
  if (stream.wrong_type()) return WrongType();
  StreamGroup* group = stream ? stream->FindGroup(arguments[1]) : nullptr;
  if (group == nullptr) return Reply::Integer(0);
  std::vector<StreamId> ids;
  ids.reserve(arguments.size() - 2);
  for (const std::string_view text : arguments.subspan(2)) {
    const std::optional<StreamId> id = ReadStreamId(text);
    if (!id) return InvalidStreamId();
    ids.push_back(*id);
  }
  uint64_t acknowledged = 0;
  for (const StreamId id : ids) acknowledged += group->Acknowledge(id) ? 1 : 0;
  if (acknowledged > 0) context.CountChange();
  context.Resized(arguments[0]);
  return CountReply(acknowledged);
}

}  // namespace redouble::inline v0_1::memory
