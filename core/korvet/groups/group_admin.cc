#include "redouble/core/korvet/groups/group_admin.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/stream_decode.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// Decodes a number of partitions. The hash of a half-made topic has no number, which counts as 0.
absl::StatusOr<int32_t> PartitionsOf(const Reply& reply, std::string_view topic) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> text, store::DecodeStringOrNil(reply));
  if (!text) return 0;
  const std::optional<int64_t> count = base::ParseInt64(*text);
  if (!count || *count < 0 || *count > std::numeric_limits<int32_t>::max()) {
    return MakeError(ErrorCode::kUnknownServerError,
                     absl::StrCat("the hash of topic ", base::ToAbsl(topic), ": partitions is \"",
                                  absl::CEscape(*text), "\""));
  }
  return static_cast<int32_t>(*count);
}

absl::Status NoSuchGroup(std::string_view group) {
  return MakeError(ErrorCode::kGroupIdNotFound,
                   absl::StrCat("no partition has the group ", base::ToAbsl(group)));
}

absl::Status HasMembers(std::string_view group) {
  return MakeError(ErrorCode::kNonEmptyGroup,
                   absl::StrCat("the group ", base::ToAbsl(group), " has members"));
}

absl::Status HasPending(std::string_view group, std::string_view stream) {
  return MakeError(ErrorCode::kNonEmptyGroup,
                   absl::StrCat("records of ", base::ToAbsl(stream), " are pending in the group ",
                                base::ToAbsl(group)));
}

const store::Script& DeleteIdleScript() {
  static const store::Script& script = *new store::Script(std::string(kDeleteIdleGroupText));
  return script;
}

}  // namespace

base::Task<absl::StatusOr<std::vector<GroupAdmin::Found>>> GroupAdmin::FindAll() {
  absl::StatusOr<std::vector<std::string>> topics =
      co_await store::SMembers(store_, keys_.Topics());
  if (!topics.ok()) co_return AsGroupError(topics.status());
  std::sort(topics->begin(), topics->end());

  Batch counts(Batch::Atomicity::kPipeline);
  for (const std::string& topic : *topics) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string key, keys_.Topic(topic));
    counts.Add(CommandId::kHGet).AddOwned(std::move(key)).Add("partitions");
  }
  const absl::StatusOr<std::vector<Reply>> answers = co_await store::Execute(store_, counts);
  if (!answers.ok()) co_return AsGroupError(answers.status());

  std::vector<Found> streams;
  for (size_t i = 0; i < topics->size(); ++i) {
    const absl::StatusOr<int32_t> count = PartitionsOf((*answers)[i], (*topics)[i]);
    if (!count.ok()) co_return AsGroupError(count.status());
    for (int32_t partition = 0; partition < *count; ++partition) {
      const TopicPartition place = {(*topics)[i], partition};
      REDOUBLE_CO_ASSIGN_OR_RETURN(std::string stream, keys_.Stream(place));
      Found& found = streams.emplace_back();
      found.stream = std::move(stream);
      found.description.topic = (*topics)[i];
      found.description.partition = partition;
    }
  }
  Batch infos(Batch::Atomicity::kPipeline);
  for (const Found& found : streams) infos.Add(CommandId::kXInfoGroups, {found.stream});
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, infos);
  if (!replies.ok()) co_return AsGroupError(replies.status());

  std::vector<Found> all;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (IsNoSuchKey((*replies)[i])) continue;
    const auto groups = store::DecodeStreamGroups((*replies)[i]);
    if (!groups.ok()) co_return AsGroupError(groups.status());
    for (const store::StreamGroupInfo& group : *groups) {
      Found& found = all.emplace_back(streams[i]);
      found.group = group.name;
      found.description.last_delivered_id = group.last_delivered_id;
      found.description.pending = group.pending;
    }
  }
  co_return all;
}

base::Task<absl::StatusOr<std::vector<std::string>>> GroupAdmin::List() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Found> all, co_await FindAll());
  std::set<std::string> names;
  for (const Found& found : all) names.insert(found.group);
  co_return std::vector<std::string>(names.begin(), names.end());
}

base::Task<absl::Status> GroupAdmin::ReadMembers(std::vector<Found>& found) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const Found& one : found) {
    batch.Add(CommandId::kXInfoConsumers, {one.stream, one.group});
  }
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto consumers = store::DecodeStreamConsumers((*replies)[i]);
    if (!consumers.ok()) co_return AsGroupError(consumers.status());
    for (const store::StreamConsumerInfo& consumer : *consumers) {
      found[i].description.members.push_back({consumer.name, consumer.pending});
    }
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<GroupAdmin::Found>>> GroupAdmin::FindIfAny(
    std::string_view group) {
  if (group.empty()) {
    co_return MakeError(ErrorCode::kInvalidGroupId, "the name of the group is empty");
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Found> all, co_await FindAll());
  std::erase_if(all, [&](const Found& found) { return found.group != group; });
  co_return all;
}

base::Task<absl::StatusOr<std::vector<GroupAdmin::Found>>> GroupAdmin::Find(
    std::string_view group) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Found> found, co_await FindIfAny(group));
  if (found.empty()) co_return NoSuchGroup(group);
  co_return found;
}

base::Task<absl::StatusOr<std::optional<Assignment>>> GroupAdmin::MembersOf(
    std::string_view group) {
  Coordinator coordinator(store_, keys_);
  absl::StatusOr<CoordinatedGroup> found = co_await coordinator.Describe(group);
  if (ErrorCodeOf(found.status()) == ErrorCode::kGroupIdNotFound) co_return std::nullopt;
  REDOUBLE_CO_RETURN_IF_ERROR(found.status());
  co_return std::move(found->assignment);
}

base::Task<absl::StatusOr<std::vector<GroupOffset>>> GroupAdmin::Offsets(std::string_view group) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Found> found, co_await Find(group));
  std::vector<GroupOffset> offsets;
  std::optional<ConsumerGroup> topic;
  for (const Found& one : found) {
    const std::string& name = one.description.topic;
    if (!topic || topic->topic().name != name) {
      absl::StatusOr<Topic> described = co_await DescribeTopic(store_, keys_, name);
      if (!described.ok()) co_return AsGroupError(described.status());
      topic.emplace(store_, keys_, *std::move(described), std::string(group));
    }
    GroupOffset& offset = offsets.emplace_back();
    offset.topic = name;
    offset.partition = one.description.partition;
    REDOUBLE_CO_ASSIGN_OR_RETURN(offset.progress, co_await topic->Progress(offset.partition));
  }
  co_return offsets;
}

base::Task<absl::StatusOr<GroupDescription>> GroupAdmin::Describe(std::string_view group) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Found> found, co_await Find(group));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadMembers(found));
  GroupDescription description;
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Assignment> members, co_await MembersOf(group));
  if (members) description.assignment = *std::move(members);
  if (!description.assignment.empty()) description.state = GroupDescription::State::kStable;
  for (Found& one : found) {
    if (one.description.pending > 0) description.state = GroupDescription::State::kStable;
    description.partitions.push_back(std::move(one.description));
  }
  co_return description;
}

base::Task<absl::Status> GroupAdmin::Delete(std::string_view group) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Found> found, co_await FindIfAny(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Assignment> members, co_await MembersOf(group));
  // The membership of a group whose topics are deleted stays.
  if (found.empty() && !members) co_return NoSuchGroup(group);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string state, keys_.Group(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string member_key, keys_.GroupMembers(group));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string partition_key, keys_.GroupPartitions(group));
  if (hardening_.delete_idle_groups && !keys_.in_cluster_layout()) {
    std::vector<std::string> membership = {state, member_key, partition_key};
    co_return co_await DeleteByScript(group, found, std::move(membership));
  }
  if (members && !members->empty()) co_return HasMembers(group);
  Batch batch(Batch::Atomicity::kPipeline);
  for (const Found& one : found) {
    if (one.description.pending > 0) co_return HasPending(group, one.stream);
    batch.Add(CommandId::kXGroupDestroy, {one.stream, group});
  }
  // A group that programs read without the Coordinator has no membership.
  if (members) batch.Add(CommandId::kDel, {state, member_key, partition_key});
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return AsGroupError(replies.status());
  co_return AsGroupError(store::FirstError(*replies));
}

base::Task<absl::Status> GroupAdmin::DeleteByScript(std::string_view group,
                                                    const std::vector<Found>& found,
                                                    std::vector<std::string> membership) {
  std::vector<std::string_view> keys(membership.begin(), membership.end());
  for (const Found& one : found) keys.push_back(one.stream);
  const std::vector<std::string_view> arguments = {group};
  const absl::StatusOr<int64_t> busy =
      store::DecodeInteger(co_await DeleteIdleScript().Run(store_, keys, arguments));
  if (!busy.ok()) co_return AsGroupError(busy.status());
  if (*busy == 0) co_return absl::OkStatus();
  if (*busy == 1) co_return HasMembers(group);
  const auto key = static_cast<size_t>(*busy) - 1;
  if (key >= keys.size()) {
    co_return store::ProtocolError("the script that deletes a group answered something else");
  }
  co_return HasPending(group, keys[key]);
}

}  // namespace redouble::inline v0_1::korvet
