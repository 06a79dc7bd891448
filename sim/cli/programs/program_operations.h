// The system "programs": one operation, which runs a program in any language.
//
// World files use it to explore programs as they are, with their own client libraries:
//
//   "system": "programs",
//   "actors": {
//     "one": [{"kind": "call", "operation": "run",
//              "arguments": {"command": ["python3", "add_one.py"]}}],
//     ...
//   }
//
// Each command that the program sends is a request of the calling actor, so the schedule decides
// when it is executed. While the program computes, the world stands still: programs run one at a
// time, and only the order of their commands varies.
//
// | argument    | meaning                                                                         |
// | ----------- | ------------------------------------------------------------------------------- |
// | command     | The program, as a shell finds it, and its arguments. It runs in the current     |
// |             | folder and finds the server in REDIS_URL, REDIS_HOST and REDIS_PORT.            |
// | environment | An object: further variables.                                                   |
// | may_fail    | A status other than 0 is a result; by default it is an error.                   |
// | patience_s  | Real seconds that the program may compute until its next command: 10.           |
//
// The result is {"exit_status": 0, "output": "..."}; the output is what the program has written to
// its standard output and standard error. A pipeline is several requests. If a fault breaks a
// connection, it is closed. Blocking commands wait in virtual time.
//
// Mistakes of the file, and not results: a program that is not there, that computes for too long,
// or that sends what is not supported: subscriptions, MONITOR, replication, CLIENT REPLY and CLIENT
// TRACKING. A program has one command under way: while a command of one connection blocks, those of
// its other connections wait.
//
// Thread-safety: as OperationTable.
#ifndef REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_OPERATIONS_H_
#define REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_OPERATIONS_H_

#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {

// The name of the system in files, and of its operation.
inline constexpr char kProgramSystem[] = "programs";
inline constexpr char kRunProgram[] = "run";

OperationTable ProgramOperations();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_OPERATIONS_H_
