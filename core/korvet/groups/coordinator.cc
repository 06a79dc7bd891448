#include "redouble/core/korvet/groups/coordinator.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

constexpr std::pair<Assignor, std::string_view> kAssignors[] = {
    {Assignor::kCooperativeSticky, "cooperative-sticky"},
    {Assignor::kRange, "range"},
    {Assignor::kRoundRobin, "roundrobin"},
};

// KEYS: the group's state, members and partitions. ARGV: "join", "beat" or "leave", the member, its
// call, its session in ms, the assignor, its subscriptions (" orders=3"), its partitions
// ("orders:0"). Replies {0, epoch, waiting, partition...}; {0} after a leave; {22} an earlier call;
// {23} another assignor; {25} no such member; {-1, field} an unreadable value.
const store::Script& MemberScript() {
  static const store::Script& script = *new store::Script(std::string(kGroupMemberText));
  return script;
}

// KEYS: the group's members and partitions, a stream for each commit. ARGV: the member, the group,
// and for each stream the partition, the number of ids and the ids. Replies {0, acknowledged}; {22,
// 0} for a partition of another member; {25, 0} no such member.
const store::Script& CommitScript() {
  static const store::Script& script = *new store::Script(std::string(kCommitOwnedText));
  return script;
}

// KEYS: a stream. ARGV: the group, the member, ids. Acknowledges those that are pending for the
// member, and replies their number.
const store::Script& PendingIdsScript() {
  static const store::Script& script = *new store::Script(std::string(kCommitPendingIdsText));
  return script;
}

std::string PlaceOf(const AssignedPartition& partition) {
  return absl::StrCat(partition.topic, ":", partition.partition);
}

std::optional<AssignedPartition> ParsePlace(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> number = base::ParseInt64(text.substr(colon + 1));
  if (!number || *number < 0 || *number > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return AssignedPartition{std::string(text.substr(0, colon)), static_cast<int32_t>(*number)};
}

absl::Status Unreadable(std::string_view what) {
  return MakeError(ErrorCode::kUnknownServerError,
                   absl::StrCat("the group's value of \"", absl::CEscape(base::ToAbsl(what)),
                                "\" is not readable"));
}

absl::Status ErrorOf(ErrorCode code, std::string_view member) {
  switch (code) {
    case ErrorCode::kIllegalGeneration:
      return MakeError(code, absl::StrCat("the call of ", base::ToAbsl(member),
                                          " is older than its last one, or a partition has moved"));
    case ErrorCode::kInconsistentGroupProtocol:
      return MakeError(code, "the members of the group have another assignor");
    default:
      return MakeError(code, absl::StrCat("the group has no member ", base::ToAbsl(member)));
  }
}

absl::Status CheckMember(std::string_view member) {
  const bool has_space = std::any_of(member.begin(), member.end(), [](char c) {
    return absl::ascii_isspace(static_cast<unsigned char>(c));
  });
  if (!member.empty() && !has_space) return absl::OkStatus();
  return MakeError(ErrorCode::kInvalidRequest,
                   absl::StrCat("\"", absl::CEscape(base::ToAbsl(member)), "\" is no member id"));
}

absl::StatusOr<GroupMembership> MembershipOf(std::span<const Reply> reply) {
  GroupMembership membership;
  if (reply.size() < 3 || !reply[1].is_integer() || !reply[2].is_integer()) {
    return store::ProtocolError("the script of a group's member answered something else");
  }
  membership.epoch = reply[1].integer();
  membership.waiting = reply[2].integer() != 0;
  for (const Reply& place : reply.subspan(3)) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string text, store::DecodeString(place));
    const std::optional<AssignedPartition> partition = ParsePlace(text);
    if (!partition) return Unreadable(text);
    membership.partitions.push_back(*partition);
  }
  std::sort(membership.partitions.begin(), membership.partitions.end());
  return membership;
}

// The first element of a script's reply: 0 or an error code.
absl::StatusOr<ErrorCode> CodeOf(std::span<const Reply> reply) {
  if (reply.empty() || !reply[0].is_integer()) {
    return store::ProtocolError("a script of groups answered something else");
  }
  return static_cast<ErrorCode>(reply[0].integer());
}

using Fields = std::vector<std::pair<std::string, std::string>>;

absl::StatusOr<Fields> FieldsOf(const Reply& reply) {
  REDOUBLE_ASSIGN_OR_RETURN(Fields fields, store::DecodePairs(reply));
  std::sort(fields.begin(), fields.end());
  return fields;
}

// Adds the members of the group whose session has not ended.
absl::Status ReadMembers(const Fields& fields, int64_t now_ms, CoordinatedGroup& group) {
  for (const auto& [member, text] : fields) {
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    const std::optional<int64_t> deadline = base::ParseInt64(words[0]);
    if (!deadline) return Unreadable(member);
    if (*deadline <= now_ms) continue;
    group.assignment[member];
    group.target[member];
  }
  return absl::OkStatus();
}

// Adds the partitions of the members, and sets the state.
absl::Status ReadPartitions(const Fields& fields, CoordinatedGroup& group) {
  bool stable = true;
  for (const auto& [place, text] : fields) {
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    const std::optional<AssignedPartition> partition = ParsePlace(place);
    if (!partition || words.size() != 2) return Unreadable(place);
    stable = stable && words[0] == words[1] && group.assignment.contains(words[0]);
    const auto owner = group.assignment.find(words[0]);
    if (owner != group.assignment.end()) owner->second.push_back(*partition);
    const auto target = group.target.find(words[1]);
    if (target != group.target.end()) target->second.push_back(*partition);
  }
  for (auto& [member, partitions] : group.assignment) {
    std::sort(partitions.begin(), partitions.end());
  }
  for (auto& [member, partitions] : group.target) std::sort(partitions.begin(), partitions.end());
  using State = CoordinatedGroup::State;
  if (!group.assignment.empty()) group.state = stable ? State::kStable : State::kReconciling;
  return absl::OkStatus();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const AssignedPartition& partition) {
  return out << partition.topic << "-" << partition.partition;
}

std::string_view AssignorName(Assignor assignor) {
  for (const auto& [one, name] : kAssignors) {
    if (one == assignor) return name;
  }
  return {};
}

std::optional<Assignor> FindAssignor(std::string_view name) {
  for (const auto& [assignor, one] : kAssignors) {
    if (one == name) return assignor;
  }
  return std::nullopt;
}

base::Task<absl::StatusOr<GroupMembership>> Coordinator::Call(std::string_view mode,
                                                              MemberHeartbeat request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string state, keys_.Group(request.group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string members, keys_.GroupMembers(request.group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string partitions, keys_.GroupPartitions(request.group));
  REDOUBLE_CO_RETURN_IF_ERROR(CheckMember(request.member));
  const std::string call = base::FormatInt64(request.call);
  const std::string session =
      base::FormatInt64(std::max<int64_t>(absl::ToInt64Milliseconds(options_.session_timeout), 1));
  std::vector<std::string> texts;
  for (const Subscription& subscription : request.subscriptions) {
    texts.push_back(absl::StrCat(" ", subscription.topic, "=", subscription.partitions));
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const std::string subscriptions = absl::StrJoin(texts, "");
  std::string owned;
  for (const AssignedPartition& partition : request.owned) {
    absl::StrAppend(&owned, PlaceOf(partition), " ");
  }

  const std::vector<std::string_view> keys = {state, members, partitions};
  const std::vector<std::string_view> arguments = {
      mode, request.member, call, session, AssignorName(options_.assignor), subscriptions, owned};
  const absl::StatusOr<std::vector<Reply>> reply =
      store::DecodeArray(co_await MemberScript().Run(store_, keys, arguments));
  if (!reply.ok()) co_return AsGroupError(reply.status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ErrorCode code, CodeOf(*reply));
  if (code == ErrorCode::kUnknownServerError) {
    co_return Unreadable(reply->size() == 2 ? (*reply)[1].text() : "");
  }
  if (code != ErrorCode::kNone) co_return ErrorOf(code, request.member);
  if (mode == "leave") co_return GroupMembership();
  co_return MembershipOf(*reply);
}

base::Task<absl::StatusOr<GroupMembership>> Coordinator::Join(MemberHeartbeat request) {
  request.owned.clear();
  return Call("join", std::move(request));
}

base::Task<absl::StatusOr<GroupMembership>> Coordinator::Heartbeat(MemberHeartbeat request) {
  return Call("beat", std::move(request));
}

base::Task<absl::Status> Coordinator::Leave(MemberHeartbeat request) {
  co_return (co_await Call("leave", std::move(request))).status();
}

base::Task<absl::StatusOr<int64_t>> Coordinator::Commit(std::string_view group,
                                                        std::string_view member,
                                                        std::span<const OwnedCommit> commits) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckMember(member));
  if (commits.empty()) co_return 0;
  if (keys_.in_cluster_layout()) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await CheckOwner(group, member, commits));
    co_return co_await CommitEach(group, member, commits);
  }
  std::vector<std::string> keys(2);
  REDOUBLE_CO_ASSIGN_OR_RETURN(keys[0], keys_.GroupMembers(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(keys[1], keys_.GroupPartitions(group));
  std::vector<std::string> arguments = {std::string(member), std::string(group)};
  for (const OwnedCommit& commit : commits) {
    const TopicPartition place = {commit.partition.topic, commit.partition.partition};
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string stream, keys_.Stream(place));
    keys.push_back(std::move(stream));
    arguments.push_back(PlaceOf(commit.partition));
    arguments.push_back(base::FormatInt64(static_cast<int64_t>(commit.ids.size())));
    for (const store::StreamId& id : commit.ids) arguments.push_back(id.ToString());
  }
  const std::vector<std::string_view> key_views(keys.begin(), keys.end());
  const std::vector<std::string_view> argument_views(arguments.begin(), arguments.end());
  const absl::StatusOr<std::vector<Reply>> reply =
      store::DecodeArray(co_await CommitScript().Run(store_, key_views, argument_views));
  if (!reply.ok()) co_return AsGroupError(reply.status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ErrorCode code, CodeOf(*reply));
  if (code != ErrorCode::kNone) co_return ErrorOf(code, member);
  if (reply->size() != 2 || !(*reply)[1].is_integer()) {
    co_return store::ProtocolError("the script of a commit answered something else");
  }
  co_return (*reply)[1].integer();
}

base::Task<absl::Status> Coordinator::CheckOwner(std::string_view group, std::string_view member,
                                                 std::span<const OwnedCommit> commits) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string members, keys_.GroupMembers(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string partitions, keys_.GroupPartitions(group));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kHExists, {members, member});
  store::Command& owners = batch.Add(CommandId::kHMGet, {partitions});
  for (const OwnedCommit& commit : commits) owners.AddOwned(PlaceOf(commit.partition));
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  const absl::StatusOr<bool> is_member = store::DecodeBool((*replies)[0]);
  if (!is_member.ok()) co_return AsGroupError(is_member.status());
  if (!*is_member) co_return ErrorOf(ErrorCode::kUnknownMemberId, member);
  const auto texts = store::DecodeStringsOrNil((*replies)[1]);
  if (!texts.ok()) co_return AsGroupError(texts.status());
  for (const std::optional<std::string>& text : *texts) {
    const std::string owner = text.value_or("");
    if (owner.substr(0, owner.find(' ')) == member) continue;
    co_return ErrorOf(ErrorCode::kIllegalGeneration, member);
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<int64_t>> Coordinator::CommitEach(std::string_view group,
                                                            std::string_view member,
                                                            std::span<const OwnedCommit> commits) {
  struct Call {
    std::string stream;
    std::vector<std::string> words;
    std::vector<std::string_view> keys;
    std::vector<std::string_view> arguments;
  };
  // A deque, because the batch has views into its elements.
  std::deque<Call> calls;
  Batch batch(Batch::Atomicity::kPipeline);
  for (const OwnedCommit& commit : commits) {
    const TopicPartition place = {commit.partition.topic, commit.partition.partition};
    Call& call = calls.emplace_back();
    REDOUBLE_CO_ASSIGN_OR_RETURN(call.stream, keys_.Stream(place));
    for (const store::StreamId& id : commit.ids) call.words.push_back(id.ToString());
    call.keys = {call.stream};
    call.arguments = {group, member};
    call.arguments.insert(call.arguments.end(), call.words.begin(), call.words.end());
    PendingIdsScript().AddTo(batch, call.keys, call.arguments);
  }
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  int64_t acknowledged = 0;
  for (const Reply& reply : *replies) {
    const absl::StatusOr<int64_t> count = store::DecodeInteger(reply);
    if (!count.ok()) co_return AsGroupError(count.status());
    acknowledged += *count;
  }
  co_return acknowledged;
}

base::Task<absl::StatusOr<CoordinatedGroup>> Coordinator::Describe(std::string_view group) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string state, keys_.Group(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string members, keys_.GroupMembers(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string partitions, keys_.GroupPartitions(group));
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kHGet, {state, "epoch"});
  batch.Add(CommandId::kHGetAll, {members});
  batch.Add(CommandId::kHGetAll, {partitions});
  batch.Add(CommandId::kTime);
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> epoch,
                               store::DecodeStringOrNil((*replies)[0]));
  if (!epoch) {
    co_return MakeError(ErrorCode::kGroupIdNotFound,
                        absl::StrCat("no member ever joined the group ", base::ToAbsl(group)));
  }
  const std::optional<int64_t> number = base::ParseInt64(*epoch);
  if (!number) co_return Unreadable("epoch");
  CoordinatedGroup described;
  described.epoch = *number;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Fields member_fields, FieldsOf((*replies)[1]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Fields place_fields, FieldsOf((*replies)[2]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t now_ms, MillisOfTime((*replies)[3]));
  REDOUBLE_CO_RETURN_IF_ERROR(ReadMembers(member_fields, now_ms, described));
  REDOUBLE_CO_RETURN_IF_ERROR(ReadPartitions(place_fields, described));
  co_return described;
}

base::Task<absl::Status> Coordinator::Delete(std::string_view group) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CoordinatedGroup found, co_await Describe(group));
  if (!found.assignment.empty()) {
    co_return MakeError(ErrorCode::kNonEmptyGroup,
                        absl::StrCat("the group has ", found.assignment.size(), " members"));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string state, keys_.Group(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string members, keys_.GroupMembers(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string partitions, keys_.GroupPartitions(group));
  const store::Command del(CommandId::kDel, {state, members, partitions});
  co_return AsGroupError(store::DecodeInteger(co_await store_.Execute(del)).status());
}

}  // namespace redouble::inline v0_1::korvet
