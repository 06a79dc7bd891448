// Repeats the violation that is recorded in a world file.
//
//   const WorldReplay replay = ReplayWorld(world, [&](std::string_view event) { Print(event); });
//   if (replay.comparison != "as recorded") Report(replay.comparison);
//
// The listener receives each event of the trace as a line of JSON.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_REPLAY_REPLAY_WORLD_H_
#define REDOUBLE_SIM_CLI_REPLAY_REPLAY_WORLD_H_

#include <functional>
#include <string>
#include <string_view>

#include "redouble/sim/explore/explore.h"
#include "redouble/sim/world_file/world_file.h"

namespace redouble::inline v0_1::sim {

struct WorldReplay {
  RunOutcome outcome;
  // "as recorded", or what differs from the record.
  std::string comparison;
};

// Runs the world with the seed and decisions of its violation, which must be present. Always on the
// memory engine, also if scenarios are replayed on another backend.
WorldReplay ReplayWorld(const WorldFile& world,
                        std::function<void(std::string_view)> trace_listener);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_REPLAY_REPLAY_WORLD_H_
