// What the list commands and their blocking forms have in common.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_LIST_MOVES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_LIST_MOVES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "backends/memory/command_context.h"
#include "backends/memory/values/list.h"

namespace redouble::memory {

// The keyspace events of a push to and a pop from that end.
std::string_view PushEvent(List::End end);
std::string_view PopEvent(List::End end);

// LEFT or RIGHT; no value for any other word.
std::optional<List::End> ReadEnd(std::string_view word);

// Pops up to `count` elements, tells of it, and removes the key when nothing is left.
std::vector<Reply> PopElements(CommandContext& context, std::string_view key, List& list,
                               List::End end, size_t count);

// LMOVE and its relatives.
struct ListMove {
  std::string_view from;
  List::End from_end;
  std::string_view to;
  List::End to_end;
};
// The element that was moved; nil when there is none.
Reply MoveElement(CommandContext& context, const ListMove& move);

// What LMPOP and BLMPOP say: `numkeys key... LEFT|RIGHT [COUNT count]`.
struct MultiPop {
  Arguments keys;
  List::End end = List::End::kFront;
  size_t count = 1;
};
// An error reply, or nil and `pop` filled.
Reply ReadMultiPop(Arguments arguments, MultiPop& pop);
// Pops from the first key that has a list; no value when none has.
std::optional<Reply> PopFromFirst(CommandContext& context, const MultiPop& pop);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_LIST_MOVES_H_
