// BLPOP, BRPOP, BLMOVE, BRPOPLPUSH, BLMPOP. In a transaction or a script they return at once, as
// after a timeout.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/block_timeout.h"
#include "redouble/backends/memory/commands/lists/list_moves.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"

namespace redouble::inline v0_1::memory {
namespace {

BlockedOperation WaitForList(Arguments keys, const BlockTimeout& timeout) {
  BlockedOperation operation;
  for (const std::string_view key : keys) {
    const bool named_before =
        std::find(operation.keys.begin(), operation.keys.end(), key) != operation.keys.end();
    if (!named_before) operation.keys.emplace_back(key);
  }
  operation.type = store::KeyType::kList;
  operation.deadline_ms = timeout.deadline_ms;
  return operation;
}

Reply PopOne(CommandContext& context, std::string_view key, List& list, List::End end) {
  Reply element = PopElement(context, key, list, end);
  context.PropagateAs(PopWord(end), key);
  return Reply::Array({Reply::Bulk(key), std::move(element)});
}

// Pops from the first list of the keys, as a command that is executed again does.
std::optional<Reply> PopFirst(CommandContext& context, const std::vector<std::string>& keys,
                              List::End end) {
  for (const std::string& key : keys) {
    const Lookup<List> list = context.Find<List>(key);
    if (list.wrong_type()) return WrongType();
    if (list) return PopOne(context, key, *list, end);
  }
  return std::nullopt;
}

Reply BlockingPop(CommandContext& context, Arguments arguments, List::End end) {
  BlockTimeout timeout = ReadTimeoutSeconds(context, arguments.back());
  if (timeout.error) return *std::move(timeout.error);
  const Arguments keys = arguments.first(arguments.size() - 1);
  for (const std::string_view key : keys) {
    const Lookup<List> list = context.Find<List>(key);
    if (list.wrong_type()) return WrongType();
    if (list) return PopOne(context, key, *list, end);
  }
  if (!context.may_block()) return Reply::NilArray();
  BlockedOperation operation = WaitForList(keys, timeout);
  if (context.engine().Has(Feature::kReexecution)) {
    operation.retry = [end, keys = operation.keys](CommandContext& later, std::string_view) {
      return PopFirst(later, keys, end);
    };
  } else {
    operation.retry = [end](CommandContext& later, std::string_view key) {
      return std::optional(PopOne(later, key, *later.Find<List>(key), end));
    };
  }
  return context.Block(std::move(operation));
}

// A move without the timeout. `ends`: LEFT or RIGHT, twice; none for RPOPLPUSH.
std::vector<std::string> MoveWords(const ListMove& move, Arguments ends) {
  std::vector<std::string> words = {ends.empty() ? "RPOPLPUSH" : "LMOVE", std::string(move.from),
                                    std::string(move.to)};
  words.insert(words.end(), ends.begin(), ends.end());
  return words;
}

std::string_view EndWord(List::End end) { return end == List::End::kFront ? "left" : "right"; }

// `ends` as in MoveWords, as the client wrote them.
Reply BlockingMove(CommandContext& context, const ListMove& move, Arguments ends,
                   std::string_view timeout_text) {
  BlockTimeout timeout = ReadTimeoutSeconds(context, timeout_text);
  if (timeout.error) return *std::move(timeout.error);
  const Lookup<List> source = context.Find<List>(move.from);
  if (source || source.wrong_type()) {
    if (context.propagates()) context.PropagateAs(MoveWords(move, ends));
    return MoveElement(context, move);
  }
  if (!context.may_block()) return Reply::Nil();
  BlockedOperation operation = WaitForList({&move.from, 1}, timeout);
  operation.retry = [from_end = move.from_end, to = std::string(move.to), to_end = move.to_end,
                     has_ends = !ends.empty()](CommandContext& later, std::string_view key) {
    const ListMove again{.from = key, .from_end = from_end, .to = to, .to_end = to_end};
    Reply moved = MoveElement(later, again);
    if (later.propagates() && !moved.is_error()) {
      const std::string_view words[] = {EndWord(from_end), EndWord(to_end)};
      later.PropagateAs(MoveWords(again, has_ends ? Arguments(words) : Arguments()));
    }
    return std::optional(std::move(moved));
  };
  return context.Block(std::move(operation));
}

}  // namespace

Reply HandleBLPop(CommandContext& context, Arguments arguments) {
  return BlockingPop(context, arguments, List::End::kFront);
}

Reply HandleBRPop(CommandContext& context, Arguments arguments) {
  return BlockingPop(context, arguments, List::End::kBack);
}

Reply HandleBLMove(CommandContext& context, Arguments arguments) {
  const std::optional<List::End> from_end = ReadEnd(arguments[2]);
  const std::optional<List::End> to_end = ReadEnd(arguments[3]);
  if (!from_end || !to_end) return SyntaxError();
  return BlockingMove(
      context, {.from = arguments[0], .from_end = *from_end, .to = arguments[1], .to_end = *to_end},
      arguments.subspan(2, 2), arguments[4]);
}

Reply HandleBRPopLPush(CommandContext& context, Arguments arguments) {
  return BlockingMove(context,
                      {.from = arguments[0],
                       .from_end = List::End::kBack,
                       .to = arguments[1],
                       .to_end = List::End::kFront},
                      {}, arguments[2]);
}

Reply HandleBLMPop(CommandContext& context, Arguments arguments) {
  MultiPop pop;
  if (Reply error = ReadMultiPop(arguments.subspan(1), pop); error.is_error()) return error;
  BlockTimeout timeout = ReadTimeoutSeconds(context, arguments[0]);
  if (timeout.error) return *std::move(timeout.error);
  if (std::optional<Reply> popped = PopFromFirst(context, pop)) return *std::move(popped);
  if (!context.may_block()) return Reply::NilArray();
  BlockedOperation operation = WaitForList(pop.keys, timeout);
  const bool again = context.engine().Has(Feature::kReexecution);
  operation.retry = [end = pop.end, count = pop.count, again, keys = operation.keys](
                        CommandContext& later, std::string_view key) {
    const std::vector<std::string_view> all(keys.begin(), keys.end());
    return PopFromFirst(
        later, {.keys = again ? Arguments(all) : Arguments(&key, 1), .end = end, .count = count});
  };
  return context.Block(std::move(operation));
}

}  // namespace redouble::inline v0_1::memory
