#include "redouble/core/korvet/topics/topics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/korvet/topic_name.h"
#include "redouble/core/korvet/topics/topic_hash.h"
#include "redouble/core/korvet/topics/topic_steps.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/sets.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;

absl::StatusOr<int32_t> PartitionsOf(int32_t asked) {
  if (asked == NewTopic::kDefaultPartitions) return 1;
  if (asked >= 1) return asked;
  return MakeError(ErrorCode::kInvalidPartitions,
                   absl::StrCat("a topic cannot have ", asked, " partitions"));
}

// Returns the topic that a request describes. A random id is drawn last, so that an invalid request
// does not advance `rng`.
absl::StatusOr<Topic> TopicOf(const NewTopic& request, base::Rng& rng) {
  REDOUBLE_RETURN_IF_ERROR(CheckTopicName(request.name));
  REDOUBLE_ASSIGN_OR_RETURN(const int32_t partitions, PartitionsOf(request.partitions));
  REDOUBLE_ASSIGN_OR_RETURN(TopicConfig config, ParseTopicConfig(request.config));
  if (request.id && request.id->is_reserved()) {
    return MakeError(ErrorCode::kInvalidConfig,
                     absl::StrCat("the topic id ", request.id->ToString(), " is reserved"));
  }
  const TopicId id = request.id ? *request.id : TopicId::Random(rng);
  return Topic{id, std::string(request.name), partitions, std::move(config)};
}

// Reads the topic's hash, and stores the text of its id in `id_text` unless that is null. Returns
// nullopt if the hash is not a topic.
base::Task<absl::StatusOr<std::optional<Topic>>> ReadTopic(store::Store& store, const Keys& keys,
                                                           std::string_view name,
                                                           std::string* id_text) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys.Topic(name));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<ConfigField> fields,
                               co_await store::HGetAll(store, key));
  const std::string* id = FieldOf(fields, kTopicId);
  if (id_text != nullptr && id != nullptr) *id_text = *id;
  co_return TopicOfHash(name, fields, keys.layout());
}

// KEYS: the topic's hash. ARGV: the new number of partitions. Replies {0, old number}; {3, 0} no
// topic; {37, number} not more than the current number; {-1, 0} the stored number is unreadable.
const store::Script& AddPartitionsScript() {
  static const store::Script& script = *new store::Script(std::string(kAddPartitionsText));
  return script;
}

// KEYS: the topic's hash, the set of names, the index of ids. ARGV: the name. Replies 1 if it
// removed something, 0 if the topic is complete or nothing exists.
const store::Script& RepairScript() {
  static const store::Script& script = *new store::Script(std::string(kRepairTopicText));
  return script;
}

// KEYS: the topic's hash, the set of names, the index of ids. ARGV: the id, the name, and the
// fields and values of the hash. Replies 0, and writes nothing, if the hash has an id.
const store::Script& CreateScript() {
  static const store::Script& script = *new store::Script(std::string(kCreateTopicText));
  return script;
}

absl::Status AlreadyExists(std::string_view name) {
  return MakeError(ErrorCode::kTopicAlreadyExists,
                   absl::StrCat("there is a topic ", base::ToAbsl(name)));
}

absl::Status StatusOf(const absl::StatusOr<std::vector<store::Reply>>& replies) {
  return replies.ok() ? store::FirstError(*replies) : replies.status();
}

}  // namespace

base::Task<absl::StatusOr<Topic>> Topics::Create(NewTopic topic) {
  absl::StatusOr<Topic> made = TopicOf(topic, rng_);
  if (!made.ok() || topic.validate_only) co_return made;
  if (keys_.in_cluster_layout()) {
    TopicSteps steps(store_, keys_);
    co_return co_await steps.Create(*std::move(made));
  }
  if (hardening_.atomic_creation) co_return co_await CreateByScript(*std::move(made));

  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(made->name));
  const std::string id = made->id.ToString();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool claimed,
                               co_await store::HSetNx(store_, key, kTopicId, id));
  if (!claimed) co_return AlreadyExists(made->name);
  co_return co_await Write(*std::move(made));
}

base::Task<absl::StatusOr<Topic>> Topics::Write(Topic topic) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(topic.name));
  const std::string id = topic.id.ToString();
  const std::vector<ConfigField> options = FormatTopicConfig(topic.config);

  Batch write(Batch::Atomicity::kTransaction);
  Command& hash =
      write.Add(CommandId::kHSet, {key, kTopicId, id, kTopicName, topic.name, kTopicPartitions});
  hash.AddInteger(topic.partitions);
  for (const auto& [field, value] : options) hash.Add(field).Add(value);
  write.Add(CommandId::kSAdd, {keys_.Topics(), topic.name});
  write.Add(CommandId::kHSet, {keys_.TopicIds(), id, topic.name});
  REDOUBLE_CO_RETURN_IF_ERROR(StatusOf(co_await store::Execute(store_, write)));
  co_return topic;
}

base::Task<absl::StatusOr<Topic>> Topics::CreateByScript(Topic topic) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(topic.name));
  const std::string id = topic.id.ToString();
  const std::string partitions = base::FormatInt64(topic.partitions);
  const std::vector<ConfigField> options = FormatTopicConfig(topic.config);
  const std::vector<std::string_view> keys = {key, keys_.Topics(), keys_.TopicIds()};
  std::vector<std::string_view> arguments = {id,         topic.name, kTopicId,         id,
                                             kTopicName, topic.name, kTopicPartitions, partitions};
  for (const auto& [field, value] : options) {
    arguments.push_back(field);
    arguments.push_back(value);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const bool created, store::DecodeBool(co_await CreateScript().Run(store_, keys, arguments)));
  if (!created) co_return AlreadyExists(topic.name);
  co_return topic;
}

base::Task<absl::StatusOr<Topic>> Topics::ReadExisting(std::string_view name,
                                                       std::string* id_text) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> topic,
                               co_await ReadTopic(store_, keys_, name, id_text));
  if (!topic) co_return NoSuchTopic(name);
  co_return *std::move(topic);
}

base::Task<absl::StatusOr<Topic>> Topics::Describe(std::string_view name) {
  return ReadExisting(name, nullptr);
}

base::Task<absl::StatusOr<Topic>> DescribeTopic(store::Store& store, const Keys& keys,
                                                std::string_view name) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> topic,
                               co_await ReadTopic(store, keys, name, nullptr));
  if (!topic) co_return NoSuchTopic(name);
  co_return *std::move(topic);
}

base::Task<absl::StatusOr<Topic>> Topics::DescribeById(TopicId id) {
  const std::string text = id.ToString();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> name,
                               co_await store::HGet(store_, keys_.TopicIds(), text));
  if (!name) {
    co_return MakeError(ErrorCode::kUnknownTopicId, absl::StrCat("no topic has the id ", text));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> topic,
                               co_await ReadTopic(store_, keys_, *name, nullptr));
  if (!topic || topic->id != id) {
    co_return MakeError(ErrorCode::kInconsistentTopicId,
                        absl::StrCat("the topic ", *name, " does not have the id ", text));
  }
  co_return *std::move(topic);
}

base::Task<absl::StatusOr<std::vector<std::string>>> Topics::List() {
  if (keys_.in_cluster_layout()) {
    TopicSteps steps(store_, keys_);
    co_return co_await steps.List();
  }
  absl::StatusOr<std::vector<std::string>> names = co_await store::SMembers(store_, keys_.Topics());
  if (names.ok()) std::sort(names->begin(), names->end());
  co_return names;
}

base::Task<absl::Status> Topics::Delete(std::string_view name) {
  if (keys_.in_cluster_layout()) {
    TopicSteps steps(store_, keys_);
    co_return co_await steps.Delete(std::string(name));
  }
  // The index has the text of the id that is stored in the hash, in either form.
  std::string id;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await ReadExisting(name, &id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(name));

  Batch remove(Batch::Atomicity::kTransaction);
  Command& streams = remove.Add(CommandId::kDel);
  for (int32_t partition = 0; partition < topic.partitions; ++partition) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string stream, keys_.Stream({name, partition}));
    streams.AddOwned(std::move(stream));
  }
  remove.Add(CommandId::kDel, {key});
  remove.Add(CommandId::kSRem, {keys_.Topics(), name});
  remove.Add(CommandId::kHDel, {keys_.TopicIds(), id});
  co_return StatusOf(co_await store::Execute(store_, remove));
}

base::Task<absl::Status> Topics::AddPartitions(PartitionIncrease increase) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await Describe(increase.topic));
  if (increase.total <= topic.partitions) {
    co_return NotMorePartitions(increase.topic, topic.partitions, increase.total);
  }
  if (increase.validate_only) co_return absl::OkStatus();
  if (keys_.in_cluster_layout()) {
    TopicSteps steps(store_, keys_);
    co_return co_await steps.AddPartitions(topic, increase.total);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(increase.topic));
  const std::string total = base::FormatInt64(increase.total);
  const std::vector<std::string_view> keys = {key};
  const std::vector<std::string_view> arguments = {total};
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::vector<store::Reply> answer,
      store::DecodeArray(co_await AddPartitionsScript().Run(store_, keys, arguments)));
  if (answer.size() != 2 || !answer[0].is_integer() || !answer[1].is_integer()) {
    co_return store::ProtocolError("the script that adds partitions answered something else");
  }
  switch (static_cast<ErrorCode>(answer[0].integer())) {
    case ErrorCode::kNone:
      co_return absl::OkStatus();
    case ErrorCode::kUnknownTopicOrPartition:
      co_return NoSuchTopic(increase.topic);
    case ErrorCode::kInvalidPartitions:
      co_return NotMorePartitions(increase.topic, answer[1].integer(), increase.total);
    default:
      co_return UnreadableHash(increase.topic, "partitions is not a number");
  }
}

base::Task<absl::StatusOr<bool>> Topics::Repair(std::string_view name) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckTopicName(name));
  if (keys_.in_cluster_layout()) {
    TopicSteps steps(store_, keys_);
    co_return co_await steps.Repair(std::string(name));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(name));
  const std::string names = keys_.Topics();
  const std::string ids = keys_.TopicIds();
  const std::vector<std::string_view> keys = {key, names, ids};
  const std::vector<std::string_view> arguments = {name};
  co_return store::DecodeBool(co_await RepairScript().Run(store_, keys, arguments));
}

base::Task<absl::Status> RefreshTopic(store::Store& store, const Keys& keys, Topic& topic) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> now,
                               co_await ReadTopic(store, keys, topic.name, nullptr));
  if (!now) co_return NoSuchTopic(topic.name);
  if (now->id != topic.id) co_return AnotherTopic(topic.name);
  topic = *std::move(now);
  co_return absl::OkStatus();
}

base::Task<absl::Status> Topics::AlterConfig(ConfigChange change) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await Describe(change.topic));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<ConfigField> fields,
                               ParseConfigChanges(change.config));
  if (change.validate_only || fields.empty()) co_return absl::OkStatus();
  if (keys_.in_cluster_layout()) {
    TopicSteps steps(store_, keys_);
    co_return co_await steps.AlterConfig(topic, fields);
  }

  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(change.topic));
  const std::vector<store::FieldView> changes(fields.begin(), fields.end());
  const absl::StatusOr<int64_t> altered = co_await store::HSet(store_, key, changes);
  co_return altered.status();
}

}  // namespace redouble::inline v0_1::korvet
