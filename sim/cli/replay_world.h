// Repeats the violation that a world file keeps.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_REPLAY_WORLD_H_
#define REDOUBLE_SIM_CLI_REPLAY_WORLD_H_

#include <functional>
#include <string>
#include <string_view>

#include "sim/explore/explore.h"
#include "sim/explore/world_file.h"

namespace redouble::sim {

struct WorldReplay {
  RunOutcome outcome;
  // How the run compares with what the file keeps: "as recorded", or what is different now.
  std::string comparison;
};

// Runs the world with the seed and decisions of its violation, which it must have; on the memory
// engine, whatever backend scenarios are replayed on.
WorldReplay ReplayWorld(const WorldFile& world,
                        std::function<void(std::string_view)> trace_listener);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_REPLAY_WORLD_H_
