// What COMMAND DOCS says of a command beyond its details (core/store/command_details.h): arguments,
// history, and what has taken its place; and the notes of COMMAND INFO.
//
// The texts are Redis's own, recorded (command_documents.inc); nothing that runs a command needs
// them, so they are read when somebody asks.
//
// Thread-safety: free functions on constant data.
// Source: Redis 7.0 COMMAND DOCS, COMMAND INFO.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_COMMAND_DOCUMENTS_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_COMMAND_DOCUMENTS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/store/reply.h"

namespace redouble::memory {

// Appends names and values in turn, in Redis's order, to the map that describes the command;
// nothing when there is no more to say. A subcommand is named with its container: "xgroup|create".
void AppendDocument(std::string_view command, std::vector<store::Reply>& out);

// What COMMAND INFO says for people of one of the command's key specs, counted from 0; empty for
// most.
std::string_view KeyNote(std::string_view command, size_t key);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_COMMAND_DOCUMENTS_H_
