// FaultsPage: the fault table as a page of the documentation.
//
// The page is generated, so that it lists exactly the faults of sim/fault/fault.h: their names,
// effects and parameters, and where each can be injected.
//
//   std::string page = FaultsPage();  // "# Faults\n..."
//
// Thread-safety: a free function on constant data.
#ifndef REDOUBLE_SIM_FAULT_FAULT_PAGE_H_
#define REDOUBLE_SIM_FAULT_FAULT_PAGE_H_

#include <string>

namespace redouble::inline v0_1::sim {

// Returns the page as Markdown.
std::string FaultsPage();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_FAULT_FAULT_PAGE_H_
