// ReportAccesses: reports to an AccessObserver what a command accesses by its row in the command
// table, besides the lookups and changes that the keyspace itself reports.
//
// The explorer runs two commands in one order only if their accesses do not conflict. Commands such
// as SCRIPT LOAD and PUBLISH access state that is in no key, which the keyspace cannot report.
//
// Thread-safety: a free function without state.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_COMMAND_ACCESSES_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_COMMAND_ACCESSES_H_

#include <span>
#include <string_view>

#include "redouble/backends/memory/keyspace/access_observer.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// To be called for each command of a client, a transaction or a script. `arguments` are the words
// after the command's name, the subcommand included.
void ReportAccesses(store::CommandId id, std::span<const std::string_view> arguments,
                    AccessObserver& observer);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_COMMAND_ACCESSES_H_
