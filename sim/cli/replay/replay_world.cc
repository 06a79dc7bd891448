#include "redouble/sim/cli/replay/replay_world.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/world_file/world_experiment.h"

namespace redouble::inline v0_1::sim {
namespace {

std::string Compare(const RecordedViolation& recorded, const RunOutcome& outcome) {
  if (outcome.violation.ok()) {
    return absl::StrCat("it does not happen any more; recorded: ", recorded.broke);
  }
  const std::string_view broke = base::ToStd(outcome.violation.message());
  if (broke != recorded.broke) return absl::StrCat("recorded was another: ", recorded.broke);
  if (outcome.trace_hash == recorded.trace_hash) return "as recorded";
  return absl::StrCat("the way there is another; recorded trace: ", recorded.trace_hash);
}

}  // namespace

WorldReplay ReplayWorld(const WorldFile& world,
                        std::function<void(std::string_view)> trace_listener) {
  assert(world.violation.has_value());
  const RecordedViolation& recorded = *world.violation;
  const WorldExperiment experiment(world, {.hardened = recorded.hardened, .swarm = recorded.swarm});
  WorldReplay replay{.outcome = Replay(experiment.experiment(), experiment.Options(), recorded.seed,
                                       recorded.decisions, std::move(trace_listener)),
                     .comparison = {}};
  replay.comparison = Compare(recorded, replay.outcome);
  return replay;
}

}  // namespace redouble::inline v0_1::sim
