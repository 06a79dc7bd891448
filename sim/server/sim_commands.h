// SIM: the commands by which a client holds the time and the chance of a server whose clock is
// manual.
//
//   SIM CLOCK GET                 milliseconds since the epoch
//   SIM CLOCK SET <time>          to a moment: milliseconds, or "2026-05-09T14:03:02Z"
//   SIM CLOCK ADVANCE <duration>  by milliseconds, or "1500ms", "72h"
//   SIM CLOCK NEXT                to the next moment at which something happens; nil: none
//   SIM SEED <number>             what is left to chance is drawn from this seed from now on
//   SIM HASH                      equal for equal time, keys, values and expiries
//   SIM SNAPSHOT <name>           keeps time, chance and keys under a name
//   SIM RESTORE <name>            brings them back, the time too
//   SIM DUMP [<db>]               the keys of a database as JSON
//   SIM FAULT ...                 see faults.h
//
// SET, ADVANCE and NEXT answer the new time. What becomes due on the way happens in its order: keys
// expire, blocked calls of other connections time out and are answered.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_SIM_COMMANDS_H_
#define REDOUBLE_SIM_SERVER_SIM_COMMANDS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "backends/memory/engine.h"
#include "core/base/virtual_clock.h"
#include "core/store/reply.h"
#include "sim/server/faults.h"
#include "sim/server/snapshot.h"

namespace redouble::sim {

class SimCommands {
 public:
  // The engine is on the clock; both outlive this.
  SimCommands(memory::Engine& engine, base::VirtualClock& clock) : engine_(engine), clock_(clock) {}

  // Runs what follows the word SIM. Must not be called from inside a command of the engine.
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

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_SIM_COMMANDS_H_
