// The handlers of all commands, one for each row of core/store/table/command_table.inc.
//
// A handler is defined in the file of its data type under commands/. A row without a handler does
// not link. See command_context.h for how to write one.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_HANDLERS_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_HANDLERS_H_

#include "redouble/backends/memory/engine/command_context.h"

namespace redouble::inline v0_1::memory {

#define REDOUBLE_COMMAND(id, ...) Reply Handle##id(CommandContext& context, Arguments arguments);
#define REDOUBLE_CONTAINER(id, ...)
#include "redouble/core/store/table/command_table.inc"
#undef REDOUBLE_COMMAND

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_HANDLERS_H_
