// Writes commands as RESP, the bytes that a client sends to Redis.
//
// Use it to send commands of the waist over a connection. All commands are appended to one buffer,
// so that a write of many commands allocates once; hiredis's redisFormatCommandArgv allocates a
// buffer for each command and needs two arrays (bench/command_writer_bench.cc compares them).
//
//   std::string out;
//   AppendCommand(command, out);  // *2\r\n$3\r\nGET\r\n$3\r\nkey\r\n
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_STORE_RESP_COMMAND_WRITER_H_
#define REDOUBLE_CORE_STORE_RESP_COMMAND_WRITER_H_

#include <string>

#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

// Appends one command to `out`. Arguments may hold any bytes. O(bytes).
void AppendCommand(const Command& command, std::string& out);

// Appends all commands of `request`; those of a transaction between MULTI and EXEC.
void AppendRequest(const Request& request, std::string& out);

// Returns how many replies Redis sends to the bytes that AppendRequest wrote: one per command, and
// two more for a transaction's MULTI and EXEC.
size_t ReplyCount(const Request& request);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_RESP_COMMAND_WRITER_H_
