// The list commands. The blocking ones are in blocking_lists.cc.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/lists/list_moves.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply SizeReply(size_t size) { return Reply::Integer(static_cast<int64_t>(size)); }

// Converts the list if it is a listpack that has no room for the elements.
void PrepareToAdd(const CommandContext& context, List& list, Arguments elements) {
  if (!list.is_packed()) return;
  size_t bytes = 0;
  for (const std::string_view element : elements) bytes += element.size();
  list.PrepareToAdd(elements.size(), bytes, context.limits());
}

Reply PushGeneric(CommandContext& context, Arguments arguments, List::End end,
                  bool only_if_exists) {
  const std::string_view key = arguments[0];
  const Lookup<List> list = only_if_exists ? context.Find<List>(key) : context.FindOrAdd<List>(key);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::Integer(0);
  if (list->empty()) list->Configure(context.limits());
  const Arguments elements = arguments.subspan(1);
  PrepareToAdd(context, *list, elements);
  for (const std::string_view element : elements) list->Push(end, element);
  context.Changed(key, EventClass::kList, PushEvent(end));
  return SizeReply(list->size());
}

// The bytes that PrepareToAdd counts for the element at that end, which will be moved. Redis takes
// an integer out of a quicklist as a number and counts 0.
size_t CountedBytes(const List& list, List::End end) {
  const ListpackValue value = (end == List::End::kFront ? list.First() : list.Last()).value();
  if (value.is_integer() && !list.is_packed()) return 0;
  base::Int64Buffer buffer;
  return value.View(buffer).size();
}

// After elements were removed.
void FinishRemoval(CommandContext& context, std::string_view key, List& list) {
  list.PackIfSmall(context.limits());
  context.RemoveIfEmpty(key, list);
}

Reply PopGeneric(CommandContext& context, std::string_view command, Arguments arguments,
                 List::End end) {
  if (arguments.size() > 2) {
    return WrongArity(command);
  }
  const bool with_count = arguments.size() == 2;
  size_t count = 1;
  if (with_count) {
    const std::optional<int64_t> given = base::ParseInt64(arguments[1]);
    if (!given || *given < 0) return Reply::Error(error_text::kMustBePositive);
    count = static_cast<size_t>(*given);
  }
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  if (!list) return with_count ? Reply::NilArray() : Reply::Nil();
  if (with_count && count == 0) return Reply::EmptyArray();
  if (!with_count) return PopElement(context, arguments[0], *list, end);
  return Reply::Array(PopElements(context, arguments[0], *list, end, count));
}

// The position of an index as in LINDEX; nullopt if it is out of range.
std::optional<size_t> IndexIn(const List& list, int64_t index) {
  const auto size = static_cast<int64_t>(list.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  return static_cast<size_t>(index);
}

struct LPosOptions {
  int64_t rank = 1;
  std::optional<int64_t> count;
  int64_t max_length = 0;  // 0: the whole list.
};

// Returns an error reply, or nil if `options` is filled.
Reply ReadLPosOptions(const CommandContext& context, Arguments arguments, LPosOptions& options) {
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 >= arguments.size()) return SyntaxError();
    const std::optional<int64_t> number = base::ParseInt64(arguments[i + 1]);
    if (IsWord(arguments[i], "RANK")) {
      if (!number) return Reply::Error(error_text::kNotAnInteger);
      if (*number == 0) {
        return Reply::Error(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... "
            "or use negative to start from the end of the list");
      }
      constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
      if (*number < -kHighest && context.engine().Has(Feature::kLowestRank)) {
        return Reply::Error(OutOfRangeText(-kHighest, kHighest));
      }
      options.rank = *number;
    } else if (IsWord(arguments[i], "COUNT")) {
      if (!number || *number < 0) return Reply::Error("ERR COUNT can't be negative");
      options.count = number;
    } else if (IsWord(arguments[i], "MAXLEN")) {
      if (!number || *number < 0) return Reply::Error("ERR MAXLEN can't be negative");
      options.max_length = *number;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

std::vector<Reply> FindPositions(const List& list, std::string_view element,
                                 const LPosOptions& options) {
  const bool backwards = options.rank < 0;
  const auto size = static_cast<int64_t>(list.size());
  // COUNT 0 means all matches.
  const int64_t wanted = options.count ? *options.count : 1;
  // The smallest rank has no absolute value; Redis treats it as the last match.
  const bool least = options.rank == std::numeric_limits<int64_t>::min();
  int64_t to_skip = least ? 0 : (backwards ? -options.rank : options.rank) - 1;
  std::vector<Reply> positions;
  List::Cursor cursor = backwards ? list.Last() : list.First();
  for (int64_t seen = 0; cursor.valid(); ++seen) {
    if (options.max_length != 0 && seen >= options.max_length) break;
    if (cursor.value().Equals(element) && to_skip-- <= 0) {
      positions.push_back(Reply::Integer(backwards ? size - 1 - seen : seen));
      if (wanted != 0 && static_cast<int64_t>(positions.size()) >= wanted) break;
    }
    backwards ? cursor.Previous() : cursor.Next();
  }
  return positions;
}

}  // namespace

std::string_view PushEvent(List::End end) { return end == List::End::kFront ? "lpush" : "rpush"; }

std::string_view PopEvent(List::End end) { return end == List::End::kFront ? "lpop" : "rpop"; }

std::optional<List::End> ReadEnd(std::string_view word) {
  if (IsWord(word, "LEFT")) return List::End::kFront;
  if (IsWord(word, "RIGHT")) return List::End::kBack;
  return std::nullopt;
}

std::string_view PopWord(List::End end) { return end == List::End::kFront ? "LPOP" : "RPOP"; }

Reply PopElement(CommandContext& context, std::string_view key, List& list, List::End end) {
  Reply element = Reply::Bulk(list.Pop(end));
  context.Changed(key, EventClass::kList, PopEvent(end));
  FinishRemoval(context, key, list);
  return element;
}

std::vector<Reply> PopElements(CommandContext& context, std::string_view key, List& list,
                               List::End end, size_t count) {
  std::vector<Reply> elements;
  count = std::min(count, list.size());
  elements.reserve(count);
  while (elements.size() < count) elements.push_back(Reply::Bulk(list.Pop(end)));
  context.Changed(key, EventClass::kList, PopEvent(end));
  FinishRemoval(context, key, list);
  return elements;
}

Reply MoveElement(CommandContext& context, const ListMove& move) {
  const Lookup<List> source = context.Find<List>(move.from);
  if (source.wrong_type()) return WrongType();
  if (!source) return Reply::Nil();
  const Lookup<List> known = context.Find<List>(move.to);
  if (known.wrong_type()) return WrongType();
  const bool is_new = !known;
  const size_t counted_bytes =
      context.limits().packed_lists ? CountedBytes(*source, move.from_end) : 0;
  const std::string element = source->Pop(move.from_end);
  const Lookup<List> target = context.FindOrAdd<List>(move.to);
  // A list that was popped from is not new, though it may be empty now.
  if (is_new) target->Configure(context.limits());
  target->PrepareToAdd(1, counted_bytes, context.limits());
  target->Push(move.to_end, element);
  context.Changed(move.to, EventClass::kList, PushEvent(move.to_end));
  context.Changed(move.from, EventClass::kList, PopEvent(move.from_end));
  FinishRemoval(context, move.from, *source);
  return Reply::Bulk(element);
}

Reply ReadMultiPop(Arguments arguments, MultiPop& pop) {
  const std::optional<int64_t> key_count = base::ParseInt64(arguments[0]);
  if (!key_count || *key_count < 1) return Reply::Error(error_text::kNumKeysTooSmall);
  if (static_cast<uint64_t>(*key_count) + 1 >= arguments.size()) return SyntaxError();
  pop.keys = arguments.subspan(1, *key_count);
  const std::optional<List::End> end = ReadEnd(arguments[*key_count + 1]);
  if (!end) return SyntaxError();
  pop.end = *end;
  const Arguments options = arguments.subspan(*key_count + 2);
  if (options.empty()) return Reply::Nil();
  if (options.size() == 1 || !IsWord(options[0], "COUNT")) return SyntaxError();
  const std::optional<int64_t> count = base::ParseInt64(options[1]);
  if (!count || *count < 1) return Reply::Error(error_text::kCountTooSmall);
  if (options.size() > 2) return SyntaxError();
  pop.count = static_cast<size_t>(*count);
  return Reply::Nil();
}

std::optional<Reply> PopFromFirst(CommandContext& context, const MultiPop& pop) {
  for (const std::string_view key : pop.keys) {
    const Lookup<List> list = context.Find<List>(key);
    if (list.wrong_type()) return WrongType();
    if (!list) continue;
    std::vector<Reply> elements = PopElements(context, key, *list, pop.end, pop.count);
    if (context.propagates()) {
      const auto count = static_cast<int64_t>(elements.size());
      context.PropagateAs(PopWord(pop.end), key, base::FormatInt64(count));
    }
    return Reply::Array({Reply::Bulk(key), Reply::Array(std::move(elements))});
  }
  return std::nullopt;
}

Reply HandleLPush(CommandContext& context, Arguments arguments) {
  return PushGeneric(context, arguments, List::End::kFront, false);
}

Reply HandleRPush(CommandContext& context, Arguments arguments) {
  return PushGeneric(context, arguments, List::End::kBack, false);
}

Reply HandleLPushX(CommandContext& context, Arguments arguments) {
  return PushGeneric(context, arguments, List::End::kFront, true);
}

Reply HandleRPushX(CommandContext& context, Arguments arguments) {
  return PushGeneric(context, arguments, List::End::kBack, true);
}

Reply HandleLPop(CommandContext& context, Arguments arguments) {
  return PopGeneric(context, "lpop", arguments, List::End::kFront);
}

Reply HandleRPop(CommandContext& context, Arguments arguments) {
  return PopGeneric(context, "rpop", arguments, List::End::kBack);
}

Reply HandleLLen(CommandContext& context, Arguments arguments) {
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  return SizeReply(list ? list->size() : 0);
}

Reply HandleLIndex(CommandContext& context, Arguments arguments) {
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::Nil();
  const std::optional<int64_t> index = base::ParseInt64(arguments[1]);
  if (!index) return Reply::Error(error_text::kNotAnInteger);
  const std::optional<size_t> position = IndexIn(*list, *index);
  return position ? Reply::Bulk(list->At(*position).value().ToString()) : Reply::Nil();
}

Reply HandleLSet(CommandContext& context, Arguments arguments) {
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::Error(error_text::kNoSuchKey);
  std::optional<int64_t> index = base::ParseInt64(arguments[1]);
  if (!index) return Reply::Error(error_text::kNotAnInteger);
  if (context.engine().Has(Feature::kShortIndex)) index = static_cast<int32_t>(*index);
  // Redis converts the list before it looks for the element, here and in LINSERT.
  PrepareToAdd(context, *list, arguments.subspan(2, 1));
  const std::optional<size_t> position = IndexIn(*list, *index);
  if (!position) return Reply::Error(error_text::kIndexOutOfRange);
  list->Replace(list->At(*position), arguments[2]);
  list->PackIfSmall(context.limits());
  context.Changed(arguments[0], EventClass::kList, "lset");
  return Reply::Ok();
}

Reply HandleLInsert(CommandContext& context, Arguments arguments) {
  const bool before = IsWord(arguments[1], "BEFORE");
  if (!before && !IsWord(arguments[1], "AFTER")) return SyntaxError();
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::Integer(0);
  PrepareToAdd(context, *list, arguments.subspan(3, 1));
  List::Cursor cursor = list->First();
  while (cursor.valid() && !cursor.value().Equals(arguments[2])) cursor.Next();
  if (!cursor.valid()) return Reply::Integer(-1);
  if (before) {
    list->InsertBefore(cursor, arguments[3]);
  } else {
    list->InsertAfter(cursor, arguments[3]);
  }
  context.Changed(arguments[0], EventClass::kList, "linsert");
  return SizeReply(list->size());
}

Reply HandleLRange(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> first = base::ParseInt64(arguments[1]);
  const std::optional<int64_t> last = base::ParseInt64(arguments[2]);
  if (!first || !last) return Reply::Error(error_text::kNotAnInteger);
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::EmptyArray();
  const std::optional<Range> range = ClampRange(*first, *last, list->size());
  if (!range) return Reply::EmptyArray();
  ReplyArray elements(context, Reply::Shape::kPlain, range->last - range->first + 1);
  List::Cursor cursor = list->At(range->first);
  base::Int64Buffer buffer;
  for (size_t i = range->first; i <= range->last && elements.wanted(); ++i, cursor.Next()) {
    elements.AddBulk(cursor.value().View(buffer));
  }
  return std::move(elements).Finish();
}

Reply HandleLTrim(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> first = base::ParseInt64(arguments[1]);
  const std::optional<int64_t> last = base::ParseInt64(arguments[2]);
  if (!first || !last) return Reply::Error(error_text::kNotAnInteger);
  const std::string_view key = arguments[0];
  const Lookup<List> list = context.Find<List>(key);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::Ok();
  const std::optional<Range> range = ClampRange(*first, *last, list->size());
  // An event, but nothing to propagate.
  if (range && range->last - range->first + 1 == list->size()) context.PropagateOnlyOthers();
  if (range) {
    list->Trim(range->first, range->last);
    list->PackIfSmall(context.limits());
  }
  context.Changed(key, EventClass::kList, "ltrim");
  if (!range) {
    context.Remove(key);
    context.Notify(key, EventClass::kGeneric, "del");
  }
  return Reply::Ok();
}

Reply HandleLRem(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> count = base::ParseInt64(arguments[1]);
  if (!count) return Reply::Error(error_text::kNotAnInteger);
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  if (*count < -kHighest && context.engine().Has(Feature::kLowestCount)) {
    return Reply::Error(OutOfRangeText(-kHighest, kHighest));
  }
  const std::string_view key = arguments[0];
  const Lookup<List> list = context.Find<List>(key);
  if (list.wrong_type()) return WrongType();
  if (!list) return Reply::Integer(0);
  const bool backwards = *count < 0;
  const uint64_t limit = backwards ? -static_cast<uint64_t>(*count) : *count;
  int64_t removed = 0;
  List::Cursor cursor = backwards ? list->Last() : list->First();
  while (cursor.valid() && (limit == 0 || static_cast<uint64_t>(removed) < limit)) {
    if (cursor.value().Equals(arguments[2])) {
      list->Erase(cursor, backwards);
      ++removed;
    } else {
      backwards ? cursor.Previous() : cursor.Next();
    }
  }
  if (removed == 0) return Reply::Integer(0);
  context.Changed(key, EventClass::kList, "lrem");
  FinishRemoval(context, key, *list);
  return Reply::Integer(removed);
}

Reply HandleLPos(CommandContext& context, Arguments arguments) {
  LPosOptions options;
  if (Reply error = ReadLPosOptions(context, arguments.subspan(2), options); error.is_error()) {
    return error;
  }
  const Lookup<List> list = context.Find<List>(arguments[0]);
  if (list.wrong_type()) return WrongType();
  std::vector<Reply> positions;
  if (list) positions = FindPositions(*list, arguments[1], options);
  if (options.count) return Reply::Array(std::move(positions));
  return positions.empty() ? Reply::Nil() : std::move(positions[0]);
}

Reply HandleLMove(CommandContext& context, Arguments arguments) {
  const std::optional<List::End> from_end = ReadEnd(arguments[2]);
  const std::optional<List::End> to_end = ReadEnd(arguments[3]);
  if (!from_end || !to_end) return SyntaxError();
  return MoveElement(
      context,
      {.from = arguments[0], .from_end = *from_end, .to = arguments[1], .to_end = *to_end});
}

Reply HandleRPopLPush(CommandContext& context, Arguments arguments) {
  return MoveElement(context, {.from = arguments[0],
                               .from_end = List::End::kBack,
                               .to = arguments[1],
                               .to_end = List::End::kFront});
}

Reply HandleLMPop(CommandContext& context, Arguments arguments) {
  MultiPop pop;
  if (Reply error = ReadMultiPop(arguments, pop); error.is_error()) return error;
  return PopFromFirst(context, pop).value_or(Reply::NilArray());
}

}  // namespace redouble::inline v0_1::memory
