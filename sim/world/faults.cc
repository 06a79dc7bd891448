// What the rows of the table of faults do to a world.

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include "core/base/run.h"
#include "core/store/errors.h"
#include "core/store/keys.h"
#include "core/store/reply.h"
#include "sim/world/world.h"

namespace redouble::sim {

void World::Inflict(const FaultRule& rule, WorldConnection& connection) {
  const FaultSpec& spec = SpecOf(rule.fault);
  if (traced_) trace_.AddFault(spec.name, connection.actor().name());
  switch (spec.scope) {
    case FaultScope::kRequest:
      InflictOnRequest(rule, connection);
      break;
    case FaultScope::kActor:
      InflictOnActor(rule, connection);
      break;
    case FaultScope::kServer:
      InflictOnServer(rule, connection);
      break;
  }
}

void World::InflictOnRequest(const FaultRule& rule, WorldConnection& connection) {
  switch (rule.fault) {
    case Fault::kDropRequest:
      connection.Answer(store::OutcomeUnknownError("the request was lost"));
      break;
    case Fault::kDropReply:
      connection.ReleaseLosingReply();
      break;
    case Fault::kDelay:
      connection.Delay(rule.duration);
      break;
    case Fault::kDuplicate:
      connection.ReleaseTwice();
      break;
    case Fault::kErrorReply:
      connection.Answer(store::Reply::Error(rule.error));
      break;
    case Fault::kDisconnect:
      connection.Break();
      connection.Answer(store::NotSentError("the connection closed"));
      break;
    default:
      assert(false);
  }
}

void World::InflictOnActor(const FaultRule& rule, WorldConnection& connection) {
  Actor& actor = *actors_[connection.actor().index()];
  switch (rule.fault) {
    case Fault::kCrash:
      CrashFor(actor, rule.duration);
      return;
    case Fault::kSkewClock:
      actor.clock().set_skew(rule.duration);
      break;
    case Fault::kStepClock:
      actor.clock().set_skew(actor.clock().skew() + rule.duration);
      break;
    default:
      assert(false);
  }
  connection.Release();
}

void World::InflictOnServer(const FaultRule& rule, WorldConnection& connection) {
  switch (rule.fault) {
    case Fault::kFlush:
      FlushServer();
      connection.Release();
      return;
    case Fault::kEvict:
      EvictKeys(rule.count);
      connection.Release();
      return;
    case Fault::kRestart:
      FlushServer();
      break;
    case Fault::kRestartFromSnapshot:
      journal_->RestoreAt(rule.snapshot);
      break;
    case Fault::kRestartLosingTail:
      journal_->RestoreAt(clock_.Now() - rule.duration);
      break;
    case Fault::kFailover:
      journal_->RestoreBefore(rule.count);
      break;
    default:
      assert(false);
  }
  BreakConnections(connection);
}

// Who waits for its turn has not sent anything yet, and will do so on a new connection; the request
// whose turn it is was on the wire.
void World::BreakConnections(WorldConnection& connection) {
  connection.Answer(store::OutcomeUnknownError("the server went away"));
  // One that is told may close others, but nobody's turn comes meanwhile, so none opens.
  while (WorldConnection* open = FindOpenConnection()) open->Break();
}

WorldConnection* World::FindOpenConnection() const {
  for (const std::unique_ptr<Actor>& actor : actors_) {
    for (WorldConnection* connection : actor->connections_) {
      if (connection->is_open()) return connection;
    }
  }
  return nullptr;
}

void World::FlushServer() {
  if (journal_.has_value()) journal_->NoteAll();
  const std::unique_ptr<memory::Session> session = Connect();
  const absl::Status flushed = base::Run(store::FlushAll(*session));
  assert(flushed.ok());
  (void)flushed;
}

void World::EvictKeys(int64_t count) {
  const std::unique_ptr<memory::Session> session = Connect();
  for (int64_t i = 0; i < count; ++i) {
    std::vector<std::string> keys = *base::Run(store::Keys(*session, "*"));
    if (keys.empty()) return;
    // Sorted, so that the choice depends on the seed and the keys alone.
    std::sort(keys.begin(), keys.end());
    const std::string_view victim = keys[rng_.Below(keys.size())];
    (void)base::Run(store::Del(*session, std::span(&victim, 1)));
  }
}

void World::CrashFor(Actor& actor, absl::Duration downtime) {
  actor.task_.reset();
  for (WorldConnection* connection : actor.connections_) connection->Break();
  actor.crashed_ = true;
  if (downtime == absl::InfiniteDuration()) return;
  actor.restart_timer_ = clock_.ScheduleAt(absl::ToUnixMicros(clock_.Now() + downtime), [&] {
    actor.restart_timer_.reset();
    Restart(actor);
  });
}

}  // namespace redouble::sim
