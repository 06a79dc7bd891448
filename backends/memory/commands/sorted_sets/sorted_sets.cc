// The sorted set commands on single members. Ranges, pops and operations on several sets have their
// own files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "redouble/backends/memory/commands/random_picks.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/scan_options.h"
#include "redouble/backends/memory/commands/sorted_sets/sorted_set_replies.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply CountReply(size_t count) { return Reply::Integer(static_cast<int64_t>(count)); }

struct AddOptions {
  bool if_absent = false;   // NX
  bool if_present = false;  // XX
  bool if_greater = false;  // GT
  bool if_less = false;     // LT
  bool count_changed = false;
  bool increment = false;
};

// Sets the option of that name. Returns false if there is none.
bool ReadAddOption(std::string_view word, AddOptions& options) {
  constexpr struct {
    std::string_view word;
    bool AddOptions::*option;
  } kRows[] = {
      {"NX", &AddOptions::if_absent},     {"XX", &AddOptions::if_present},
      {"GT", &AddOptions::if_greater},    {"LT", &AddOptions::if_less},
      {"CH", &AddOptions::count_changed}, {"INCR", &AddOptions::increment},
  };
  // Most scores begin with a digit.
  if (word.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(word[0]))) return false;
  for (const auto& row : kRows) {
    if (!IsWord(word, row.word)) continue;
    options.*row.option = true;
    return true;
  }
  return false;
}

// Reads the options before the scores. Returns their number.
size_t ReadAddOptions(Arguments arguments, AddOptions& options) {
  size_t count = 0;
  while (count < arguments.size() && ReadAddOption(arguments[count], options)) ++count;
  return count;
}

std::optional<Reply> CheckAddOptions(const AddOptions& options, Arguments pairs) {
  if (pairs.empty() || pairs.size() % 2 != 0) return SyntaxError();
  if (options.if_absent && options.if_present) {
    return Reply::Error("ERR XX and NX options at the same time are not compatible");
  }
  const int exclusive = options.if_absent + options.if_greater + options.if_less;
  if (exclusive > 1) {
    return Reply::Error("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
  if (options.increment && pairs.size() > 2) {
    return Reply::Error("ERR INCR option supports a single increment-element pair");
  }
  return std::nullopt;
}

struct AddResult {
  int64_t added = 0;
  int64_t updated = 0;
  std::optional<double> score;  // The last member's score, unless it was not updated.
  bool is_nan = false;
};

void AddMember(SortedSet& set, std::string_view member, double score, const AddOptions& options,
               const EncodingLimits& limits, AddResult& result) {
  result.score.reset();
  const std::optional<double> old = set.Score(member);
  if (!old) {
    if (options.if_present) return;
    set.Set(member, score, limits);
    ++result.added;
    result.score = score;
    return;
  }
  if (options.if_absent) return;
  if (options.increment) score += *old;
  result.is_nan = std::isnan(score);
  if (result.is_nan) return;
  if ((options.if_less && score >= *old) || (options.if_greater && score <= *old)) return;
  result.score = score;
  if (score == *old) return;
  set.Set(member, score, limits);
  ++result.updated;
}

Reply AddReply(const CommandContext& context, const AddOptions& options, const AddResult& result) {
  if (result.is_nan) return Reply::Error("ERR resulting score is not a number (NaN)");
  if (options.increment) return result.score ? ScoreReply(context, *result.score) : Reply::Nil();
  return Reply::Integer(options.count_changed ? result.added + result.updated : result.added);
}

// Converts the set if not all pairs fit into a listpack, whether they are added or not.
void ConvertAhead(SortedSet& set, Arguments pairs, const EncodingLimits& limits) {
  if (set.listpack() == nullptr) return;
  size_t longest = 0;
  for (size_t i = 1; i < pairs.size(); i += 2) longest = std::max(longest, pairs[i].size());
  if (pairs.size() / 2 > limits.zset_max_listpack_entries ||
      longest > limits.zset_max_listpack_value) {
    set.ConvertToTable();
  }
}

Reply AddGeneric(CommandContext& context, Arguments arguments, AddOptions options) {
  const std::string_view key = arguments[0];
  const Arguments pairs = arguments.subspan(1 + ReadAddOptions(arguments.subspan(1), options));
  if (std::optional<Reply> error = CheckAddOptions(options, pairs)) return *std::move(error);
  absl::InlinedVector<double, 4> scores;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const std::optional<double> score = base::ParseDouble(pairs[i]);
    if (!score) return Reply::Error(error_text::kNotAFloat);
    scores.push_back(*score);
  }
  const Lookup<SortedSet> set =
      options.if_present ? context.Find<SortedSet>(key) : context.FindOrAdd<SortedSet>(key);
  if (set.wrong_type()) return WrongType();
  AddResult result;
  if (!set) return AddReply(context, options, result);
  if (context.engine().Has(Feature::kConvertsAhead)) ConvertAhead(*set, pairs, context.limits());
  for (size_t i = 0; i < scores.size() && !result.is_nan; ++i) {
    AddMember(*set, pairs[2 * i + 1], scores[i], options, context.limits(), result);
  }
  if (result.added + result.updated > 0) {
    context.Changed(key, EventClass::kSortedSet, options.increment ? "zincr" : "zadd");
  }
  return AddReply(context, options, result);
}

Reply RankReply(CommandContext& context, Arguments arguments, bool downwards) {
  const bool with_score = arguments.size() > 2;
  if (with_score && (arguments.size() > 3 || !IsWord(arguments[2], "WITHSCORE"))) {
    return arguments.size() > 3 ? WrongArity(downwards ? "zrevrank" : "zrank") : SyntaxError();
  }
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  const std::optional<size_t> rank = set ? set->Rank(arguments[1]) : std::nullopt;
  if (!rank) return with_score ? Reply::NilArray() : Reply::Nil();
  Reply position = CountReply(downwards ? set->size() - 1 - *rank : *rank);
  if (!with_score) return position;
  return Reply::Array({std::move(position), ScoreReply(context, *set->Score(arguments[1]))});
}

Reply ScoreOrNil(const CommandContext& context, const Lookup<SortedSet>& set,
                 std::string_view member) {
  const std::optional<double> score = set ? set->Score(member) : std::nullopt;
  return score ? ScoreReply(context, *score) : Reply::Nil();
}

// A score that a scan visits. Newer versions scan the text in a listpack as ZADD has written it,
// and the number in a skiplist with 17 digits.
std::string ScanText(const CommandContext& context, const SortedSet& set, std::string_view score) {
  const bool is_short =
      context.engine().Has(Feature::kShortestScores) && set.encoding() == "listpack";
  if (!is_short) return std::string(score);
  return base::FormatShortestDouble(base::ParseDouble(score).value_or(0));
}

}  // namespace

Reply HandleZAdd(CommandContext& context, Arguments arguments) {
  return AddGeneric(context, arguments, {});
}

// Redis parses ZADD's options here too, in the position of the increment.
Reply HandleZIncrBy(CommandContext& context, Arguments arguments) {
  return AddGeneric(context, arguments, {.increment = true});
}

Reply HandleZCard(CommandContext& context, Arguments arguments) {
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  return CountReply(set ? set->size() : 0);
}

Reply HandleZScore(CommandContext& context, Arguments arguments) {
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  return ScoreOrNil(context, set, arguments[1]);
}

Reply HandleZMScore(CommandContext& context, Arguments arguments) {
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  std::vector<Reply> scores;
  for (const std::string_view member : arguments.subspan(1)) {
    scores.push_back(ScoreOrNil(context, set, member));
  }
  return Reply::Array(std::move(scores));
}

Reply HandleZRank(CommandContext& context, Arguments arguments) {
  return RankReply(context, arguments, false);
}

Reply HandleZRevRank(CommandContext& context, Arguments arguments) {
  return RankReply(context, arguments, true);
}

Reply HandleZRem(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Lookup<SortedSet> set = context.Find<SortedSet>(key);
  if (set.wrong_type()) return WrongType();
  if (!set) return Reply::Integer(0);
  int64_t removed = 0;
  for (const std::string_view member : arguments.subspan(1)) removed += set->Remove(member);
  if (removed == 0) return Reply::Integer(0);
  context.Changed(key, EventClass::kSortedSet, "zrem");
  context.RemoveIfEmpty(key, *set);
  return Reply::Integer(removed);
}

Reply HandleZRandMember(CommandContext& context, Arguments arguments) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const bool with_count = arguments.size() > 1;
  int64_t count = 1;
  bool with_scores = false;
  if (with_count) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[1]);
    if (!given) return Reply::Error(error_text::kNotAnInteger);
    if (*given < -kMax) return Reply::Error(OutOfRangeText(-kMax, kMax));
    if (arguments.size() > 3) return SyntaxError();
    with_scores = arguments.size() == 3;
    if (with_scores && !IsWord(arguments[2], "WITHSCORES")) return SyntaxError();
    if (with_scores && (*given < -kMax / 2 || *given > kMax / 2)) {
      return Reply::Error(error_text::kOutOfRange);
    }
    count = *given;
  }
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set) return with_count ? Reply::EmptyArray() : Reply::Nil();
  if (!with_count) {
    return Reply::Bulk(set->At(PickPosition(context.rng(), set->size())).member);
  }
  if (std::optional<Reply> refusal = RefuseAbsurdCount(count, context.session().reply_sink())) {
    return *std::move(refusal);
  }
  const size_t picked = PickCount(set->size(), count);
  ReplyArray picks = MembersArray(context, picked, with_scores);
  VisitPositions(context.rng(), set->size(), count, [&](size_t rank) {
    const SortedSet::Element element = set->At(rank);
    AddMember(context, picks, element.member, element.score, with_scores);
    return picks.wanted();
  });
  return std::move(picks).Finish();
}

Reply HandleZScan(CommandContext& context, Arguments arguments) {
  ScanOptions options;
  if (std::optional<Reply> error = ReadCursor(context, arguments[1], options.cursor)) return *error;
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set) return ScanReply(0, {});
  if (std::optional<Reply> error = ReadScanOptions(context, arguments.subspan(2), false, options)) {
    return *error;
  }
  std::vector<Reply> page;
  const uint64_t next = set->Scan(options.cursor, options.count,
                                  [&](std::string_view member, std::string_view score) {
                                    if (!options.Matches(member)) return;
                                    page.push_back(Reply::Bulk(member));
                                    page.push_back(Reply::Bulk(ScanText(context, *set, score)));
                                  });
  return ScanReply(next, std::move(page));
}

}  // namespace redouble::inline v0_1::memory
