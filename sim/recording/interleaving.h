// InterleavingTable: the events of a recorded run as a text: who sent what, and what came back.
//
//     a  ["GET","count"] -> null
//     b  ["GET","count"] -> null
//     b  fault: crash
//     a  ["SET","count","1"] -> {"status":"OK"}
//
// Thread-safety: a free function.
#ifndef REDOUBLE_SIM_RECORDING_INTERLEAVING_H_
#define REDOUBLE_SIM_RECORDING_INTERLEAVING_H_

#include <string>

#include "redouble/sim/recording/recording.h"

namespace redouble::inline v0_1::sim {

// Returns one line for each event, each with a line break and indented by two spaces. Of a long
// command or reply, the line has the first 200 bytes and the size.
std::string InterleavingTable(const Recording& recording);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_RECORDING_INTERLEAVING_H_
