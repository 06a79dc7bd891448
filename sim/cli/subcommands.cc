#include <array>

#include "sim/cli/explore.h"
#include "sim/cli/inspect.h"
#include "sim/cli/keys.h"
#include "sim/cli/replay.h"
#include "sim/cli/serve.h"
#include "sim/cli/subcommand.h"
#include "sim/cli/trace.h"

namespace redouble::sim {
namespace {

constexpr std::array kSubcommands = {
    Subcommand{"replay", "Replay scenario files and check what comes of them", AddReplay},
    Subcommand{"explore", "Find and shrink schedules that break a world's invariants", AddExplore},
    Subcommand{"serve", "Serve the engine to clients in any language, its clock held or not",
               AddServe},
    Subcommand{"trace", "Compare the traces of two runs", AddTrace},
    Subcommand{"inspect", "Count a database's keys by family, and list what cannot be right",
               AddInspect},
    Subcommand{"keys", "Print the inventory of the key families of each system", AddKeys},
};

}  // namespace

std::span<const Subcommand> Subcommands() { return kSubcommands; }

}  // namespace redouble::sim
