#include "redouble/core/korvet/groups/coordinator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::korvet {
namespace {

using State = CoordinatedGroup::State;

absl::Status NoGroup(std::string_view name) {
  return MakeError(ErrorCode::kGroupIdNotFound,
                   absl::StrCat("nobody ever joined the group ", base::ToAbsl(name)));
}

absl::Status Rebalancing() {
  return MakeError(ErrorCode::kRebalanceInProgress, "the group is assigning partitions anew");
}

}  // namespace

Coordinator::Group* Coordinator::Find(std::string_view name) {
  const auto found = groups_.find(name);
  if (found == groups_.end()) return nullptr;
  Group& group = found->second;
  const absl::Time now = clock_.Now();
  const size_t expired = std::erase_if(group.members, [&](const auto& member) {
    return now - member.second.last_heartbeat >= options_.session_timeout;
  });
  if (expired > 0) {
    BeginRebalance(group);
    EndRebalanceIfComplete(group);
  }
  if (group.state == State::kPreparingRebalance && now >= group.rebalance_deadline) {
    std::erase_if(group.members, [](const auto& member) { return !member.second.joined; });
    EndRebalanceIfComplete(group);
  }
  return &group;
}

absl::StatusOr<Coordinator::Member*> Coordinator::RecordHeartbeat(Group* group,
                                                                  std::string_view member_id) {
  if (group != nullptr) {
    const auto member = group->members.find(member_id);
    if (member != group->members.end()) {
      member->second.last_heartbeat = clock_.Now();
      return &member->second;
    }
  }
  return MakeError(ErrorCode::kUnknownMemberId,
                   absl::StrCat("the group has no member ", base::ToAbsl(member_id)));
}

void Coordinator::BeginRebalance(Group& group) {
  if (group.state == State::kPreparingRebalance) return;
  group.state = State::kPreparingRebalance;
  group.rebalance_deadline = clock_.Now() + options_.rebalance_timeout;
  for (auto& [id, member] : group.members) member.joined = false;
}

void Coordinator::EndRebalanceIfComplete(Group& group) {
  Subscriptions subscriptions;
  for (const auto& [id, member] : group.members) {
    if (!member.joined) return;
    subscriptions[id] = member.subscriptions;
  }
  ++group.generation;
  group.assignment = Assign(options_.assignor, subscriptions);
  group.state = group.members.empty() ? State::kEmpty : State::kStable;
}

absl::StatusOr<std::string> Coordinator::Join(const JoinRequest& request) {
  if (request.group.empty()) {
    return MakeError(ErrorCode::kInvalidGroupId, "the name of the group is empty");
  }
  Group* group = Find(request.group);
  std::string id(request.member_id);
  if (id.empty()) {
    if (group == nullptr) group = &groups_[std::string(request.group)];
    id = absl::StrCat(base::ToAbsl(request.client_id), "-", ++ids_given_);
    // The existing members must join again; the new one has joined.
    BeginRebalance(*group);
    group->members[id] = {request.subscriptions, clock_.Now(), true};
    EndRebalanceIfComplete(*group);
    return id;
  }
  REDOUBLE_ASSIGN_OR_RETURN(Member* const member, RecordHeartbeat(group, id));
  const bool changed = member->subscriptions != request.subscriptions;
  if (group->state == State::kStable && !changed) return id;
  member->subscriptions = request.subscriptions;
  BeginRebalance(*group);
  member->joined = true;
  EndRebalanceIfComplete(*group);
  return id;
}

absl::StatusOr<Membership> Coordinator::Sync(std::string_view group, std::string_view member_id) {
  Group* found = Find(group);
  REDOUBLE_RETURN_IF_ERROR(RecordHeartbeat(found, member_id).status());
  if (found->state != State::kStable) return Rebalancing();
  return Membership{found->generation, found->assignment[std::string(member_id)]};
}

absl::Status Coordinator::Heartbeat(std::string_view group, std::string_view member_id,
                                    int32_t generation) {
  Group* found = Find(group);
  REDOUBLE_RETURN_IF_ERROR(RecordHeartbeat(found, member_id).status());
  if (found->state != State::kStable) return Rebalancing();
  return CheckGeneration(*found, generation);
}

absl::Status Coordinator::CheckCommit(std::string_view group, std::string_view member_id,
                                      int32_t generation) {
  Group* found = Find(group);
  REDOUBLE_RETURN_IF_ERROR(RecordHeartbeat(found, member_id).status());
  return CheckGeneration(*found, generation);
}

absl::Status Coordinator::CheckGeneration(const Group& group, int32_t generation) {
  if (generation == group.generation) return absl::OkStatus();
  return MakeError(ErrorCode::kIllegalGeneration,
                   absl::StrCat("the generation is ", group.generation, ", not ", generation));
}

absl::Status Coordinator::Leave(std::string_view group, std::string_view member_id) {
  Group* found = Find(group);
  REDOUBLE_RETURN_IF_ERROR(RecordHeartbeat(found, member_id).status());
  found->members.erase(found->members.find(member_id));
  BeginRebalance(*found);
  EndRebalanceIfComplete(*found);
  return absl::OkStatus();
}

absl::Status Coordinator::Delete(std::string_view group) {
  const Group* found = Find(group);
  if (found == nullptr) return NoGroup(group);
  if (!found->members.empty()) {
    return MakeError(ErrorCode::kNonEmptyGroup,
                     absl::StrCat("the group has ", found->members.size(), " members"));
  }
  groups_.erase(groups_.find(group));
  return absl::OkStatus();
}

absl::StatusOr<CoordinatedGroup> Coordinator::Describe(std::string_view group) {
  const Group* found = Find(group);
  if (found == nullptr) return NoGroup(group);
  return CoordinatedGroup{found->state, found->generation, found->assignment};
}

}  // namespace redouble::korvet
