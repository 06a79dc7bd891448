#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/groups/group_admin.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/korvet/korvet_arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using korvet::ConsumerGroup;
using korvet::GroupPosition;
using korvet::Keys;
using korvet::Topic;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

// The arguments that most operations share: the keys, the topic and the group.
class GroupArguments {
 public:
  explicit GroupArguments(const Json& arguments)
      : reader_(arguments),
        keys_(ReadKorvetKeys(reader_)),
        topic_(reader_.String("topic")),
        group_(reader_.String("group")) {}

  ArgumentReader& reader() { return reader_; }

  // Checks that all arguments were right, and opens the group.
  base::Task<absl::StatusOr<ConsumerGroup>> Open(OperationContext context,
                                                 korvet::GroupOptions options) {
    REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader_, keys_));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await DescribeNow(context, *keys_, topic_));
    co_return ConsumerGroup(context.store, *keys_, topic, group_, options);
  }

 private:
  ArgumentReader reader_;
  const absl::StatusOr<Keys> keys_;
  const std::string topic_;
  const std::string group_;
};

// `at`: "earliest" unless given, "latest", or an offset; and `entries_read`.
GroupPosition ReadPosition(ArgumentReader& reader) {
  GroupPosition position;
  position.entries_read = reader.OptionalInteger("entries_read");
  const Json* at = reader.Find("at");
  if (at == nullptr || *at == "earliest") return position;
  if (*at == "latest") {
    position.kind = GroupPosition::Kind::kLatest;
  } else if (at->is_number_integer()) {
    position.kind = GroupPosition::Kind::kOffset;
    position.offset = at->get<int64_t>();
  } else {
    reader.Refuse("at", "expected earliest, latest or an offset");
  }
  return position;
}

int32_t ReadPartition(ArgumentReader& reader) {
  return ReadInt32(reader, "partition", reader.IntegerOr("partition", 0));
}

Json ToJson(const std::vector<korvet::LogRecord>& records) {
  Json json = Json::array();
  for (const korvet::LogRecord& record : records) {
    Json one = {{"partition", record.partition}};
    one.update(RecordToJson(record));
    json.push_back(std::move(one));
  }
  return json;
}

Json ToJson(const korvet::PendingRecords& pending) {
  return {{"records", ToJson(pending.records)}, {"lost", pending.lost}};
}

base::Task<OperationResult> CreateGroup(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const std::vector<int32_t> partitions = ReadPartitions(reader);
  const GroupPosition position = ReadPosition(reader);
  korvet::GroupOptions options;
  options.hardening.guard_topic = reader.BoolOr("guard_topic", false);

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, options));
  co_return OkOr(co_await group.Create(partitions, position));
}

base::Task<OperationResult> Poll(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const std::vector<int32_t> partitions = ReadPartitions(reader);
  const std::string member = reader.String("member");
  korvet::GroupOptions options;
  options.start = ReadPosition(reader);
  options.hardening.guard_topic = reader.BoolOr("guard_topic", false);
  korvet::PollRequest request;
  request.member = member;
  request.partitions = partitions;
  request.max_records = reader.IntegerOr("max_records", request.max_records);
  if (const auto wait_ms = reader.OptionalInteger("max_wait_ms")) {
    request.max_wait = absl::Milliseconds(*wait_ms);
  }

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, options));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto records, co_await group.Poll(request));
  co_return ToJson(records);
}

base::Task<OperationResult> Backlog(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const std::string member = reader.String("member");
  korvet::BacklogRequest request;
  request.member = member;
  request.partition = ReadPartition(reader);
  request.offset = reader.IntegerOr("offset", 0);
  request.max_records = reader.IntegerOr("max_records", request.max_records);

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto pending, co_await group.Backlog(request));
  co_return ToJson(pending);
}

base::Task<OperationResult> Commit(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const std::string metadata = reader.OptionalString("metadata").value_or("");
  const std::string member = reader.OptionalString("member").value_or("");
  korvet::CommitRequest request;
  request.partition = ReadPartition(reader);
  request.offset = reader.Integer("offset");
  request.metadata = metadata;
  korvet::GroupOptions options;
  options.hardening.commit_own_entries = reader.BoolOr("commit_own_entries", false);
  request.member = member;

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, options));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await group.Commit(request));
  co_return Json{{"acknowledged", count}};
}

base::Task<OperationResult> Acknowledge(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const int32_t partition = ReadPartition(reader);
  std::vector<int64_t> offsets;
  for (const Json& offset : reader.Any("offsets")) {
    if (!offset.is_number_integer()) reader.Refuse("offsets", "expected an array of numbers");
    offsets.push_back(offset.is_number_integer() ? offset.get<int64_t>() : 0);
  }

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await group.Acknowledge(partition, offsets));
  co_return Json{{"acknowledged", count}};
}

base::Task<OperationResult> Committed(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const int32_t partition = ReadPartition(reader);

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto committed, co_await group.Committed(partition));
  co_return Json{{"committed_offset", committed.value_or(-1)}};
}

base::Task<OperationResult> GroupLag(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const int32_t partition = ReadPartition(reader);

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto lag, co_await group.Lag(partition));
  co_return Json{{"lag", lag.total()},
                 {"lag_parts", {{"undelivered", lag.undelivered}, {"pending", lag.pending}}}};
}

base::Task<OperationResult> SeekGroup(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const int32_t partition = ReadPartition(reader);
  const GroupPosition position = ReadPosition(reader);

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  co_return OkOr(co_await group.Seek(partition, position));
}

base::Task<OperationResult> Claim(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const std::string member = reader.String("member");
  korvet::ClaimRequest request;
  request.member = member;
  request.partition = ReadPartition(reader);
  request.min_idle = absl::Milliseconds(
      reader.IntegerOr("min_idle_ms", absl::ToInt64Milliseconds(request.min_idle)));

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto claimed, co_await group.Claim(request));
  co_return ToJson(claimed);
}

base::Task<OperationResult> RemoveMember(OperationContext context, const Json& arguments) {
  GroupArguments given(arguments);
  ArgumentReader& reader = given.reader();
  const int32_t partition = ReadPartition(reader);
  const std::string member = reader.String("member");

  REDOUBLE_CO_ASSIGN_OR_RETURN(auto group, co_await given.Open(context, {}));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t lost, co_await group.RemoveMember(partition, member));
  co_return Json{{"lost", lost}};
}

base::Task<OperationResult> ListGroups(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  korvet::GroupAdmin admin(context.store, *keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto names, co_await admin.List());
  co_return Json{{"groups", names}};
}

base::Task<OperationResult> DescribeGroup(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string group = reader.String("group");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  korvet::GroupAdmin admin(context.store, *keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto description, co_await admin.Describe(group));
  const bool empty = description.state == korvet::GroupDescription::State::kEmpty;
  Json json = {{"state", empty ? "Empty" : "Stable"}, {"partitions", Json::array()}};
  for (const korvet::GroupPartitionDescription& partition : description.partitions) {
    Json members = Json::object();
    for (const korvet::GroupMemberDescription& member : partition.members) {
      members[member.name] = member.pending;
    }
    json["partitions"].push_back({{"topic", partition.topic},
                                  {"partition", partition.partition},
                                  {"pending", partition.pending},
                                  {"members", std::move(members)}});
  }
  co_return json;
}

base::Task<OperationResult> DeleteGroup(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string group = reader.String("group");
  korvet::Hardening hardening;
  hardening.delete_idle_groups = reader.BoolOr("delete_idle_groups", false);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  korvet::GroupAdmin admin(context.store, *keys, hardening);
  co_return OkOr(co_await admin.Delete(group));
}

}  // namespace

void AddKorvetGroupOperations(sim::OperationTable& table) {
  table.Add("create_group", CreateGroup);
  table.Add("poll", Poll);
  table.Add("backlog", Backlog);
  table.Add("commit", Commit);
  table.Add("acknowledge", Acknowledge);
  table.Add("committed", Committed);
  table.Add("lag", GroupLag);
  table.Add("seek", SeekGroup);
  table.Add("claim", Claim);
  table.Add("remove_member", RemoveMember);
  table.Add("list_groups", ListGroups);
  table.Add("describe_group", DescribeGroup);
  table.Add("delete_group", DeleteGroup);
}

}  // namespace redouble::inline v0_1::scenarios
