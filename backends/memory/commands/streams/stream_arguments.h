// Parsers of arguments that stream commands share: ids, intervals of ids, and trimming options.
//
// Each parser returns an error reply or fills its output. Ids are accepted in all forms that Redis
// accepts, which are more than the canonical one.
//
// Thread-safety: pure functions.
// Source: Redis 7.0 XADD, XRANGE, XTRIM.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_ARGUMENTS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/values/stream.h"

namespace redouble::inline v0_1::memory {

// "ERR Invalid stream ID specified as stream command argument".
Reply InvalidStreamId();

// Reads an id; nullopt if it is invalid. `missing_seq` is the sequence of an id without one.
std::optional<StreamId> ReadStreamId(std::string_view text, uint64_t missing_seq = 0);
// The same, and "-" and "+" for the smallest and the greatest id.
std::optional<StreamId> ReadStreamIdOrEnd(std::string_view text, uint64_t missing_seq = 0);

// The id argument of XADD.
struct NewStreamId {
  enum class Kind {
    kGiven,
    kAutoSequence,  // "ms-*"; `id` contains the milliseconds.
    kAuto,          // "*"
  };
  Kind kind = Kind::kAuto;
  StreamId id = {};
};
// Reads "ms", "ms-seq", "ms-*" or "*".
std::optional<NewStreamId> ReadNewStreamId(std::string_view text);

// An interval of ids, both ends inclusive.
struct StreamInterval {
  StreamId first = StreamId::Min();
  StreamId last = StreamId::Max();
};
// Reads an id, "-", "+", or one of them after "(" for an exclusive start. Returns an error reply,
// or nil if `first` is set.
Reply ReadIntervalStart(std::string_view text, StreamId& first);
// The same for both ends.
Reply ReadInterval(std::string_view start, std::string_view end, StreamInterval& interval);

// The options of XADD and XTRIM.
struct StreamWriteOptions {
  std::optional<StreamTrim> trim = std::nullopt;
  // The index of the trim's length or id, after "=" or "~" if there is one.
  size_t trim_value_at = 0;
  bool only_if_exists = false;
  NewStreamId id = {};
  // The index of the first field in XADD's arguments.
  size_t fields_at = 0;
};
// Both read `arguments` from the index after the key. They return an error reply, or nil if
// `options` is filled.
Reply ReadXAddOptions(CommandContext& context, Arguments arguments, StreamWriteOptions& options);
Reply ReadXTrimOptions(CommandContext& context, Arguments arguments, StreamWriteOptions& options);

// Returns a client's word as Redis quotes it in an error: truncated at the first zero byte, with
// line breaks replaced by spaces.
std::string InError(std::string_view word);
// "NOGROUP No such key 'k' or consumer group 'g'", followed by `suffix`.
Reply NoSuchKeyOrGroup(std::string_view key, std::string_view group, std::string_view suffix = {});
// "NOGROUP No such consumer group 'g' for key name 'k'".
Reply NoSuchGroup(std::string_view key, std::string_view group);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STREAMS_STREAM_ARGUMENTS_H_
