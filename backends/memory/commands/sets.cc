// The commands of Redis sets.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/random_picks.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/scan_options.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply CountReply(size_t count) { return Reply::Integer(static_cast<int64_t>(count)); }

// The sets at several keys; null for a missing key.
struct Operands {
  std::vector<const Set*> sets;
  bool wrong_type = false;
};

Operands FindSets(CommandContext& context, Arguments keys) {
  Operands operands;
  operands.sets.reserve(keys.size());
  for (const std::string_view key : keys) {
    const Lookup<Set> set = context.Find<Set>(key);
    context.CountRead(key, set.exists());
    if (set.wrong_type()) {
      // Later keys are not looked up, so that expired ones stay.
      operands.wrong_type = true;
      return operands;
    }
    operands.sets.push_back(set ? &*set : nullptr);
  }
  return operands;
}

// The members of the intersection, at most `limit` (0: all), in the order of the smallest set.
std::vector<std::string> Intersect(std::vector<const Set*> sets, size_t limit) {
  std::vector<std::string> common;
  if (std::find(sets.begin(), sets.end(), nullptr) != sets.end()) return common;
  std::stable_sort(sets.begin(), sets.end(),
                   [](const Set* a, const Set* b) { return a->size() < b->size(); });
  for (size_t i = 0; i < sets[0]->size(); ++i) {
    std::string member = sets[0]->At(i);
    const bool in_all = std::all_of(sets.begin() + 1, sets.end(),
                                    [&](const Set* set) { return set->Contains(member); });
    if (!in_all) continue;
    common.push_back(std::move(member));
    if (common.size() == limit) break;
  }
  return common;
}

std::vector<std::string> Subtract(const std::vector<const Set*>& sets) {
  std::vector<std::string> rest;
  if (sets[0] == nullptr) return rest;
  for (size_t i = 0; i < sets[0]->size(); ++i) {
    std::string member = sets[0]->At(i);
    const bool elsewhere = std::any_of(sets.begin() + 1, sets.end(), [&](const Set* set) {
      return set != nullptr && set->Contains(member);
    });
    if (!elsewhere) rest.push_back(std::move(member));
  }
  return rest;
}

std::vector<std::string> Unite(const std::vector<const Set*>& sets, const EncodingLimits& limits) {
  Set all;
  for (const Set* set : sets) {
    if (set != nullptr) set->ForEach([&](std::string_view member) { all.Add(member, limits); });
  }
  std::vector<std::string> members;
  members.reserve(all.size());
  all.ForEach([&](std::string_view member) { members.emplace_back(member); });
  return members;
}

enum class Operation { kInter, kUnion, kDiff };

struct OperationRow {
  Operation operation;
  std::string_view store_event;
};
constexpr OperationRow kInter{Operation::kInter, "sinterstore"};
constexpr OperationRow kUnion{Operation::kUnion, "sunionstore"};
constexpr OperationRow kDiff{Operation::kDiff, "sdiffstore"};

std::vector<std::string> Combine(CommandContext& context, Operation operation,
                                 const std::vector<const Set*>& sets) {
  switch (operation) {
    case Operation::kInter:
      return Intersect(sets, 0);
    case Operation::kUnion:
      return Unite(sets, context.limits());
    case Operation::kDiff:
      return Subtract(sets);
  }
  return {};
}

Reply CombineReply(CommandContext& context, const OperationRow& row, Arguments keys) {
  const Operands operands = FindSets(context, keys);
  if (operands.wrong_type) return WrongType();
  std::vector<std::string> combined = Combine(context, row.operation, operands.sets);
  ReplyArray members(context, Reply::Shape::kSet, combined.size());
  for (std::string& member : combined) members.Add(Reply::Bulk(std::move(member)));
  return std::move(members).Finish();
}

Reply CombineAndStore(CommandContext& context, const OperationRow& row, Arguments arguments) {
  const std::string_view target = arguments[0];
  const Operands operands = FindSets(context, arguments.subspan(1));
  if (operands.wrong_type) return WrongType();
  const std::vector<std::string> members = Combine(context, row.operation, operands.sets);
  if (members.empty()) {
    if (context.Remove(target)) context.Changed(target, EventClass::kGeneric, "del");
    return Reply::Integer(0);
  }
  Set result;
  for (const std::string& member : members) result.Add(member, context.limits());
  context.Put(target, Value::Of(std::move(result)));
  context.Changed(target, EventClass::kSet, row.store_event);
  return CountReply(members.size());
}

// The removal of the members that were drawn.
void PropagatePopped(const CommandContext& context, std::string_view key,
                     const std::vector<std::string>& members, bool took_all) {
  if (!context.propagates()) return;
  if (took_all) return context.PropagateAs("DEL", key);
  for (const std::string& member : members) context.PropagateAlso("SREM", key, member);
  context.PropagateOnlyOthers();
}

Reply PopOne(CommandContext& context, std::string_view key, Set& set) {
  const size_t position = PickPosition(context.rng(), set.size());
  Reply member = Reply::Bulk(set.At(position));
  set.RemoveAt(position);
  context.PropagateAs("SREM", key, member.text());
  context.Changed(key, EventClass::kSet, "spop");
  context.RemoveIfEmpty(key, set);
  return member;
}

Reply PopMany(CommandContext& context, std::string_view key, Set& set, size_t count) {
  std::vector<Reply> popped;
  std::vector<std::string> members;
  for (const size_t position : PickPositions(context.rng(), set.size(), count)) {
    members.push_back(set.At(position));
  }
  for (const std::string& member : members) {
    set.Remove(member);
    popped.push_back(Reply::Bulk(member));
  }
  PropagatePopped(context, key, members, /*took_all=*/set.empty());
  // Redis moves the remaining members to a new set if they are fewer than the popped ones; its
  // encoding is chosen anew.
  if (!set.empty() && set.size() * 5 <= count) set.Rebuild(context.limits());
  context.Changed(key, EventClass::kSet, "spop");
  context.RemoveIfEmpty(key, set);
  return Reply::Set(std::move(popped));
}

}  // namespace

Reply HandleSAdd(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Lookup<Set> set = context.FindOrAdd<Set>(key);
  if (set.wrong_type()) return WrongType();
  int64_t added = 0;
  for (const std::string_view member : arguments.subspan(1)) {
    added += set->Add(member, context.limits());
  }
  if (added > 0) context.Changed(key, EventClass::kSet, "sadd");
  return Reply::Integer(added);
}

Reply HandleSRem(CommandContext& context, Arguments arguments) {
  const std::string_view key = arguments[0];
  const Lookup<Set> set = context.Find<Set>(key);
  if (set.wrong_type()) return WrongType();
  if (!set) return Reply::Integer(0);
  int64_t removed = 0;
  for (const std::string_view member : arguments.subspan(1)) removed += set->Remove(member);
  if (removed == 0) return Reply::Integer(0);
  context.Changed(key, EventClass::kSet, "srem");
  context.RemoveIfEmpty(key, *set);
  return Reply::Integer(removed);
}

Reply HandleSMove(CommandContext& context, Arguments arguments) {
  const auto [from, to, member] = std::tuple(arguments[0], arguments[1], arguments[2]);
  const Lookup<Set> source = context.Find<Set>(from);
  if (!source && !source.wrong_type()) return Reply::Integer(0);
  if (source.wrong_type() || context.Find<Set>(to).wrong_type()) return WrongType();
  if (from == to) return Reply::Integer(source->Contains(member) ? 1 : 0);
  if (!source->Remove(member)) return Reply::Integer(0);
  context.Changed(from, EventClass::kSet, "srem");
  context.RemoveIfEmpty(from, *source);
  const bool added = context.FindOrAdd<Set>(to)->Add(member, context.limits());
  if (added) context.Changed(to, EventClass::kSet, "sadd");
  return Reply::Integer(1);
}

Reply HandleSIsMember(CommandContext& context, Arguments arguments) {
  const Lookup<Set> set = context.Find<Set>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  return Reply::Integer(set && set->Contains(arguments[1]) ? 1 : 0);
}

Reply HandleSMIsMember(CommandContext& context, Arguments arguments) {
  const Lookup<Set> set = context.Find<Set>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  std::vector<Reply> answers;
  for (const std::string_view member : arguments.subspan(1)) {
    answers.push_back(Reply::Integer(set && set->Contains(member) ? 1 : 0));
  }
  return Reply::Array(std::move(answers));
}

Reply HandleSCard(CommandContext& context, Arguments arguments) {
  const Lookup<Set> set = context.Find<Set>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  return CountReply(set ? set->size() : 0);
}

Reply HandleSPop(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 2) return SyntaxError();
  const bool with_count = arguments.size() == 2;
  int64_t count = 1;
  if (with_count) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[1]);
    if (!given || *given < 0) {
      return Reply::Error(error_text::kMustBePositive);
    }
    count = *given;
  }
  const Lookup<Set> set = context.Find<Set>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set) return with_count ? Reply::Set({}) : Reply::Nil();
  if (count == 0) return Reply::Set({});
  if (!with_count) return PopOne(context, arguments[0], *set);
  return PopMany(context, arguments[0], *set, static_cast<size_t>(count));
}

Reply HandleSRandMember(CommandContext& context, Arguments arguments) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (arguments.size() > 2) return SyntaxError();
  const bool with_count = arguments.size() == 2;
  int64_t count = 1;
  if (with_count) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[1]);
    if (!given) return Reply::Error(error_text::kNotAnInteger);
    if (*given < -kMax) return Reply::Error(OutOfRangeText(-kMax, kMax));
    count = *given;
  }
  const Lookup<Set> set = context.Find<Set>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set) return with_count ? Reply::EmptyArray() : Reply::Nil();
  if (!with_count) return Reply::Bulk(set->At(PickPosition(context.rng(), set->size())));
  if (std::optional<Reply> refusal = RefuseAbsurdCount(count, context.session().reply_sink())) {
    return *std::move(refusal);
  }
  ReplyArray picks(context, Reply::Shape::kPlain, PickCount(set->size(), count));
  VisitPositions(context.rng(), set->size(), count, [&](size_t position) {
    picks.Add(Reply::Bulk(set->At(position)));
    return picks.wanted();
  });
  return std::move(picks).Finish();
}

Reply HandleSMembers(CommandContext& context, Arguments arguments) {
  return CombineReply(context, kInter, arguments);
}

Reply HandleSInter(CommandContext& context, Arguments arguments) {
  return CombineReply(context, kInter, arguments);
}

Reply HandleSUnion(CommandContext& context, Arguments arguments) {
  return CombineReply(context, kUnion, arguments);
}

Reply HandleSDiff(CommandContext& context, Arguments arguments) {
  return CombineReply(context, kDiff, arguments);
}

Reply HandleSInterStore(CommandContext& context, Arguments arguments) {
  return CombineAndStore(context, kInter, arguments);
}

Reply HandleSUnionStore(CommandContext& context, Arguments arguments) {
  return CombineAndStore(context, kUnion, arguments);
}

Reply HandleSDiffStore(CommandContext& context, Arguments arguments) {
  return CombineAndStore(context, kDiff, arguments);
}

Reply HandleSInterCard(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> key_count = base::ParseInt64(arguments[0]);
  if (!key_count || *key_count < 1) return Reply::Error(error_text::kNumKeysTooSmall);
  if (static_cast<uint64_t>(*key_count) > arguments.size() - 1) {
    return Reply::Error("ERR Number of keys can't be greater than number of args");
  }
  int64_t limit = 0;
  const Arguments options = arguments.subspan(1 + *key_count);
  for (size_t i = 0; i < options.size(); i += 2) {
    if (!IsWord(options[i], "LIMIT") || i + 1 >= options.size()) return SyntaxError();
    const std::optional<int64_t> given = base::ParseInt64(options[i + 1]);
    if (!given || *given < 0) return Reply::Error("ERR LIMIT can't be negative");
    limit = *given;
  }
  const Operands operands = FindSets(context, arguments.subspan(1, *key_count));
  if (operands.wrong_type) return WrongType();
  return CountReply(Intersect(operands.sets, static_cast<size_t>(limit)).size());
}

Reply HandleSScan(CommandContext& context, Arguments arguments) {
  ScanOptions options;
  if (std::optional<Reply> error = ReadCursor(context, arguments[1], options.cursor)) return *error;
  const Lookup<Set> set = context.Find<Set>(arguments[0]);
  if (set.wrong_type()) return WrongType();
  if (!set) return ScanReply(0, {});
  if (std::optional<Reply> error = ReadScanOptions(context, arguments.subspan(2), false, options)) {
    return *error;
  }
  std::vector<Reply> page;
  const uint64_t next = set->Scan(options.cursor, options.count, [&](std::string_view member) {
    if (options.Matches(member)) page.push_back(Reply::Bulk(member));
  });
  return ScanReply(next, std::move(page));
}

}  // namespace redouble::inline v0_1::memory
