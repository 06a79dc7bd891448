#include "redouble/sim/world/servers/replication_group.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "redouble/backends/memory/append_only/effect_runner.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/server/replication.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::sim {

using memory::EngineCore;
using memory::SessionCore;

// A server of the group, and what its engine learns about the others.
class ReplicationGroup::Member final : public memory::Replication {
 public:
  Member(ReplicationGroup& group, WorldServer& server) : group_(group), server_(server) {
    server_.engine().core().administration().set_replication(this);
  }
  ~Member() override {
    runner_.reset();
    server_.engine().core().administration().set_replication(nullptr);
  }

  WorldServer& server() const { return server_; }
  EngineCore& core() const { return server_.engine().core(); }
  bool is_master() const { return group_.master_ == this; }
  int64_t offset() const { return is_master() ? group_.EndOffset() : offset_; }
  void set_offset(int64_t offset) { offset_ = offset; }

  // Obeys the master from now on.
  void Follow() {
    runner_ =
        std::make_unique<memory::EffectRunner>(server_.engine(), EngineCore::Authority::kMaster);
  }
  // Decides for itself again.
  void StopFollowing() { runner_.reset(); }
  // Begins with database 0 again, as a new stream does.
  void SelectFirstDatabase() { runner_->SelectFirstDatabase(); }
  void Run(std::string_view commands) {
    store::ForEachCommand(commands, [this](const std::vector<std::string_view>& words) {
      const store::Reply reply = runner_->Run(words);
      assert(!reply.is_error());
      (void)reply;
    });
  }

  memory::ReplicationFigures figures() const override;
  Peer PeerOf(const SessionCore& session) const override {
    return runner_ != nullptr && &runner_->session() == &session ? Peer::kMaster : Peer::kClient;
  }
  bool link_is_down() const override { return false; }
  int64_t good_replicas() const override {
    return is_master() ? static_cast<int64_t>(group_.members_.size()) - 1 : 0;
  }
  int64_t OffsetOf(const SessionCore& session) const override {
    const auto found = group_.session_offsets_.find(session.id());
    return found == group_.session_offsets_.end() ? 0 : found->second;
  }
  int64_t Acknowledged(int64_t offset) const override { return group_.Acknowledged(offset); }
  void Wait(SessionCore& session, int64_t replicas, int64_t offset) override {
    group_.waits_.Add(session, replicas, offset);
  }

 private:
  ReplicationGroup& group_;
  WorldServer& server_;
  std::unique_ptr<memory::EffectRunner> runner_;  // Null for the master.
  int64_t offset_ = 0;                            // What a replica has applied.
};

memory::ReplicationFigures ReplicationGroup::Member::figures() const {
  memory::ReplicationFigures figures;
  figures.offset = offset();
  figures.has_backlog = true;
  figures.backlog_offset = group_.begin_ + 1;
  figures.backlog_length = group_.EndOffset() - group_.begin_;
  if (!is_master()) {
    figures.master = memory::MasterFigures{.host = group_.master_->server().name(),
                                           .link = memory::MasterFigures::Link::kConnected,
                                           .read_offset = offset_,
                                           .offset = offset_,
                                           .silent_s = 0};
    return figures;
  }
  for (const std::unique_ptr<Member>& member : group_.members_) {
    if (member.get() == this) continue;
    figures.replicas.push_back({.address = member->server().name(),
                                .state = memory::ReplicaFigures::State::kOnline,
                                .offset = member->offset()});
  }
  return figures;
}

ReplicationGroup::ReplicationGroup(WorldServer& master) {
  Lead(*members_.emplace_back(std::make_unique<Member>(*this, master)));
}

ReplicationGroup::~ReplicationGroup() { master_->server().engine().RemoveEffectSink(*this); }

void ReplicationGroup::Add(WorldServer& replica) {
  assert(!Has(replica));
  Member& member = *members_.emplace_back(std::make_unique<Member>(*this, replica));
  member.Follow();
  CopyKeys(member);
}

WorldServer& ReplicationGroup::master() { return master_->server(); }

ReplicationGroup::Member* ReplicationGroup::Find(const WorldServer& server) const {
  const auto found = std::find_if(
      members_.begin(), members_.end(),
      [&](const std::unique_ptr<Member>& member) { return &member->server() == &server; });
  return found == members_.end() ? nullptr : found->get();
}

std::deque<ReplicationGroup::Unit>::const_iterator ReplicationGroup::UnitAfter(
    int64_t offset) const {
  return std::upper_bound(units_.begin(), units_.end(), offset,
                          [](int64_t value, const Unit& unit) { return value < unit.end; });
}

size_t ReplicationGroup::Lag(const WorldServer& server) const {
  const Member* member = Find(server);
  if (member == nullptr) return 0;
  return static_cast<size_t>(units_.end() - UnitAfter(member->offset()));
}

void ReplicationGroup::Apply(const WorldServer& replica) {
  assert(Lag(replica) > 0);
  Member& member = *Find(replica);
  // A command of the unit may let an actor continue, whose commands add to the stream.
  const Unit unit = *UnitAfter(member.offset());
  member.Run(unit.bytes);
  member.set_offset(unit.end);
  ForgetApplied();
  EngineCore& master = master_->core();
  waits_.Serve(master, [this](int64_t offset) { return Acknowledged(offset); });
  master.DeliverPending();
}

void ReplicationGroup::Promote(const WorldServer& replica) {
  Member& next = *Find(replica);
  if (&next == master_) return;
  const int64_t offset = next.offset();
  master_->server().engine().RemoveEffectSink(*this);
  Member& former = *master_;
  former.set_offset(EndOffset());
  units_.erase(UnitAfter(offset), units_.end());
  waits_ = {};
  session_offsets_.clear();
  writer_.ForgetDatabase();
  next.StopFollowing();
  Lead(next);
  former.Follow();
  for (const std::unique_ptr<Member>& member : members_) {
    if (member->is_master()) continue;
    if (member->offset() > offset) CopyKeys(*member);
  }
  ForgetApplied();
}

void ReplicationGroup::Lead(Member& member) {
  master_ = &member;
  member.server().engine().AddEffectSink(*this, memory::EffectTargets::kReplicas);
}

// As a full synchronization does.
void ReplicationGroup::CopyKeys(Member& to) {
  memory::StringSink file;
  const absl::Status saved = memory::SaveRdb(master_->server().engine(), file);
  memory::StringSource source(file.bytes());
  const auto loaded =
      memory::LoadRdb(to.server().engine(), source,
                      {.time_policy = memory::RdbLoadOptions::TimePolicy::kKeepExpired});
  assert(saved.ok() && loaded.ok());
  (void)saved;
  (void)loaded;
  to.SelectFirstDatabase();
  writer_.ForgetDatabase();
  to.set_offset(EndOffset());
}

void ReplicationGroup::ForgetApplied() {
  int64_t applied = EndOffset();
  for (const std::unique_ptr<Member>& member : members_) {
    applied = std::min(applied, member->offset());
  }
  units_.erase(units_.begin(), UnitAfter(applied));
  begin_ = applied;
}

int64_t ReplicationGroup::Acknowledged(int64_t offset) const {
  return std::count_if(members_.begin(), members_.end(),
                       [&](const std::unique_ptr<Member>& member) {
                         return !member->is_master() && member->offset() >= offset;
                       });
}

void ReplicationGroup::OnEffects(std::span<const memory::Effect> effects, bool is_atomic) {
  std::string bytes;
  writer_.Append(effects, is_atomic, bytes);
  if (bytes.empty()) return;
  const int64_t end = EndOffset() + static_cast<int64_t>(bytes.size());
  units_.push_back({.bytes = std::move(bytes), .end = end});
  if (running_) NoteOffset(*running_);
  if (listener_) listener_();
}

}  // namespace redouble::inline v0_1::sim
