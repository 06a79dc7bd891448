// The pops and moves that list commands share with their blocking forms.
//
// LPOP, LMOVE and LMPOP run them at once; BLPOP, BLMOVE and BLMPOP also when a key becomes ready.
// Each publishes its keyspace events and removes a list that becomes empty.
//
//   MultiPop pop;
//   if (Reply error = ReadMultiPop(arguments, pop); error.is_error()) return error;
//   return PopFromFirst(context, pop).value_or(Reply::NilArray());
//
// Thread-safety: one thread.
// Source: Redis 7.0 LPOP, LMOVE, LMPOP.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_LISTS_LIST_MOVES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_LISTS_LIST_MOVES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/values/list.h"

namespace redouble::inline v0_1::memory {

// The keyspace events of a push and of a pop at that end.
std::string_view PushEvent(List::End end);
std::string_view PopEvent(List::End end);

// The command that pops at that end, as it is propagated.
std::string_view PopWord(List::End end);

// LEFT or RIGHT; nullopt for any other word.
std::optional<List::End> ReadEnd(std::string_view word);

// Pops an element of a list that has one, publishes the events, and removes the key if it is empty
// then.
Reply PopElement(CommandContext& context, std::string_view key, List& list, List::End end);
// The same for up to `count` elements.
std::vector<Reply> PopElements(CommandContext& context, std::string_view key, List& list,
                               List::End end, size_t count);

// The arguments of LMOVE, RPOPLPUSH and their blocking forms.
struct ListMove {
  std::string_view from;
  List::End from_end;
  std::string_view to;
  List::End to_end;
};
// Returns the element that was moved; nil if the source does not exist.
Reply MoveElement(CommandContext& context, const ListMove& move);

// The arguments of LMPOP and BLMPOP: `numkeys key... LEFT|RIGHT [COUNT count]`.
struct MultiPop {
  Arguments keys;
  List::End end = List::End::kFront;
  size_t count = 1;
};
// Returns an error reply, or nil if `pop` is filled.
Reply ReadMultiPop(Arguments arguments, MultiPop& pop);
// Pops from the first key that holds a list; nullopt if there is none.
std::optional<Reply> PopFromFirst(CommandContext& context, const MultiPop& pop);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_LISTS_LIST_MOVES_H_
