// FillProcessFigures and MakeRunId: what INFO says of this process.
//
// The server calls FillProcessFigures when a client asks for INFO; the memory engine itself never
// reads the operating system. The values are from /proc and getrusage.
//
// Thread-safety: free functions without state.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_PROCESS_FIGURES_H_
#define REDOUBLE_SIM_SERVER_PROCESS_PROCESS_FIGURES_H_

#include <string>

#include "redouble/backends/memory/server/host.h"

namespace redouble::inline v0_1::sim {

// Sets the process id, executable, memory and processor time, and leaves the other members
// unchanged. A value that cannot be read is 0.
void FillProcessFigures(memory::ProcessFigures& figures);

// Returns 40 random hexadecimal digits, which identify this run of the server.
std::string MakeRunId();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_PROCESS_FIGURES_H_
