// RowOf: the row of the command table for a command with its subcommand.
//
// Command::id() is the id of the first word: XINFO for XINFO STREAM. Use RowOf where the subcommand
// decides, for instance whether a command only reads.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_CORE_STORE_COMMAND_ROW_H_
#define REDOUBLE_CORE_STORE_COMMAND_ROW_H_

#include "redouble/core/store/command.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::store {

// Returns the id of the subcommand if the command has one that the table knows, and the command's
// own id otherwise; kUnknown if the table does not have the command.
inline CommandId RowOf(const Command& command) {
  const CommandId id = command.id();
  if (!IsContainer(id) || command.arguments().empty()) return id;
  const CommandId row = FindSubcommand(id, command.arguments()[0]);
  return row == CommandId::kUnknown ? id : row;
}

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_COMMAND_ROW_H_
