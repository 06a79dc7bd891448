#include <array>

#include "redouble/sim/cli/convert/convert.h"
#include "redouble/sim/cli/explore/explore.h"
#include "redouble/sim/cli/explore/trace.h"
#include "redouble/sim/cli/help.h"
#include "redouble/sim/cli/inspect.h"
#include "redouble/sim/cli/keys.h"
#include "redouble/sim/cli/record/record.h"
#include "redouble/sim/cli/replay/replay.h"
#include "redouble/sim/cli/serve/redis_server.h"
#include "redouble/sim/cli/serve/serve.h"
#include "redouble/sim/cli/storm/storm.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::sim {
namespace {

constexpr std::array kSubcommands = {
    Subcommand{"replay", "Replay scenario files and check what comes of them", AddReplay},
    Subcommand{"explore", "Find and shrink schedules that break a world's invariants", AddExplore},
    Subcommand{"storm", "Run a system under random faults and check what it promises", AddStorm},
    Subcommand{"serve", "Serve the engine to clients in any language, its clock held or not",
               AddServe},
    Subcommand{kRedisServer, "Serve with the arguments and the configuration of redis-server",
               AddRedisServer},
    Subcommand{"record", "Write what the clients of a Redis do as a scenario", AddRecord},
    Subcommand{"trace", "Compare the traces of two runs", AddTrace},
    Subcommand{"inspect", "Count a database's keys by family, and list what cannot be right",
               AddInspect},
    Subcommand{"convert",
               "Write the keys of an RDB file, a log, JSON or a scenario as another of these",
               AddConvert},
    Subcommand{"keys", "Print the inventory of the key families of each system", AddKeys},
    Subcommand{"help", "Explain the program or a subcommand; write the manual page", AddHelp},
    Subcommand{"completion", "Print the completion of a shell: bash, zsh or fish", AddCompletion},
};

}  // namespace

std::span<const Subcommand> Subcommands() { return kSubcommands; }

}  // namespace redouble::sim
