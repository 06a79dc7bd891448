// What the operating system tells of this process, for INFO.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_FIGURES_H_
#define REDOUBLE_SIM_SERVER_PROCESS_FIGURES_H_

#include "backends/memory/host.h"

namespace redouble::sim {

// Process id, program, memory and processor time; the rest is left as it is. What cannot be read is
// 0.
void FillProcessFigures(memory::ProcessFigures& figures);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_FIGURES_H_
