#include <array>

#include "redouble/sim/cli/convert/convert.h"
#include "redouble/sim/cli/explore/explore.h"
#include "redouble/sim/cli/explore/trace.h"
#include "redouble/sim/cli/help.h"
#include "redouble/sim/cli/inspect.h"
#include "redouble/sim/cli/keys.h"
#include "redouble/sim/cli/migrate/migrate.h"
#include "redouble/sim/cli/record/record.h"
#include "redouble/sim/cli/replay/replay.h"
#include "redouble/sim/cli/serve/redis_server.h"
#include "redouble/sim/cli/serve/serve.h"
#include "redouble/sim/cli/storm/storm.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr std::array kSubcommands = {
    Subcommand{"replay", "Replay scenario files and check replies, keys and TTLs", AddReplay},
    Subcommand{"explore", "Find and shrink schedules that break a world's invariants", AddExplore},
    Subcommand{"storm", "Run a system under random faults and check its promises", AddStorm},
    Subcommand{"serve", "Serve the engine to clients in any language, in real or manual time",
               AddServe},
    Subcommand{kRedisServer, "Serve with the arguments and the configuration file of redis-server",
               AddRedisServer},
    Subcommand{"record", "Record the commands of the clients of a Redis as a scenario", AddRecord},
    Subcommand{"trace", "Compare the traces of two runs", AddTrace},
    Subcommand{"inspect", "Count the keys of a database by family, and list anomalies", AddInspect},
    Subcommand{"convert", "Convert keys between RDB file, append-only log, JSON and scenario",
               AddConvert},
    Subcommand{"migrate", "Copy a system's keys to a server in another key layout, and compare",
               AddMigrate},
    Subcommand{"keys", "Print the inventory of the key families of each system", AddKeys},
    Subcommand{"help", "Explain the program or a subcommand; write the manual page", AddHelp},
    Subcommand{"completion", "Print the completion of a shell: bash, zsh or fish", AddCompletion},
};

}  // namespace

std::span<const Subcommand> Subcommands() { return kSubcommands; }

}  // namespace redouble::inline v0_1::sim
