// The texts of COMMAND DOCS: arguments, history, deprecation; and the notes of COMMAND INFO.
//
// They are the texts that the servers return: of 7.0.15 in command_documents.inc, and what later
// versions return otherwise in later_documents.inc. They complete the details of
// core/store/table/command_details.h. They are parsed when a client asks for them.
//
// Thread-safety: free functions on constant data.
// Source: Redis 7.0 COMMAND DOCS, COMMAND INFO.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_COMMAND_DOCUMENTS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_COMMAND_DOCUMENTS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

// Completes the map that describes the command: alternating names and values, in Redis's order.
// Later versions replace what it has already. A subcommand is named with its container:
// "xgroup|create".
void AppendDocument(std::string_view command, store::Version version,
                    std::vector<store::Reply>& out);

// The note of COMMAND INFO on the command's key spec with this index; empty for most.
std::string_view KeyNote(std::string_view command, size_t key, store::Version version);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SERVER_COMMAND_DOCUMENTS_H_
