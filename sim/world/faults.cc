// How a world injects each fault of the table.

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/world/servers/cluster_bus.h"
#include "redouble/sim/world/servers/replication_group.h"
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

WorldServer* World::ServerHitBy(const FaultRule& rule) {
  if (rule.fault != Fault::kPromote) return &main();
  const WorldServer* replica = FindServer(rule.server);
  ReplicationGroup* group = replica == nullptr ? nullptr : GroupOf(*replica);
  if (group == nullptr) {
    ReportMistake(absl::InvalidArgumentError(
        absl::StrCat("the fault promote: no server \"", rule.server, "\" has, or is, a replica")));
    return nullptr;
  }
  return &group->master() == replica ? nullptr : &group->master();
}

void World::InjectIntoServer(const FaultRule& rule, WorldConnection& connection) {
  WorldServer* const hit = ServerHitBy(rule);
  if (hit == nullptr) return connection.Release();
  const bool breaks = SpecOf(rule.fault).breaks_connections;
  const bool is_cut = breaks && &connection.Target() == hit;
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
    case Fault::kPromote:
      Promote(*FindServer(rule.server));
      break;
    default:
      assert(false);
  }
  // The request whose turn it is had been sent.
  if (is_cut) {
    connection.Answer(store::OutcomeUnknownError("the server went away"));
  } else {
    connection.Release();
  }
  if (breaks) BreakConnections(*hit);
}

void World::Promote(const WorldServer& replica) {
  // A copy of keys cannot be observed, and the turn concerns all keys.
  Observe(nullptr);
  ReplicationGroup& group = *GroupOf(replica);
  const WorldServer& former = group.master();
  group.Promote(replica);
  if (cluster_ != nullptr) cluster_->TakeOver(replica, former);
  if (observes_) Observe(&turn_footprint_);
}

// Requests that wait for their turn have not been sent yet, and will be sent on new connections.
void World::BreakConnections(const WorldServer& server) {
  // A Break() may make its actor close other connections, but none opens before the next step.
  for (const std::unique_ptr<Actor>& actor : actors_) {
    std::erase_if(actor->orphans_, [&](const auto& wire) { return &wire->server() == &server; });
  }
  while (WorldConnection* open = FindOpenConnection(server)) {
    open->Break(WorldConnection::Side::kServer);
  }
}

void World::Hold(std::optional<base::VirtualClock::TimerId>& held, absl::Duration duration) {
  if (held.has_value()) clock_.Cancel(*held);
  held = clock_.ScheduleAt(absl::ToUnixMicros(clock_.Now() + duration), [&held] { held.reset(); });
}

WorldConnection* World::FindOpenConnection(const WorldServer& server) const {
  for (const std::unique_ptr<Actor>& actor : actors_) {
    for (WorldConnection* connection : actor->connections_) {
      if (connection->server() == &server) return connection;
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
