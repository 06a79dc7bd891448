// The handlers of all commands, one per row of core/store/command_table.inc.
//
// Each is defined in the file of its type under commands/. A row without a handler does not link.
#ifndef REDOUBLE_BACKENDS_MEMORY_HANDLERS_H_
#define REDOUBLE_BACKENDS_MEMORY_HANDLERS_H_

#include "backends/memory/command_context.h"

namespace redouble::memory {

#define REDOUBLE_COMMAND(id, ...) Reply Handle##id(CommandContext& context, Arguments arguments);
#define REDOUBLE_CONTAINER(id, ...)
#include "core/store/command_table.inc"
#undef REDOUBLE_COMMAND

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_HANDLERS_H_
