// What the stream commands read from their arguments in common: ids in all their forms, ranges of
// ids, and the options of trimming.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_ARGUMENTS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/memory/command_context.h"
#include "backends/memory/values/stream.h"

namespace redouble::memory {

// "ERR Invalid stream ID specified as stream command argument".
Reply InvalidStreamId();

// An id, with `missing_seq` as its sequence when it has none. Takes what Redis takes: more than the
// canonical text.
std::optional<StreamId> ReadStreamId(std::string_view text, uint64_t missing_seq = 0);
// The same, or "-" and "+" for the ends of all ids.
std::optional<StreamId> ReadStreamIdOrEnd(std::string_view text, uint64_t missing_seq = 0);

// The id of an entry to be added.
struct NewStreamId {
  enum class Kind {
    kGiven,
    kAutoSequence,  // "ms-*"; `id` has the milliseconds.
    kAuto,          // "*"
  };
  Kind kind = Kind::kAuto;
  StreamId id = {};
};
// "ms", "ms-seq" or "ms-*".
std::optional<NewStreamId> ReadNewStreamId(std::string_view text);

// From one id to another, both included.
struct StreamInterval {
  StreamId first = StreamId::Min();
  StreamId last = StreamId::Max();
};
// An id, "-", "+", or one of them behind "(" for the next id. An error reply, or nil and `first`
// set.
Reply ReadIntervalStart(std::string_view text, StreamId& first);
// As above for both ends.
Reply ReadInterval(std::string_view start, std::string_view end, StreamInterval& interval);

// The options in front of XADD's id, or behind XTRIM's key.
struct StreamWriteOptions {
  std::optional<StreamTrim> trim = std::nullopt;
  bool only_if_exists = false;
  NewStreamId id = {};
  // Where the fields begin in the arguments.
  size_t fields_at = 0;
};
// Both read the arguments from the one behind the key on. An error reply, or nil and `options`
// filled.
Reply ReadXAddOptions(CommandContext& context, Arguments arguments, StreamWriteOptions& options);
Reply ReadXTrimOptions(CommandContext& context, Arguments arguments, StreamWriteOptions& options);

// A client's words inside an error, as Redis writes them: up to a zero byte, on one line.
std::string InError(std::string_view word);
// "NOGROUP No such key 'k' or consumer group 'g'" and whatever follows.
Reply NoSuchKeyOrGroup(std::string_view key, std::string_view group, std::string_view suffix = {});
// "NOGROUP No such consumer group 'g' for key name 'k'".
Reply NoSuchGroup(std::string_view key, std::string_view group);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAM_ARGUMENTS_H_
