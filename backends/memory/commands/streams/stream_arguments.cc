#include "redouble/backends/memory/commands/streams/stream_arguments.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// Redis copies an id to a buffer of 128 bytes.
constexpr size_t kMaxIdBytes = 127;

// Redis reads up to a zero byte.
std::string_view CText(std::string_view text) { return text.substr(0, text.find('\0')); }

// Redis parses a number in a non-canonical form with strtoull, which accepts spaces, a plus sign
// and leading zeros, and turns "-01" into the greatest number.
std::optional<uint64_t> ReadPart(std::string_view text) {
  if (const std::optional<int64_t> value = base::ParseInt64(text)) {
    if (*value < 0) return std::nullopt;
    return static_cast<uint64_t>(*value);
  }
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const uint64_t value = std::strtoull(copy.c_str(), &end, 10);
  if (errno != 0 || copy.empty() || *end != '\0') return std::nullopt;
  return value;
}

enum class Ends { kRefused, kAllowed };

std::optional<StreamId> ReadId(std::string_view text, uint64_t missing_seq, Ends ends) {
  if (text.size() > kMaxIdBytes) return std::nullopt;
  text = CText(text);
  if (text == "-" || text == "+") {
    if (ends == Ends::kRefused) return std::nullopt;
    return text == "-" ? StreamId::Min() : StreamId::Max();
  }
  const size_t dash = text.find('-');
  const std::optional<uint64_t> ms = ReadPart(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == std::string_view::npos) return StreamId{*ms, missing_seq};
  const std::optional<uint64_t> seq = ReadPart(text.substr(dash + 1));
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

std::optional<StreamId> ReadIntervalEnd(std::string_view text, uint64_t missing_seq,
                                        bool& exclusive) {
  exclusive = text.size() > 1 && text[0] == '(';
  return exclusive ? ReadStreamId(text.substr(1), missing_seq)
                   : ReadStreamIdOrEnd(text, missing_seq);
}

// Reads MAXLEN, MINID and LIMIT for XADD and XTRIM.
class TrimReader {
 public:
  explicit TrimReader(Arguments arguments) : arguments_(arguments) {}

  // Reads the option at `at`, if it is one of the three, and moves `at` to its last word. Returns
  // an error reply, or nil, also if it is another option.
  Reply Read(size_t& at, bool& is_option) {
    is_option = true;
    const bool has_value = at + 1 < arguments_.size();
    if (has_value && IsWord(arguments_[at], "MAXLEN")) return ReadStrategy(at, true);
    if (has_value && IsWord(arguments_[at], "MINID")) return ReadStrategy(at, false);
    if (has_value && IsWord(arguments_[at], "LIMIT")) return ReadLimit(++at);
    is_option = false;
    return Reply::Nil();
  }

  // Returns an error reply if the options are incompatible, or nil if the trim of `options` is
  // filled.
  Reply Finish(const CommandContext& context, bool required, StreamWriteOptions& options) {
    if (limit_.value_or(0) != 0 && !trim_) {
      return Reply::Error(
          "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
    }
    if (!trim_ && required) {
      return Reply::Error("ERR syntax error, XTRIM must be called with a trimming strategy");
    }
    // A log or a master gives the length that its trimming has reached.
    if (context.obeys()) {
      limit_ = 0;
    } else if (limit_ && !(trim_ && trim_->approximate)) {
      return Reply::Error("ERR syntax error, LIMIT cannot be used without the special ~ option");
    }
    if (trim_ && trim_->approximate) trim_->limit = limit_.value_or(DefaultLimit(context.limits()));
    options.trim = trim_;
    options.trim_value_at = value_at_;
    return Reply::Nil();
  }

 private:
  // A hundred nodes.
  static size_t DefaultLimit(const EncodingLimits& limits) {
    const size_t limit = 100 * limits.stream_node_max_entries;
    return limit == 0 ? 10'000 : std::min<size_t>(limit, 1'000'000);
  }

  Reply ReadStrategy(size_t& at, bool by_length) {
    if (trim_) {
      return Reply::Error(
          "ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
    }
    StreamTrim trim;
    if (at + 2 < arguments_.size()) {
      const std::string_view mode = CText(arguments_[at + 1]);
      trim.approximate = mode == "~";
      if (mode == "~" || mode == "=") ++at;
    }
    const std::string_view value = arguments_[++at];
    value_at_ = at;
    if (by_length) {
      const std::optional<int64_t> length = base::ParseInt64(value);
      if (!length) return Reply::Error(error_text::kNotAnInteger);
      if (*length < 0) return Reply::Error("ERR The MAXLEN argument must be >= 0.");
      trim.max_length = static_cast<uint64_t>(*length);
    } else {
      trim.min_id = ReadStreamId(value);
      if (!trim.min_id) return InvalidStreamId();
    }
    trim_ = trim;
    return Reply::Nil();
  }

  Reply ReadLimit(size_t at) {
    const std::optional<int64_t> limit = base::ParseInt64(arguments_[at]);
    if (!limit) return Reply::Error(error_text::kNotAnInteger);
    if (*limit < 0) return Reply::Error("ERR The LIMIT argument must be >= 0.");
    limit_ = static_cast<size_t>(*limit);
    return Reply::Nil();
  }

  const Arguments arguments_;
  std::optional<StreamTrim> trim_;
  size_t value_at_ = 0;
  std::optional<size_t> limit_;
};

}  // namespace

Reply InvalidStreamId() {
  return Reply::Error("ERR Invalid stream ID specified as stream command argument");
}

std::optional<StreamId> ReadStreamId(std::string_view text, uint64_t missing_seq) {
  return ReadId(text, missing_seq, Ends::kRefused);
}

std::optional<StreamId> ReadStreamIdOrEnd(std::string_view text, uint64_t missing_seq) {
  return ReadId(text, missing_seq, Ends::kAllowed);
}

std::optional<NewStreamId> ReadNewStreamId(std::string_view text) {
  using Kind = NewStreamId::Kind;
  const std::string_view seen = CText(text);
  const size_t dash = seen.find('-');
  if (text.size() <= kMaxIdBytes && dash != std::string_view::npos &&
      seen.substr(dash + 1) == "*") {
    const std::optional<uint64_t> ms = ReadPart(seen.substr(0, dash));
    if (!ms) return std::nullopt;
    return NewStreamId{Kind::kAutoSequence, {*ms, 0}};
  }
  const std::optional<StreamId> id = ReadStreamId(text);
  if (!id) return std::nullopt;
  return NewStreamId{Kind::kGiven, *id};
}

Reply ReadIntervalStart(std::string_view text, StreamId& first) {
  bool exclusive = false;
  std::optional<StreamId> id = ReadIntervalEnd(text, 0, exclusive);
  if (!id) return InvalidStreamId();
  if (exclusive) id = id->Next();
  if (!id) return Reply::Error("ERR invalid start ID for the interval");
  first = *id;
  return Reply::Nil();
}

Reply ReadInterval(std::string_view start, std::string_view end, StreamInterval& interval) {
  if (Reply error = ReadIntervalStart(start, interval.first); error.is_error()) return error;
  bool exclusive = false;
  std::optional<StreamId> id =
      ReadIntervalEnd(end, std::numeric_limits<uint64_t>::max(), exclusive);
  if (!id) return InvalidStreamId();
  if (exclusive) id = id->Previous();
  if (!id) return Reply::Error("ERR invalid end ID for the interval");
  interval.last = *id;
  return Reply::Nil();
}

Reply ReadXAddOptions(CommandContext& context, Arguments arguments, StreamWriteOptions& options) {
  TrimReader reader(arguments);
  size_t at = 0;
  for (; at < arguments.size(); ++at) {
    if (CText(arguments[at]) == "*") break;
    bool is_option = false;
    if (Reply error = reader.Read(at, is_option); error.is_error()) return error;
    if (is_option) continue;
    if (IsWord(arguments[at], "NOMKSTREAM")) {
      options.only_if_exists = true;
      continue;
    }
    const std::optional<NewStreamId> id = ReadNewStreamId(arguments[at]);
    if (!id) return InvalidStreamId();
    options.id = *id;
    break;
  }
  options.fields_at = at + 1;
  return reader.Finish(context, false, options);
}

Reply ReadXTrimOptions(CommandContext& context, Arguments arguments, StreamWriteOptions& options) {
  TrimReader reader(arguments);
  for (size_t at = 0; at < arguments.size(); ++at) {
    bool is_option = false;
    if (Reply error = reader.Read(at, is_option); error.is_error()) return error;
    if (!is_option) return SyntaxError();
  }
  return reader.Finish(context, true, options);
}

std::string InError(std::string_view word) {
  std::string text(CText(word));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

Reply NoSuchKeyOrGroup(std::string_view key, std::string_view group, std::string_view suffix) {
  return Reply::Error(absl::StrCat("NOGROUP No such key '", InError(key), "' or consumer group '",
                                   InError(group), "'", base::ToAbsl(suffix)));
}

Reply NoSuchGroup(std::string_view key, std::string_view group) {
  return Reply::Error(absl::StrCat("NOGROUP No such consumer group '", InError(group),
                                   "' for key name '", InError(key), "'"));
}

}  // namespace redouble::inline v0_1::memory
