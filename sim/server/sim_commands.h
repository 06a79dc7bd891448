// SimCommands: the SIM command, with which clients control a server whose clock is manual.
//
// Use it from any client, in any language, to make a test deterministic: advance the clock, seed
// the random choices, save and restore the data, and inject faults.
//
//   SIM CLOCK GET                 returns milliseconds since the Unix epoch
//   SIM CLOCK SET <time>          to a time: milliseconds, or "2026-05-09T14:03:02Z"
//   SIM CLOCK ADVANCE <duration>  by milliseconds, or "1500ms", "72h"
//   SIM CLOCK NEXT                to the next expiry or timeout; returns nil if there is none
//   SIM SEED <number>             seeds all random choices from now on
//   SIM HASH                      equal for equal time, keys, values and expiries
//   SIM SNAPSHOT <name>           saves the time, the random state and the keys under a name
//   SIM RESTORE <name>            restores them, including the time
//   SIM DUMP [<db>]               returns the keys of a database as JSON
//   SIM FAULT ...                 injects faults (sim/server/faults.h)
//
// SET, ADVANCE and NEXT return the new time. Everything that becomes due on the way happens in its
// order: keys expire, and blocked commands of other connections time out.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_SIM_COMMANDS_H_
#define REDOUBLE_SIM_SERVER_SIM_COMMANDS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/server/faults.h"
#include "redouble/sim/server/snapshot.h"

namespace redouble::inline v0_1::sim {

class SimCommands {
 public:
  // The engine must use `clock`; both must outlive this object.
  SimCommands(memory::Engine& engine, base::VirtualClock& clock) : engine_(engine), clock_(clock) {}

  // Executes SIM; `arguments` are the words after SIM. Must not be called from within a command of
  // the engine.
  store::Reply Run(std::span<const std::string_view> arguments);

  Faults& faults() { return faults_; }

 private:
  using Arguments = std::span<const std::string_view>;

  store::Reply RunClock(Arguments arguments);
  store::Reply RunSeed(Arguments arguments);
  store::Reply RunSnapshot(Arguments arguments);
  store::Reply RunRestore(Arguments arguments);
  store::Reply RunDump(Arguments arguments);
  store::Reply MoveTo(absl::Time time);

  memory::Engine& engine_;
  base::VirtualClock& clock_;
  std::map<std::string, Snapshot, std::less<>> snapshots_;
  Faults faults_;
};

// The reply to SIM on a server that follows the machine's clock. SIM HELP says how to get a manual
// clock; every other subcommand returns an error that says the same.
store::Reply ReplyWithoutManualClock(std::span<const std::string_view> arguments);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_SIM_COMMANDS_H_
