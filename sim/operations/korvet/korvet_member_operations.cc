#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/korvet/korvet_arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using korvet::AssignedPartition;
using korvet::Coordinator;
using korvet::Keys;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

// A partition is "topic:number".
std::optional<AssignedPartition> ParsePartition(const Json& json) {
  if (!json.is_string()) return std::nullopt;
  const std::string text = json.get<std::string>();
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return std::nullopt;
  AssignedPartition partition = {text.substr(0, colon), 0};
  std::istringstream number(text.substr(colon + 1));
  if (!(number >> partition.partition) || !number.eof()) return std::nullopt;
  return partition;
}

Json ToJson(const std::vector<AssignedPartition>& partitions) {
  Json json = Json::array();
  for (const AssignedPartition& one : partitions) {
    json.push_back(one.topic + ":" + std::to_string(one.partition));
  }
  return json;
}

Json ToJson(const korvet::Assignment& assignment) {
  Json json = Json::object();
  for (const auto& [member, partitions] : assignment) json[member] = ToJson(partitions);
  return json;
}

// The arguments that join_group, heartbeat and leave_group share.
class MemberArguments {
 public:
  explicit MemberArguments(const Json& arguments)
      : reader_(arguments), keys_(ReadKorvetKeys(reader_)) {
    request_.group = reader_.String("group");
    request_.member = reader_.String("member");
    request_.call = reader_.IntegerOr("call", 1);
    options_.session_timeout = absl::Milliseconds(reader_.IntegerOr("session_ms", 45'000));
    ReadTopics();
    ReadOwned();
    if (const std::optional<std::string> name = reader_.OptionalString("assignor")) {
      const std::optional<korvet::Assignor> assignor = korvet::FindAssignor(*name);
      if (assignor) options_.assignor = *assignor;
      if (!assignor) reader_.Refuse("assignor", "expected cooperative-sticky, range or roundrobin");
    }
  }

  absl::Status Finish() { return FinishReading(reader_, keys_); }
  Coordinator Open(OperationContext context) const {
    return Coordinator(context.store, *keys_, options_);
  }
  const korvet::MemberHeartbeat& request() const { return request_; }

 private:
  void ReadTopics() {
    const Json* const topics = reader_.Find("topics");
    if (topics == nullptr) return;
    if (!topics->is_object()) return reader_.Refuse("topics", "expected an object");
    for (const auto& [topic, partitions] : topics->items()) {
      if (!partitions.is_number_integer()) reader_.Refuse("topics", "expected numbers");
      if (partitions.is_number_integer()) {
        request_.subscriptions.push_back({topic, partitions.get<int32_t>()});
      }
    }
  }
  void ReadOwned() {
    const Json* const owned = reader_.Find("owned");
    if (owned == nullptr) return;
    for (const Json& one : *owned) {
      const std::optional<AssignedPartition> partition = ParsePartition(one);
      if (partition) request_.owned.push_back(*partition);
      if (!partition) reader_.Refuse("owned", "expected an array of \"topic:number\"");
    }
  }

  ArgumentReader reader_;
  const absl::StatusOr<Keys> keys_;
  korvet::CoordinatorOptions options_;
  korvet::MemberHeartbeat request_;
};

Json ToJson(const korvet::GroupMembership& membership) {
  return {{"epoch", membership.epoch},
          {"partitions", ToJson(membership.partitions)},
          {"waiting", membership.waiting}};
}

base::Task<OperationResult> JoinGroup(OperationContext context, const Json& arguments) {
  MemberArguments given(arguments);
  REDOUBLE_CO_RETURN_IF_ERROR(given.Finish());
  Coordinator coordinator = given.Open(context);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto membership, co_await coordinator.Join(given.request()));
  co_return ToJson(membership);
}

base::Task<OperationResult> Heartbeat(OperationContext context, const Json& arguments) {
  MemberArguments given(arguments);
  REDOUBLE_CO_RETURN_IF_ERROR(given.Finish());
  Coordinator coordinator = given.Open(context);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto membership,
                               co_await coordinator.Heartbeat(given.request()));
  co_return ToJson(membership);
}

base::Task<OperationResult> LeaveGroup(OperationContext context, const Json& arguments) {
  MemberArguments given(arguments);
  REDOUBLE_CO_RETURN_IF_ERROR(given.Finish());
  Coordinator coordinator = given.Open(context);
  co_return OkOr(co_await coordinator.Leave(given.request()));
}

base::Task<OperationResult> CommitOwned(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string group = reader.String("group");
  const std::string member = reader.String("member");
  const std::string topic = reader.String("topic");
  const int32_t partition = ReadInt32(reader, "partition", reader.IntegerOr("partition", 0));
  const Json& offsets = reader.Any("offsets");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const korvet::Topic described,
                               co_await DescribeNow(context, *keys, topic));
  korvet::OwnedCommit commit;
  commit.partition = {topic, partition};
  for (const Json& offset : offsets) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto id,
                                 described.config.offsets.Decode(offset.get<int64_t>()));
    commit.ids.push_back(id);
  }
  Coordinator coordinator(context.store, *keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count,
                               co_await coordinator.Commit(group, member, std::span(&commit, 1)));
  co_return Json{{"acknowledged", count}};
}

base::Task<OperationResult> DescribeMembers(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string group = reader.String("group");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));
  Coordinator coordinator(context.store, *keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto described, co_await coordinator.Describe(group));
  constexpr const char* kStates[] = {"Empty", "Reconciling", "Stable"};
  co_return Json{{"state", kStates[static_cast<int>(described.state)]},
                 {"epoch", described.epoch},
                 {"assignment", ToJson(described.assignment)},
                 {"target", ToJson(described.target)}};
}

}  // namespace

void AddKorvetMemberOperations(sim::OperationTable& table) {
  table.Add("join_group", JoinGroup);
  table.Add("heartbeat", Heartbeat);
  table.Add("leave_group", LeaveGroup);
  table.Add("commit_owned", CommitOwned);
  table.Add("describe_members", DescribeMembers);
}

}  // namespace redouble::inline v0_1::scenarios
