#include "redouble/backends/memory/commands/sorted_sets/sorted_set_ranges.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "redouble/backends/memory/commands/decimal_number.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// As strtod, which accepts more than a score's text: leading spaces, an empty text (0), text after
// a zero byte, and out-of-range numbers (infinity).
std::optional<double> ReadBound(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  if (text.empty()) return 0;
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  if (const std::optional<double> value = base::ParseDouble(text)) return value;
  if (text.empty() || absl::ascii_isspace(static_cast<unsigned char>(text.back()))) {
    return std::nullopt;
  }
  double value = 0;
  if (!absl::SimpleAtod(base::ToAbsl(text), &value) || std::isnan(value)) return std::nullopt;
  return value;
}

bool ReadScoreBound(std::string_view text, bool decimal, double& bound, bool& exclusive) {
  exclusive = text.starts_with('(');
  if (exclusive) text.remove_prefix(1);
  if (decimal && !IsDecimal(text)) return false;
  const std::optional<double> value = ReadBound(text);
  if (value) bound = *value;
  return value.has_value();
}

bool ReadLexBound(std::string_view text, LexBound& bound) {
  if (text.empty()) return false;
  const char first = text.front();
  if (first == '-' || first == '+') {
    bound.kind = first == '-' ? LexBound::Kind::kLowest : LexBound::Kind::kHighest;
    bound.exclusive = true;
    return text.size() == 1 || text[1] == '\0';
  }
  if (first != '(' && first != '[') return false;
  bound = {LexBound::Kind::kMember, text.substr(1), first == '('};
  return true;
}

std::optional<Reply> ReadRanks(std::string_view min, std::string_view max, MemberRange& range) {
  const std::optional<int64_t> first = base::ParseInt64(min);
  const std::optional<int64_t> last = base::ParseInt64(max);
  if (!first || !last) return Reply::Error(error_text::kNotAnInteger);
  range.first = *first;
  range.last = *last;
  return std::nullopt;
}

RankRange ResolveRanks(const SortedSet& set, const MemberRange& range, bool downwards) {
  const std::optional<Range> ranks = ClampRange(range.first, range.last, set.size());
  if (!ranks) return {};
  if (downwards) return {set.size() - 1 - ranks->last, set.size() - ranks->first};
  return {ranks->first, ranks->last + 1};
}

}  // namespace

std::optional<Reply> ReadRange(const CommandContext& context, std::string_view min,
                               std::string_view max, MemberRange& range) {
  const bool decimal = context.engine().Has(Feature::kDecimalNumbers);
  switch (range.kind) {
    case RangeKind::kRank:
      return ReadRanks(min, max, range);
    case RangeKind::kScore:
      if (ReadScoreBound(min, decimal, range.scores.min, range.scores.min_exclusive) &&
          ReadScoreBound(max, decimal, range.scores.max, range.scores.max_exclusive)) {
        return std::nullopt;
      }
      return Reply::Error("ERR min or max is not a float");
    case RangeKind::kLex:
      if (ReadLexBound(min, range.members.min) && ReadLexBound(max, range.members.max)) {
        return std::nullopt;
      }
      return Reply::Error("ERR min or max not valid string range item");
  }
  return std::nullopt;
}

RankRange Resolve(const SortedSet& set, const MemberRange& range, bool downwards) {
  switch (range.kind) {
    case RangeKind::kRank:
      return ResolveRanks(set, range, downwards);
    case RangeKind::kScore:
      return set.Find(range.scores);
    case RangeKind::kLex:
      return set.Find(range.members, downwards);
  }
  return {};
}

}  // namespace redouble::inline v0_1::memory
