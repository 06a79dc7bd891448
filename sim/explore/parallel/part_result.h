// The result of a part of a search, as a text that one process writes and another one reads, and
// the sum of such results. For searches whose parts run in processes of their own:
//
//   const std::string text = ToText(Explore(experiment, options));  // In a child.
//   AddPart(FromText(text), sum);                                   // In the parent.
//
// Thread-safety: the functions have no state.
#ifndef REDOUBLE_SIM_EXPLORE_PARALLEL_PART_RESULT_H_
#define REDOUBLE_SIM_EXPLORE_PARALLEL_PART_RESULT_H_

#include <string>
#include <string_view>

#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {

// A violation is its seed and its decisions: its run can be repeated.
std::string ToText(const Exploration& exploration);
Exploration FromText(std::string_view text);

// Returns true if the time of the search is over: parts that begin now do nothing.
bool IsOver(const ExploreOptions& options);
// Returns true if what further parts would find is of no use.
bool IsLast(const ExploreOptions& options, const Exploration& result);
// Adds the result of the next part, in the order of the parts.
void AddPart(Exploration part, Exploration& sum);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_PARALLEL_PART_RESULT_H_
