#include "redouble/sim/recording/recording.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/scenario/keyspace.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/world_file/world_experiment.h"

namespace redouble::inline v0_1::sim {
namespace {

// Builds a recording during a run.
class Recorder {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}

  void AddEvent(std::string_view line) { recording_.events.emplace_back(line); }

  // Reads the keyspace. A server that does not reply, because it is paused or busy with a script,
  // adds no moment.
  void AddMoment(store::Store& store, int64_t us) {
    base::Task<absl::StatusOr<Keyspace>> task = DumpKeyspace(store);
    task.Start();
    if (!task.done()) return;
    const absl::StatusOr<Keyspace> keyspace = task.TakeResult();
    if (!keyspace.ok()) return;
    Moment moment{recording_.events.size(), us, KeyspaceToJson(*keyspace)};
    std::vector<Moment>& moments = recording_.moments;
    if (!moments.empty() && moments.back().events == moment.events) {
      if (moments.back().us == us) {
        moments.back() = std::move(moment);
        return;
      }
      // Skip clock advances that changed nothing.
      if (FindChanges(moments.back(), moment).empty()) return;
    }
    moments.push_back(std::move(moment));
  }

 private:
  Recording& recording_;
};

// Inside a JSON string the quotes would be escaped.
bool IsFault(std::string_view line) { return line.find(",\"fault\":\"") != std::string_view::npos; }

void AddActorsOfEvents(Recording& recording) {
  for (const std::string& line : recording.events) {
    const Json event = Json::parse(line);
    const auto client = event.find("client");
    if (client == event.end()) continue;
    const std::string name = client->is_string() ? client->get<std::string>() : client->dump();
    if (std::find(recording.actors.begin(), recording.actors.end(), name) ==
        recording.actors.end()) {
      recording.actors.push_back(name);
    }
  }
}

void AddFailure(Recording& recording, std::string failure) {
  recording.failure = std::move(failure);
  if (!recording.events.empty()) recording.failing_event = recording.events.size() - 1;
}

}  // namespace

const Json& Recording::KeyspaceAfter(size_t event) const {
  return MomentAfter(*this, event).keyspace;
}

const Moment& MomentAfter(const Recording& recording, size_t event) {
  assert(event < recording.events.size() && !recording.moments.empty());
  const auto found = std::find_if(recording.moments.begin(), recording.moments.end(),
                                  [event](const Moment& moment) { return moment.events > event; });
  return found == recording.moments.end() ? recording.moments.back() : *found;
}

Recording RecordExperiment(const Experiment& experiment, ExploreOptions options, uint64_t seed,
                           const std::vector<uint32_t>& decisions, StopAfter stop_after) {
  Recording recording;
  Recorder recorder(recording);
  // This invariant is checked before the world's own ones, of which the first violated one ends the
  // run.
  const Experiment recorded = [&](World& running) {
    const auto read = [&recorder, &running] {
      const std::unique_ptr<store::Store> store = running.ConnectToAll();
      recorder.AddMoment(*store, running.clock().NowMicros());
      return absl::OkStatus();
    };
    running.AddInvariant("recording", read);
    experiment(running);
    for (const std::unique_ptr<Actor>& actor : running.actors()) {
      recording.actors.push_back(actor->name());
    }
    (void)read();
  };
  options.world.stop_after = std::move(stop_after);
  const RunOutcome outcome = Replay(recorded, options, seed, decisions,
                                    [&](std::string_view line) { recorder.AddEvent(line); });
  recording.trace_hash = outcome.trace_hash;
  if (!outcome.violation.ok()) AddFailure(recording, std::string(outcome.violation.message()));
  AddActorsOfEvents(recording);
  return recording;
}

Recording RecordWorld(const WorldFile& world, StopAfter stop_after) {
  assert(world.violation.has_value());
  const RecordedViolation& violation = *world.violation;
  const WorldExperiment experiment(world,
                                   {.hardened = violation.hardened, .swarm = violation.swarm});
  Recording recording =
      RecordExperiment(experiment.experiment(), experiment.Options(), violation.seed,
                       violation.decisions, std::move(stop_after));
  recording.title = world.name;
  recording.file = world.file;
  return recording;
}

Recording RecordScenario(const Scenario& scenario, StopAfter stop_after) {
  Recording recording;
  recording.title = scenario.name;
  recording.file = scenario.file;
  MemoryBackend backend;
  Recorder recorder(recording);
  const auto read = [&recorder, &backend] {
    const absl::StatusOr<std::unique_ptr<store::Store>> connection = backend.Connect();
    if (connection.ok()) recorder.AddMoment(**connection, backend.clock().NowMicros());
  };
  // A call may send several commands in one step, and the keyspace is read after each. A fault is
  // recorded before it takes effect, so the keyspace is not read until the fault's step is over.
  bool fault_under_way = false;
  RunOptions options;
  options.stop_after = std::move(stop_after);
  options.trace_listener = [&](std::string_view line) {
    recorder.AddEvent(line);
    fault_under_way = fault_under_way || IsFault(line);
    if (!fault_under_way) read();
  };
  options.after_step = [&](int) {
    fault_under_way = false;
    read();
  };
  recording.moments.push_back(Moment{0, absl::ToUnixMicros(scenario.start), Json::object()});
  const ScenarioResult result = RunScenario(scenario, backend, options);
  recording.trace_hash = result.trace_hash;
  if (result.failure) AddFailure(recording, result.failure->ToString(scenario));
  AddActorsOfEvents(recording);
  return recording;
}

std::optional<int64_t> ExpiresAtMs(const Json& entry, int64_t us) {
  const auto ttl = entry.find("ttl_ms");
  if (ttl == entry.end()) return std::nullopt;
  constexpr int64_t kMicrosPerMilli = 1000;
  return us / kMicrosPerMilli + ttl->get<int64_t>();
}

std::vector<KeyChange> FindChanges(const Moment& before, const Moment& after) {
  // A Json object is a list, so lookups in it are slow.
  std::map<std::string, KeyChange> changes;
  for (const auto& [key, entry] : before.keyspace.items()) {
    changes.emplace(key, KeyChange{key, entry, nullptr});
  }
  for (const auto& [key, entry] : after.keyspace.items()) {
    const auto [change, is_new] = changes.emplace(key, KeyChange{key, nullptr, entry});
    if (is_new) continue;
    const Json& old = change->second.before;
    if (old["type"] == entry["type"] && old["value"] == entry["value"] &&
        ExpiresAtMs(old, before.us) == ExpiresAtMs(entry, after.us)) {
      changes.erase(change);
    } else {
      change->second.after = entry;
    }
  }
  std::vector<KeyChange> found;
  for (auto& [key, change] : changes) found.push_back(std::move(change));
  return found;
}

}  // namespace redouble::inline v0_1::sim
