// The commands that read, count, store and remove ranges of sorted sets.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/sorted_sets/sorted_set_ranges.h"
#include "redouble/backends/memory/commands/sorted_sets/sorted_set_replies.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// The parts of a range that the command's name determines, and those that its arguments may choose.
struct RangeForm {
  RangeKind kind = RangeKind::kRank;
  bool downwards = false;
  bool kind_is_open = false;       // BYSCORE and BYLEX are options.
  bool direction_is_open = false;  // REV is an option.
  bool stores = false;             // WITHSCORES is not an option.
};

constexpr RangeForm kAnyRange{.kind_is_open = true, .direction_is_open = true};

struct RangeRequest {
  MemberRange range;
  bool downwards = false;
  bool with_scores = false;
  int64_t offset = 0;
  int64_t limit = -1;  // Negative: no limit.
};

// Reads one option at the front of `options`. Returns the number of its words, 0 if it is not an
// option.
size_t ReadRangeOption(Arguments options, const RangeForm& form, bool& kind_chosen,
                       RangeRequest& request, std::optional<Reply>& error) {
  const std::string_view word = options[0];
  if (!form.stores && IsWord(word, "WITHSCORES")) {
    request.with_scores = true;
    return 1;
  }
  if (IsWord(word, "LIMIT") && options.size() >= 3) {
    const std::optional<int64_t> offset = base::ParseInt64(options[1]);
    const std::optional<int64_t> limit = base::ParseInt64(options[2]);
    if (!offset || !limit) error = Reply::Error(error_text::kNotAnInteger);
    request.offset = offset.value_or(0);
    request.limit = limit.value_or(0);
    return 3;
  }
  if (form.direction_is_open && !request.downwards && IsWord(word, "REV")) {
    request.downwards = true;
    return 1;
  }
  const bool by_lex = IsWord(word, "BYLEX");
  if (!form.kind_is_open || kind_chosen || (!by_lex && !IsWord(word, "BYSCORE"))) return 0;
  request.range.kind = by_lex ? RangeKind::kLex : RangeKind::kScore;
  kind_chosen = true;
  return 1;
}

// Reads `min max [options]`. Returns the error reply if they are invalid.
std::optional<Reply> ReadRequest(const CommandContext& context, Arguments arguments,
                                 const RangeForm& form, RangeRequest& request) {
  request.range.kind = form.kind;
  request.downwards = form.downwards;
  bool kind_chosen = false;
  for (Arguments options = arguments.subspan(2); !options.empty();) {
    std::optional<Reply> error;
    const size_t taken = ReadRangeOption(options, form, kind_chosen, request, error);
    if (taken == 0) return SyntaxError();
    if (error) return error;
    options = options.subspan(taken);
  }
  if (request.limit != -1 && request.range.kind == RangeKind::kRank) {
    return Reply::Error(
        "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
  }
  if (request.with_scores && request.range.kind == RangeKind::kLex) {
    return Reply::Error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  const bool max_first = request.downwards && request.range.kind != RangeKind::kRank;
  return ReadRange(context, arguments[max_first ? 1 : 0], arguments[max_first ? 0 : 1],
                   request.range);
}

// As ForEachInRange, for members of a listpack after an offset. The skipped members are not
// examined: if scores differ, members in the range may follow them.
template <typename Visit>
void ForEachBehindOffset(const SortedSet& set, const RangeRequest& request, const RankRange& ranks,
                         uint64_t offset, Visit visit) {
  const size_t in_front = request.downwards ? ranks.end : set.size() - ranks.first;
  if (ranks.size() == 0 || offset >= in_front) return;
  const LexRange& range = request.range.members;
  const size_t first = request.downwards ? ranks.end - 1 - offset : ranks.first + offset;
  uint64_t left = request.limit < 0 ? set.size() : static_cast<uint64_t>(request.limit);
  set.ForEach(
      first, in_front - offset, request.downwards, [&](std::string_view member, double score) {
        if (left == 0) return;
        const bool inside = request.downwards ? range.AtLeastMin(member) : range.AtMostMax(member);
        left = inside ? left - 1 : 0;
        if (inside) visit(member, score);
      });
}

// Calls `visit(member, score)` for the requested elements, in order.
template <typename Visit>
void ForEachInRange(const CommandContext& context, const SortedSet& set,
                    const RangeRequest& request, Visit visit) {
  const RankRange ranks = Resolve(set, request.range, request.downwards);
  // For ranks, LIMIT with an offset and no limit is accepted and ignored. A negative offset skips
  // everything, or counts from the end in later versions.
  const bool skips = request.range.kind != RangeKind::kRank;
  auto offset = skips ? static_cast<uint64_t>(request.offset) : 0;
  const bool is_from_end = skips && request.offset < 0 && set.listpack() == nullptr;
  if (is_from_end && context.engine().Has(Feature::kOffsetFromEnd)) offset += ranks.size();
  if (request.range.kind == RangeKind::kLex && offset > 0 && set.listpack() != nullptr) {
    return ForEachBehindOffset(set, request, ranks, offset, visit);
  }
  if (offset >= ranks.size()) return;
  size_t count = ranks.size() - offset;
  if (request.limit >= 0) count = std::min<uint64_t>(count, request.limit);
  if (count == 0) return;
  set.ForEach(request.downwards ? ranks.end - 1 - offset : ranks.first + offset, count,
              request.downwards, visit);
}

Reply RangeReply(CommandContext& context, Arguments arguments, const RangeForm& form) {
  RangeRequest request;
  if (auto error = ReadRequest(context, arguments.subspan(1), form, request)) {
    return *std::move(error);
  }
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  ReplyArray members = MembersArray(context, std::nullopt, request.with_scores);
  if (set) {
    ForEachInRange(context, *set, request, [&](std::string_view member, double score) {
      AddMember(context, members, member, score, request.with_scores);
    });
  }
  return std::move(members).Finish();
}

Reply CountReply(CommandContext& context, Arguments arguments, RangeKind kind) {
  MemberRange range{.kind = kind};
  if (auto error = ReadRange(context, arguments[1], arguments[2], range)) return *std::move(error);
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  const size_t count = set ? Resolve(*set, range, false).size() : 0;
  return Reply::Integer(static_cast<int64_t>(count));
}

Reply RemoveReply(CommandContext& context, Arguments arguments, RangeKind kind,
                  std::string_view event) {
  MemberRange range{.kind = kind};
  if (auto error = ReadRange(context, arguments[1], arguments[2], range)) return *std::move(error);
  const std::string_view key = arguments[0];
  const Lookup<SortedSet> set = context.Find<SortedSet>(key);
  if (set.wrong_type()) return WrongType();
  if (!set) return Reply::Integer(0);
  const RankRange ranks = Resolve(*set, range, false);
  if (ranks.size() == 0) return Reply::Integer(0);
  set->RemoveRange(ranks);
  context.Changed(key, EventClass::kSortedSet, event);
  context.RemoveIfEmpty(key, *set);
  return Reply::Integer(static_cast<int64_t>(ranks.size()));
}

}  // namespace

Reply HandleZRange(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments, kAnyRange);
}

Reply HandleZRevRange(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments, {.downwards = true});
}

Reply HandleZRangeByScore(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments, {.kind = RangeKind::kScore});
}

Reply HandleZRevRangeByScore(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments, {.kind = RangeKind::kScore, .downwards = true});
}

Reply HandleZRangeByLex(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments, {.kind = RangeKind::kLex});
}

Reply HandleZRevRangeByLex(CommandContext& context, Arguments arguments) {
  return RangeReply(context, arguments, {.kind = RangeKind::kLex, .downwards = true});
}

Reply HandleZRangeStore(CommandContext& context, Arguments arguments) {
  const std::string_view target = arguments[0];
  RangeForm form = kAnyRange;
  form.stores = true;
  RangeRequest request;
  if (auto error = ReadRequest(context, arguments.subspan(2), form, request)) {
    return *std::move(error);
  }
  const Lookup<SortedSet> source = context.Find<SortedSet>(arguments[1]);
  context.CountRead(arguments[1], source.exists());
  if (source.wrong_type()) return WrongType();
  SortedSet result;
  if (source) {
    // For ranks, Redis knows the number of elements in advance.
    const size_t known = request.range.kind == RangeKind::kRank
                             ? Resolve(*source, request.range, request.downwards).size()
                             : 0;
    if (known > context.limits().zset_max_listpack_entries) result.ConvertToTable();
    ForEachInRange(context, *source, request, [&](std::string_view member, double score) {
      result.Set(member, score, context.limits());
    });
  }
  const auto stored = static_cast<int64_t>(result.size());
  if (stored == 0) {
    if (context.Remove(target)) context.Changed(target, EventClass::kGeneric, "del");
    return Reply::Integer(0);
  }
  context.Put(target, Value::Of(std::move(result)));
  context.Changed(target, EventClass::kSortedSet, "zrangestore");
  return Reply::Integer(stored);
}

Reply HandleZCount(CommandContext& context, Arguments arguments) {
  return CountReply(context, arguments, RangeKind::kScore);
}

Reply HandleZLexCount(CommandContext& context, Arguments arguments) {
  return CountReply(context, arguments, RangeKind::kLex);
}

Reply HandleZRemRangeByRank(CommandContext& context, Arguments arguments) {
  return RemoveReply(context, arguments, RangeKind::kRank, "zremrangebyrank");
}

Reply HandleZRemRangeByScore(CommandContext& context, Arguments arguments) {
  return RemoveReply(context, arguments, RangeKind::kScore, "zremrangebyscore");
}

Reply HandleZRemRangeByLex(CommandContext& context, Arguments arguments) {
  return RemoveReply(context, arguments, RangeKind::kLex, "zremrangebylex");
}

}  // namespace redouble::inline v0_1::memory
