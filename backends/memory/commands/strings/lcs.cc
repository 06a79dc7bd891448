// LCS: the longest common subsequence of two strings.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

struct LcsOptions {
  bool length_only = false;
  bool ranges = false;
  bool with_match_length = false;
  int64_t min_match_length = 0;
};

// Returns the error reply, or nullopt.
std::optional<Reply> ReadLcsOptions(Arguments words, LcsOptions& options) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (IsWord(words[i], "IDX")) {
      options.ranges = true;
    } else if (IsWord(words[i], "LEN")) {
      options.length_only = true;
    } else if (IsWord(words[i], "WITHMATCHLEN")) {
      options.with_match_length = true;
    } else if (IsWord(words[i], "MINMATCHLEN") && i + 1 < words.size()) {
      const std::optional<int64_t> length = base::ParseInt64(words[++i]);
      if (!length) return Reply::Error(error_text::kNotAnInteger);
      options.min_match_length = std::max<int64_t>(*length, 0);
    } else {
      return SyntaxError();
    }
  }
  if (options.ranges && options.length_only) {
    return Reply::Error("ERR If you want both the length and indexes, please just use IDX.");
  }
  return std::nullopt;
}

// Cell (i, j) is the length for the first i bytes of a and the first j of b.
class LengthTable {
 public:
  LengthTable(std::string_view a, std::string_view b)
      : width_(b.size() + 1), cells_((a.size() + 1) * width_) {
    for (size_t i = 1; i <= a.size(); ++i) {
      for (size_t j = 1; j <= b.size(); ++j) {
        cells_[i * width_ + j] =
            a[i - 1] == b[j - 1] ? At(i - 1, j - 1) + 1 : std::max(At(i - 1, j), At(i, j - 1));
      }
    }
  }

  static uint64_t BytesFor(std::string_view a, std::string_view b) {
    return uint64_t{a.size() + 1} * uint64_t{b.size() + 1} * sizeof(uint32_t);
  }
  uint32_t At(size_t i, size_t j) const { return cells_[i * width_ + j]; }

 private:
  size_t width_;
  std::vector<uint32_t> cells_;
};

// Equal bytes of a and b, contiguous in both.
struct Match {
  size_t a;
  size_t b;
  size_t length;
};

// The matches from last to first. Redis ends a match at the beginning of a string, which is also
// the end of the search.
std::vector<Match> Matches(std::string_view a, std::string_view b, const LengthTable& table) {
  std::vector<Match> matches;
  bool open = false;
  for (size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    if (a[i - 1] == b[j - 1]) {
      --i;
      --j;
      if (!open) matches.push_back({i, j, 0});
      open = true;
      matches.back() = {i, j, matches.back().length + 1};
    } else {
      open = false;
      table.At(i - 1, j) > table.At(i, j - 1) ? --i : --j;
    }
  }
  return matches;
}

Reply RangeOf(size_t first, size_t length) {
  return Reply::Array({Reply::Integer(static_cast<int64_t>(first)),
                       Reply::Integer(static_cast<int64_t>(first + length - 1))});
}

Reply RangesReply(const std::vector<Match>& matches, const LcsOptions& options, uint32_t length) {
  std::vector<Reply> ranges;
  for (const Match& match : matches) {
    const auto match_length = static_cast<int64_t>(match.length);
    if (match_length < options.min_match_length) continue;
    std::vector<Reply> range = {RangeOf(match.a, match.length), RangeOf(match.b, match.length)};
    if (options.with_match_length) range.push_back(Reply::Integer(match_length));
    ranges.push_back(Reply::Array(std::move(range)));
  }
  return Reply::Map({Reply::Bulk("matches"), Reply::Array(std::move(ranges)), Reply::Bulk("len"),
                     Reply::Integer(length)});
}

}  // namespace

Reply HandleLcs(CommandContext& context, Arguments arguments) {
  const Lookup<Value> string_a = context.FindString(arguments[0]);
  const Lookup<Value> string_b = context.FindString(arguments[1]);
  if (string_a.wrong_type() || string_b.wrong_type()) {
    return Reply::Error("ERR The specified keys must contain string values");
  }
  LcsOptions options;
  if (std::optional<Reply> error = ReadLcsOptions(arguments.subspan(2), options)) return *error;
  Value::TextBuffer buffer_a;
  Value::TextBuffer buffer_b;
  const std::string_view a = string_a ? string_a->Text(buffer_a) : std::string_view();
  const std::string_view b = string_b ? string_b->Text(buffer_b) : std::string_view();
  // Redis limits the table to the maximum size of a string.
  if (LengthTable::BytesFor(a, b) > context.max_string_bytes()) {
    return Reply::Error(
        "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
  const LengthTable table(a, b);
  const uint32_t length = table.At(a.size(), b.size());
  if (options.length_only) return Reply::Integer(length);
  const std::vector<Match> matches = Matches(a, b, table);
  if (options.ranges) return RangesReply(matches, options, length);
  std::string text;
  for (auto match = matches.rbegin(); match != matches.rend(); ++match) {
    text += a.substr(match->a, match->length);
  }
  return Reply::Bulk(std::move(text));
}

}  // namespace redouble::inline v0_1::memory
