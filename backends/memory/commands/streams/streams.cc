// The stream commands without consumer groups: XADD, XLEN, XRANGE, XREVRANGE, XDEL, XTRIM, XSETID.
// Reads are in stream_reads.cc, groups in stream_groups.cc and stream_pending.cc.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/streams/stream_arguments.h"
#include "redouble/backends/memory/commands/streams/stream_replies.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr std::string_view kTooLarge = "ERR Elements are too large to be stored";

// The id of the entry that XADD adds, not yet compared with the last id. nullopt if the millisecond
// has no sequence number left.
std::optional<StreamId> ChooseId(const Stream& stream, const NewStreamId& wanted, int64_t now_ms) {
  const StreamId last = stream.last_id();
  switch (wanted.kind) {
    case NewStreamId::Kind::kGiven:
      return wanted.id;
    case NewStreamId::Kind::kAutoSequence:
      if (wanted.id.ms != last.ms) return wanted.id;
      if (last.seq == StreamId::Max().seq) return std::nullopt;
      return last.Next();
    case NewStreamId::Kind::kAuto:
      break;
  }
  const auto now = static_cast<uint64_t>(now_ms);
  return now > last.ms ? StreamId{now, 0} : last.Next();
}

size_t BytesOf(StreamFields fields) {
  size_t bytes = 0;
  for (const std::string_view text : fields) bytes += text.size();
  return bytes;
}

// Returns an error reply, or the id of the new entry.
Reply AddEntry(CommandContext& context, Stream& stream, const NewStreamId& wanted,
               StreamFields fields) {
  if (stream.last_id() == StreamId::Max()) {
    return Reply::Error(
        "ERR The stream has exhausted the last possible ID, unable to add more items");
  }
  const std::optional<StreamId> id = ChooseId(stream, wanted, context.now_ms());
  // In Redis 7.0 this text is meant for another case, but it is what Redis replies.
  if (!id && !context.engine().Has(Feature::kStreamErrors)) return Reply::Error(kTooLarge);
  if (!id || *id <= stream.last_id()) {
    return Reply::Error(
        "ERR The ID specified in XADD is equal or smaller than the target stream top item");
  }
  if (BytesOf(fields) > Stream::kMaxEntryBytes) return Reply::Error(kTooLarge);
  stream.Append(*id, fields,
                {.max_bytes = context.limits().stream_node_max_bytes,
                 .max_entries = context.limits().stream_node_max_entries});
  return StreamIdReply(*id);
}

// The words of XADD and XTRIM, in which an approximate trim is replaced by what it did. `rest`: the
// words after the key, which `options` refers to.
std::vector<std::string> WriteWords(const CommandContext& context, std::string_view key,
                                    Arguments rest, const Stream& stream,
                                    const StreamWriteOptions& options) {
  std::vector<std::string> words = {std::string(context.called_name()), std::string(key)};
  words.insert(words.end(), rest.begin(), rest.end());
  if (!options.trim || !options.trim->approximate) return words;
  const size_t at = 2 + options.trim_value_at;
  words[at - 1] = "=";
  if (options.trim->max_length) {
    words[at] = base::FormatInt64(static_cast<int64_t>(stream.size()));
  } else {
    words[at] = (stream.size() == 0 ? StreamId::Max() : stream.first_id()).ToString();
  }
  return words;
}

Reply RangeGeneric(CommandContext& context, Arguments arguments, bool backwards) {
  StreamInterval interval;
  const auto [start, end] =
      backwards ? std::pair(arguments[2], arguments[1]) : std::pair(arguments[1], arguments[2]);
  if (Reply error = ReadInterval(start, end, interval); error.is_error()) return error;
  std::optional<int64_t> count;
  for (size_t i = 3; i < arguments.size(); i += 2) {
    if (!IsWord(arguments[i], "COUNT") || i + 1 >= arguments.size()) return SyntaxError();
    count = base::ParseInt64(arguments[i + 1]);
    if (!count) return Reply::Error(error_text::kNotAnInteger);
    // Redis first sets negative counts to 0, and uses -1 for a missing COUNT.
    count = std::max<int64_t>(*count, 0);
  }
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::EmptyArray();
  if (count == 0) return Reply::NilArray();
  ReplyArray entries(context, Reply::Shape::kPlain);
  VisitStreamEntries(*stream, interval, count.value_or(0), backwards,
                     [&](const Stream::Cursor& at) { entries.Add(StreamEntryReply(at)); });
  return std::move(entries).Finish();
}

}  // namespace

Reply HandleXAdd(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Arguments rest = arguments.subspan(1);
  StreamWriteOptions options;
  if (Reply error = ReadXAddOptions(context, rest, options); error.is_error()) return error;
  const size_t words = rest.size() - std::min(options.fields_at, rest.size());
  if (words < 2 || words % 2 == 1) {
    return WrongArity("xadd");
  }
  if (options.id.kind == NewStreamId::Kind::kGiven && options.id.id == StreamId::Min()) {
    return Reply::Error("ERR The ID specified in XADD must be greater than 0-0");
  }
  const Lookup<Stream> stream =
      options.only_if_exists ? context.Find<Stream>(key) : context.FindOrAdd<Stream>(key);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Nil();
  Reply id = AddEntry(context, *stream, options.id, rest.subspan(options.fields_at));
  if (id.is_error()) return id;
  context.Changed(key, EventClass::kStream, "xadd");
  if (options.trim && stream->Trim(*options.trim) > 0) {
    context.Notify(key, EventClass::kStream, "xtrim");
  }
  context.SignalReady(key, store::KeyType::kStream);
  if (context.propagates()) {
    std::vector<std::string> effect = WriteWords(context, key, rest, *stream, options);
    if (options.id.kind != NewStreamId::Kind::kGiven) effect[1 + options.fields_at] = id.text();
    context.PropagateAs(std::move(effect));
  }
  return id;
}

Reply HandleXLen(CommandContext& context, Arguments arguments) {
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  return CountReply(stream ? stream->size() : 0);
}

Reply HandleXRange(CommandContext& context, Arguments arguments) {
  return RangeGeneric(context, arguments, false);
}

Reply HandleXRevRange(CommandContext& context, Arguments arguments) {
  return RangeGeneric(context, arguments, true);
}

Reply HandleXDel(CommandContext& context, Arguments arguments) {
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Integer(0);
  std::vector<StreamId> ids;
  ids.reserve(arguments.size() - 1);
  for (const std::string_view text : arguments.subspan(1)) {
    const std::optional<StreamId> id = ReadStreamId(text);
    if (!id) return InvalidStreamId();
    ids.push_back(*id);
  }
  uint64_t deleted = 0;
  for (const StreamId id : ids) deleted += stream->Delete(id) ? 1 : 0;
  if (deleted > 0) context.Changed(arguments[0], EventClass::kStream, "xdel");
  return CountReply(deleted);
}

Reply HandleXTrim(CommandContext& context, Arguments arguments) {
  StreamWriteOptions options;
  if (Reply error = ReadXTrimOptions(context, arguments.subspan(1), options); error.is_error()) {
    return error;
  }
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Integer(0);
  const size_t removed = stream->Trim(*options.trim);
  if (removed > 0) {
    context.Changed(arguments[0], EventClass::kStream, "xtrim");
    if (context.propagates()) {
      context.PropagateAs(
          WriteWords(context, arguments[0], arguments.subspan(1), *stream, options));
    }
  }
  return CountReply(removed);
}

namespace {

struct SetIdOptions {
  StreamId id;
  std::optional<int64_t> entries_added;
  StreamId max_deleted_id;  // 0-0: not given.
};

// Returns an error reply, or nil if `options` is filled. `arguments`: the words after the key.
Reply ReadSetIdOptions(Arguments arguments, SetIdOptions& options) {
  const std::optional<StreamId> id = ReadStreamId(arguments[0]);
  if (!id) return InvalidStreamId();
  options.id = *id;
  for (size_t i = 1; i < arguments.size(); i += 2) {
    if (i + 1 >= arguments.size()) return SyntaxError();
    if (IsWord(arguments[i], "ENTRIESADDED")) {
      options.entries_added = base::ParseInt64(arguments[i + 1]);
      if (!options.entries_added) return Reply::Error(error_text::kNotAnInteger);
      if (*options.entries_added < 0) return Reply::Error("ERR entries_added must be positive");
    } else if (IsWord(arguments[i], "MAXDELETEDID")) {
      const std::optional<StreamId> max_deleted_id = ReadStreamId(arguments[i + 1]);
      if (!max_deleted_id) return InvalidStreamId();
      if (options.id < *max_deleted_id) {
        return Reply::Error(
            "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
      }
      options.max_deleted_id = *max_deleted_id;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

// Returns an error reply if the stream's entries do not allow it, else nil.
Reply CheckSetId(const Stream& stream, const SetIdOptions& options) {
  if (stream.size() == 0) return Reply::Nil();
  if (options.id < stream.LastEntryId()) {
    return Reply::Error(
        "ERR The ID specified in XSETID is smaller than the target stream top item");
  }
  if (options.entries_added && static_cast<uint64_t>(*options.entries_added) < stream.size()) {
    return Reply::Error(
        "ERR The entries_added specified in XSETID is smaller than the target stream length");
  }
  return Reply::Nil();
}

}  // namespace

Reply HandleXSetId(CommandContext& context, Arguments arguments) {
  SetIdOptions options;
  if (Reply error = ReadSetIdOptions(arguments.subspan(1), options); error.is_error()) return error;
  const Lookup<Stream> stream = context.Find<Stream>(arguments[0]);
  if (stream.wrong_type()) return WrongType();
  if (!stream) return Reply::Error(error_text::kNoSuchKey);
  if (options.id < stream->max_deleted_id() && context.engine().Has(Feature::kStreamErrors)) {
    return Reply::Error(
        "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id");
  }
  if (Reply error = CheckSetId(*stream, options); error.is_error()) return error;
  stream->set_last_id(options.id);
  if (options.entries_added) {
    stream->set_entries_added(static_cast<uint64_t>(*options.entries_added));
  }
  if (options.max_deleted_id != StreamId::Min()) {
    stream->set_max_deleted_id(options.max_deleted_id);
  }
  // As in Redis, transactions that watch the key do not fail.
  context.CountChange();
  context.Notify(arguments[0], EventClass::kStream, "xsetid");
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
