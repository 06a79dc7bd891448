// Writes commands as RESP, the bytes that go to Redis.
//
// Appends to one buffer, so that all commands of a write cost no allocation of their own; hiredis's
// redisFormatCommandArgv gives each command a buffer and wants two arrays built for it (measured:
// command_writer_benchmark.cc). The bytes are the same; a test compares them.
//
//   std::string out;
//   AppendCommand(command, out);  // *2\r\n$3\r\nGET\r\n$3\r\nkey\r\n
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_PROTOCOL_COMMAND_WRITER_H_
#define REDOUBLE_BACKENDS_REDIS_PROTOCOL_COMMAND_WRITER_H_

#include <string>

#include "core/store/command.h"
#include "core/store/store.h"

namespace redouble::redis {

// Appends one command. Arguments may hold any bytes. O(bytes).
void AppendCommand(const store::Command& command, std::string& out);

// Appends what a request sends: its commands, those of a transaction between MULTI and EXEC.
void AppendRequest(const store::Request& request, std::string& out);

// How many replies Redis gives to what AppendRequest wrote.
size_t ReplyCount(const store::Request& request);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_PROTOCOL_COMMAND_WRITER_H_
