// How a world injects each fault of the table.

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

void World::Inject(const FaultRule& rule, WorldConnection& connection) {
  const FaultSpec& spec = SpecOf(rule.fault);
  if (traced_) trace_.AddFault(spec.name, connection.actor().name());
  // A fault of the server, a crash and a broken connection change more than what is observed. Where
  // all connections break, the other actors notice it by their next command, whatever it is.
  const bool is_local = spec.scope == FaultScope::kRequest && rule.fault != Fault::kDisconnect &&
                        rule.fault != Fault::kGiveUp;
  if (!is_local) turn_footprint_.OnAll();
  if (spec.breaks_connections) turn_footprint_.MarkOrdered();
  switch (spec.scope) {
    case FaultScope::kRequest:
      InjectIntoRequest(rule, connection);
      break;
    case FaultScope::kActor:
      InjectIntoActor(rule, connection);
      break;
    case FaultScope::kServer:
      InjectIntoServer(rule, connection);
      break;
  }
}

void World::InjectIntoRequest(const FaultRule& rule, WorldConnection& connection) {
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
    case Fault::kGiveUp:
      connection.Release();
      connection.Break();
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

void World::InjectIntoActor(const FaultRule& rule, WorldConnection& connection) {
  Actor& actor = *actors_[connection.actor().index()];
  switch (rule.fault) {
    case Fault::kCrash:
      CrashFor(actor, rule.duration);
      return;
    case Fault::kCrashInFlight:
      connection.Release();
      CrashFor(actor, rule.duration);
      return;
    case Fault::kPartitionRequests:
      Hold(actor.requests_held_, rule.duration);
      break;
    case Fault::kPartitionReplies:
      Hold(actor.replies_held_, rule.duration);
      break;
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

void World::InjectIntoServer(const FaultRule& rule, WorldConnection& connection) {
  switch (rule.fault) {
    case Fault::kFlush:
    case Fault::kRestart:
      FlushServer();
      break;
    case Fault::kEvict:
      EvictKeys(rule.count);
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
  if (SpecOf(rule.fault).breaks_connections) {
    BreakConnections(connection);
  } else {
    connection.Release();
  }
}

// Requests that wait for their turn have not been sent yet, and will be sent on new connections.
// The request whose turn it is had been sent.
void World::BreakConnections(WorldConnection& connection) {
  connection.Answer(store::OutcomeUnknownError("the server went away"));
  // A Break() may make its actor close other connections, but none opens before the next step.
  for (const std::unique_ptr<Actor>& actor : actors_) actor->orphans_.clear();
  while (WorldConnection* open = FindOpenConnection()) open->Break(WorldConnection::Side::kServer);
}

void World::Hold(std::optional<base::VirtualClock::TimerId>& held, absl::Duration duration) {
  if (held.has_value()) clock_.Cancel(*held);
  held = clock_.ScheduleAt(absl::ToUnixMicros(clock_.Now() + duration), [&held] { held.reset(); });
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
    std::vector<std::string> keys = base::Run(store::Keys(*session, "*")).value();
    if (keys.empty()) return;
    // Sorted: the choice must depend only on the decision and the keys.
    std::sort(keys.begin(), keys.end());
    const std::string_view victim = keys[keys.size() == 1 ? 0 : decisions_.Pick(keys.size())];
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

}  // namespace redouble::inline v0_1::sim
