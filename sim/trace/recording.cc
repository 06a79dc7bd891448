#include "sim/trace/recording.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "core/base/task.h"
#include "sim/explore/explore.h"
#include "sim/explore/world_experiment.h"
#include "sim/scenario/keyspace.h"
#include "sim/scenario/memory_backend.h"
#include "sim/scenario/runner.h"

namespace redouble::sim {
namespace {

// Makes a recording while a run goes on.
class Recorder {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}

  void AddEvent(std::string_view line) { recording_.events.emplace_back(line); }

  // Reads what the server holds now. A server that does not answer, because it is paused or busy
  // with a script, makes no moment.
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
      // Time that passes and changes nothing is not worth a moment.
      if (FindChanges(moments.back(), moment).empty()) return;
    }
    moments.push_back(std::move(moment));
  }

 private:
  Recording& recording_;
};

// Within a text of the line the quotes would be escaped.
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

Recording RecordWorld(const WorldFile& world, StopBehind stop_behind) {
  assert(world.violation.has_value());
  Recording recording;
  recording.title = world.name;
  for (const WorldActor& actor : world.actors) recording.actors.push_back(actor.name);
  const RecordedViolation& violation = *world.violation;
  const WorldExperiment experiment(world,
                                   {.hardened = violation.hardened, .swarm = violation.swarm});
  Recorder recorder(recording);
  const Experiment run = experiment.experiment();
  // It is asked before the world's own invariants, of which the first that is broken ends the run.
  const Experiment recorded = [&recorder, &run](World& running) {
    const auto read = [&recorder, &running] {
      const std::unique_ptr<memory::Session> session = running.Connect();
      recorder.AddMoment(*session, running.clock().NowMicros());
      return absl::OkStatus();
    };
    running.AddInvariant("recording", read);
    run(running);
    (void)read();
  };
  ExploreOptions options = experiment.Options();
  options.world.stop_behind = std::move(stop_behind);
  const RunOutcome outcome =
      Replay(recorded, options, violation.seed, violation.decisions,
             [&recorder](std::string_view line) { recorder.AddEvent(line); });
  recording.trace_hash = outcome.trace_hash;
  if (!outcome.violation.ok()) AddFailure(recording, std::string(outcome.violation.message()));
  AddActorsOfEvents(recording);
  return recording;
}

Recording RecordScenario(const Scenario& scenario, StopBehind stop_behind) {
  Recording recording;
  recording.title = scenario.name;
  MemoryBackend backend;
  Recorder recorder(recording);
  const auto read = [&recorder, &backend] {
    const absl::StatusOr<std::unique_ptr<store::Store>> connection = backend.Connect();
    if (connection.ok()) recorder.AddMoment(**connection, backend.clock().NowMicros());
  };
  // A call may send several commands in one step: each is read behind. A fault is told of before it
  // happens, so that nothing is read until its step is over.
  bool fault_under_way = false;
  RunOptions options;
  options.stop_behind = std::move(stop_behind);
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
  // An object of Json is a list, so that finding in it takes long.
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

}  // namespace redouble::sim
