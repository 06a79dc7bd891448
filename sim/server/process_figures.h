// FillProcessFigures: what the operating system reports about this process, for INFO.
//
// The server calls it when a client asks for INFO; the memory engine itself never reads the
// operating system. The values are from /proc and getrusage.
//
// Thread-safety: a free function without state.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_FIGURES_H_
#define REDOUBLE_SIM_SERVER_PROCESS_FIGURES_H_

#include "redouble/backends/memory/server/host.h"

namespace redouble::sim {

// Sets the process id, executable, memory and processor time, and leaves the other members
// unchanged. A value that cannot be read is 0.
void FillProcessFigures(memory::ProcessFigures& figures);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_FIGURES_H_
