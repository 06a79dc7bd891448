// ZPOPMIN, ZPOPMAX, ZMPOP and their blocking forms. In a transaction or a script the blocking forms
// return at once, as after a timeout.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/block_timeout.h"
#include "redouble/backends/memory/commands/sorted_sets/sorted_set_replies.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

enum class Side { kMin, kMax };

std::vector<SortedSet::Element> PopElements(CommandContext& context, std::string_view key,
                                            SortedSet& set, Side side, size_t count) {
  const size_t size = set.size();
  count = std::min(count, size);
  const bool downwards = side == Side::kMax;
  std::vector<SortedSet::Element> popped;
  set.ForEach(downwards ? size - 1 : 0, count, downwards,
              [&](std::string_view member, double score) {
                popped.push_back({std::string(member), score});
              });
  set.RemoveRange(downwards ? RankRange{size - count, size} : RankRange{0, count});
  context.Changed(key, EventClass::kSortedSet, downwards ? "zpopmax" : "zpopmin");
  context.RemoveIfEmpty(key, set);
  return popped;
}

// The command that pops at that side, as it is propagated.
std::string_view PopWord(Side side) { return side == Side::kMin ? "ZPOPMIN" : "ZPOPMAX"; }

Reply PopGeneric(CommandContext& context, Arguments arguments, Side side) {
  if (arguments.size() > 2) return SyntaxError();
  int64_t count = 1;
  if (arguments.size() == 2) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[1]);
    if (!given || *given < 0) return Reply::Error(error_text::kMustBePositive);
    count = *given;
  }
  const Lookup<SortedSet> set = context.Find<SortedSet>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set || count == 0) return Reply::EmptyArray();
  std::vector<Reply> flat;
  for (const SortedSet::Element& element :
       PopElements(context, arguments[0], *set, side, static_cast<size_t>(count))) {
    AppendMember(context, flat, element.member, element.score, true);
  }
  return arguments.size() == 2 ? Reply::Pairs(std::move(flat)) : Reply::Array(std::move(flat));
}

// The reply of BZPOPMIN and BZPOPMAX.
Reply PopOne(CommandContext& context, std::string_view key, SortedSet& set, Side side) {
  const std::vector<SortedSet::Element> popped = PopElements(context, key, set, side, 1);
  context.PropagateAs(PopWord(side), key);
  std::vector<Reply> reply = {Reply::Bulk(key)};
  AppendMember(context, reply, popped[0].member, popped[0].score, true);
  return Reply::Array(std::move(reply));
}

// The arguments of ZMPOP and BZMPOP: `numkeys key... MIN|MAX [COUNT count]`.
struct MultiPop {
  Arguments keys;
  Side side = Side::kMin;
  size_t count = 1;
};

std::optional<Reply> ReadMultiPop(Arguments arguments, MultiPop& pop) {
  const std::optional<int64_t> key_count = base::ParseInt64(arguments[0]);
  if (!key_count || *key_count < 1) return Reply::Error(error_text::kNumKeysTooSmall);
  if (static_cast<uint64_t>(*key_count) + 1 >= arguments.size()) return SyntaxError();
  pop.keys = arguments.subspan(1, *key_count);
  const std::string_view side = arguments[*key_count + 1];
  if (!IsWord(side, "MIN") && !IsWord(side, "MAX")) return SyntaxError();
  pop.side = IsWord(side, "MIN") ? Side::kMin : Side::kMax;
  const Arguments options = arguments.subspan(*key_count + 2);
  if (options.empty()) return std::nullopt;
  if (options.size() == 1 || !IsWord(options[0], "COUNT")) return SyntaxError();
  const std::optional<int64_t> count = base::ParseInt64(options[1]);
  if (!count || *count < 1) return Reply::Error(error_text::kCountTooSmall);
  if (options.size() > 2) return SyntaxError();
  pop.count = static_cast<size_t>(*count);
  return std::nullopt;
}

// Pops from the first key that holds a sorted set; nullopt if there is none.
std::optional<Reply> PopFromFirst(CommandContext& context, const MultiPop& pop) {
  for (const std::string_view key : pop.keys) {
    const Lookup<SortedSet> set = context.Find<SortedSet>(key);
    if (set.wrong_type()) return WrongType();
    if (!set) continue;
    std::vector<Reply> pairs;
    for (const SortedSet::Element& element : PopElements(context, key, *set, pop.side, pop.count)) {
      pairs.push_back(
          Reply::Array({Reply::Bulk(element.member), ScoreReply(context, element.score)}));
    }
    if (context.propagates()) {
      const auto count = static_cast<int64_t>(pairs.size());
      context.PropagateAs(PopWord(pop.side), key, base::FormatInt64(count));
    }
    return Reply::Array({Reply::Bulk(key), Reply::Array(std::move(pairs))});
  }
  return std::nullopt;
}

BlockedOperation WaitForSortedSet(Arguments keys, const BlockTimeout& timeout) {
  BlockedOperation operation;
  for (const std::string_view key : keys) {
    const bool named_before =
        std::find(operation.keys.begin(), operation.keys.end(), key) != operation.keys.end();
    if (!named_before) operation.keys.emplace_back(key);
  }
  operation.type = store::KeyType::kSortedSet;
  operation.deadline_ms = timeout.deadline_ms;
  return operation;
}

// Pops from the first sorted set of the keys, as a command that is executed again does.
std::optional<Reply> PopFirst(CommandContext& context, const std::vector<std::string>& keys,
                              Side side) {
  for (const std::string& key : keys) {
    const Lookup<SortedSet> set = context.Find<SortedSet>(key);
    if (set.wrong_type()) return WrongType();
    if (set) return PopOne(context, key, *set, side);
  }
  return std::nullopt;
}

Reply BlockingPop(CommandContext& context, Arguments arguments, Side side) {
  BlockTimeout timeout = ReadTimeoutSeconds(context, arguments.back());
  if (timeout.error) return *std::move(timeout.error);
  const Arguments keys = arguments.first(arguments.size() - 1);
  for (const std::string_view key : keys) {
    const Lookup<SortedSet> set = context.Find<SortedSet>(key);
    if (set.wrong_type()) return WrongType();
    if (set) return PopOne(context, key, *set, side);
  }
  if (!context.may_block()) return Reply::NilArray();
  BlockedOperation operation = WaitForSortedSet(keys, timeout);
  if (context.engine().Has(Feature::kReexecution)) {
    operation.retry = [side, keys = operation.keys](CommandContext& later, std::string_view) {
      return PopFirst(later, keys, side);
    };
  } else {
    operation.retry = [side](CommandContext& later, std::string_view key) {
      return std::optional(PopOne(later, key, *later.Find<SortedSet>(key), side));
    };
  }
  return context.Block(std::move(operation));
}

}  // namespace

Reply HandleZPopMin(CommandContext& context, Arguments arguments) {
  return PopGeneric(context, arguments, Side::kMin);
}

Reply HandleZPopMax(CommandContext& context, Arguments arguments) {
  return PopGeneric(context, arguments, Side::kMax);
}

Reply HandleZMPop(CommandContext& context, Arguments arguments) {
  MultiPop pop;
  if (std::optional<Reply> error = ReadMultiPop(arguments, pop)) return *std::move(error);
  return PopFromFirst(context, pop).value_or(Reply::NilArray());
}

Reply HandleBZPopMin(CommandContext& context, Arguments arguments) {
  return BlockingPop(context, arguments, Side::kMin);
}

Reply HandleBZPopMax(CommandContext& context, Arguments arguments) {
  return BlockingPop(context, arguments, Side::kMax);
}

Reply HandleBZMPop(CommandContext& context, Arguments arguments) {
  MultiPop pop;
  if (std::optional<Reply> error = ReadMultiPop(arguments.subspan(1), pop)) {
    return *std::move(error);
  }
  BlockTimeout timeout = ReadTimeoutSeconds(context, arguments[0]);
  if (timeout.error) return *std::move(timeout.error);
  if (std::optional<Reply> popped = PopFromFirst(context, pop)) return *std::move(popped);
  if (!context.may_block()) return Reply::NilArray();
  BlockedOperation operation = WaitForSortedSet(pop.keys, timeout);
  const bool again = context.engine().Has(Feature::kReexecution);
  operation.retry = [side = pop.side, count = pop.count, again, keys = operation.keys](
                        CommandContext& later, std::string_view key) {
    const std::vector<std::string_view> all(keys.begin(), keys.end());
    return PopFromFirst(
        later, {.keys = again ? Arguments(all) : Arguments(&key, 1), .side = side, .count = count});
  };
  return context.Block(std::move(operation));
}

}  // namespace redouble::inline v0_1::memory
