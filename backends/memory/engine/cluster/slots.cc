// The parts of EngineCore that concern the slots of a cluster.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/scripting/script_commands.h"
#include "redouble/backends/memory/server/removal_word.h"
#include "redouble/core/base/hash/crc.h"

namespace redouble::inline v0_1::memory {

using store::CommandId;
using store::CommandSpec;

std::optional<Reply> EngineCore::RefuseBySlots(SessionCore& session, CommandId id,
                                               Arguments arguments) {
  ClusterView::Keys keys(*cluster_);
  bool writes = false;
  const auto add = [&](CommandId added, Arguments its_arguments) {
    const CommandSpec& spec = store::SpecOf(added);
    keys.Add(spec, its_arguments, [this](std::string_view key) { return HasKey(key); });
    writes = writes || spec.Has(store::command_flag::kWrite);
  };
  if (id == CommandId::kExec) {
    // The keys of a transaction are checked once more, all together.
    for (const SessionCore::QueuedCommand& queued : session.queued()) {
      add(queued.id, queued.arguments);
    }
  } else {
    add(id, arguments);
  }
  session.set_slot(keys.slot());
  // A node runs scripts while their slot migrates if it has all their keys.
  session.set_slot_migrates(cluster_->migrates_in_scripts() &&
                            (RunsScript(id) || id == CommandId::kExec) && keys.has_all());
  if (observer_ != nullptr && keys.slot() != ClusterView::kNoSlot) {
    observer_->OnRead(AccessObserver::State::kSlots);
  }
  const ClusterView::Verdict verdict = keys.verdict(
      {.asking = session.is_asking() || id == CommandId::kRestoreAsking,
       .reads_replica = id == CommandId::kSSubscribe || (session.reads_replica() && !writes),
       .migrates = id == CommandId::kMigrate});
  if (verdict == ClusterView::Verdict::kServes) return std::nullopt;
  if (id == CommandId::kExec) {
    session.EndTransaction();
  } else {
    session.RefuseInTransaction();
  }
  return Reply::Error(cluster_->ErrorText(verdict, keys.slot()));
}

bool EngineCore::HasKey(std::string_view key) {
  const Database& db = database(0);
  const Database::Entry* entry = db.FindStored(key);
  return entry != nullptr && !db.IsExpired(*entry, clock_.NowMillis());
}

void EngineCore::ChangeCluster(absl::FunctionRef<void(ClusterView&)> change) {
  if (observer_ != nullptr) observer_->OnWrite(AccessObserver::State::kSlots);
  change(*cluster_);
  RedirectBlocked();
  if (cluster_listener_) cluster_listener_();
}

void EngineCore::RemoveKeysInSlots(const std::set<int>& slots) {
  Database& db = database(0);
  std::vector<std::string> keys;
  for (size_t i = 0; i < db.size(); ++i) {
    const std::string_view key = db.at(i).key();
    if (slots.contains(base::KeySlot(key))) keys.emplace_back(key);
  }
  for (const std::string& key : keys) {
    blocking_.MarkGone(0, key, db);
    db.Remove(key);
    NoteChange(0, key, /*by=*/0);
    if (propagation_.on()) {
      propagation_.AddRemoval(0, RemovalWord(options_, LazyFree::kServerDel), key);
    }
    if (wants(EventClass::kGeneric)) Notify(0, key, EventClass::kGeneric, "del");
  }
}

void EngineCore::RedirectBlocked() {
  std::vector<std::pair<SessionCore*, std::string>> redirected;
  for (const auto& [id, session] : administration_.sessions()) {
    if (!session->blocked()) continue;
    for (const std::string& key : session->blocked_operation().keys) {
      const int slot = base::KeySlot(key);
      if (cluster_->IsOwn(slot) || cluster_->importing().contains(slot)) continue;
      const bool has_owner = cluster_->ShardOf(slot) != ClusterView::kNobody;
      const auto verdict =
          has_owner ? ClusterView::Verdict::kMoved : ClusterView::Verdict::kNotServed;
      redirected.emplace_back(session, cluster_->ErrorText(verdict, slot));
      break;
    }
  }
  for (const auto& [session, error] : redirected) {
    EndWait(*session, Reply::Error(error), Administration::WaitEnd::kUnblocked,
            administration_.Now());
  }
}

std::optional<Reply> EngineCore::RefuseScriptCall(SessionCore& session, CommandId id,
                                                  Arguments arguments, bool one_slot) {
  if (!cluster_) return std::nullopt;
  const Reply not_local =
      Reply::Error("ERR Script attempted to access a non local key in a cluster node");
  const CommandSpec& spec = store::SpecOf(id);
  ClusterView::Keys keys(*cluster_);
  keys.Add(spec, arguments, [this](std::string_view key) { return HasKey(key); });
  if (observer_ != nullptr && keys.slot() != ClusterView::kNoSlot) {
    observer_->OnRead(AccessObserver::State::kSlots);
  }
  const bool writes = spec.Has(store::command_flag::kWrite);
  switch (keys.verdict(
      {.asking = session.is_asking(), .reads_replica = session.reads_replica() && !writes})) {
    case ClusterView::Verdict::kServes:
      break;
    case ClusterView::Verdict::kDown:
      return Reply::Error("ERR Script attempted to execute a command while the cluster is down");
    default:
      return not_local;
  }
  if (session.slot_migrates() && !keys.has_all()) return not_local;
  if (!one_slot || keys.slot() == ClusterView::kNoSlot) return std::nullopt;
  if (session.slot() == ClusterView::kNoSlot) session.set_slot(keys.slot());
  if (session.slot() == keys.slot()) return std::nullopt;
  return Reply::Error("ERR Script attempted to access keys that do not hash to the same slot");
}

}  // namespace redouble::inline v0_1::memory
