#include "core/korvet/topics.h"

#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/redis_number.h"
#include "core/base/string_bridge.h"
#include "core/korvet/error_code.h"
#include "core/korvet/topic_name.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/hashes.h"
#include "core/store/sets.h"

namespace redouble::korvet {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;

// Fields of the hash beside the options.
constexpr std::string_view kId = "id";
constexpr std::string_view kName = "name";
constexpr std::string_view kPartitions = "partitions";

absl::Status NoSuchTopic(std::string_view name) {
  return KafkaError(ErrorCode::kUnknownTopicOrPartition,
                    absl::StrCat("there is no topic ", base::ToAbsl(name)));
}

absl::Status Unreadable(std::string_view topic, absl::string_view what) {
  return KafkaError(ErrorCode::kUnknownServerError,
                    absl::StrCat("the hash of topic ", base::ToAbsl(topic), ": ", what));
}

absl::StatusOr<int32_t> PartitionsOf(int32_t asked) {
  if (asked == NewTopic::kDefaultPartitions) return 1;
  if (asked >= 1) return asked;
  return KafkaError(ErrorCode::kInvalidPartitions,
                    absl::StrCat("a topic cannot have ", asked, " partitions"));
}

// The topic that a request asks for. An id that was not named is drawn last, so that a refused
// request draws nothing.
absl::StatusOr<Topic> TopicOf(const NewTopic& request, base::Rng& rng) {
  if (absl::Status status = CheckTopicName(request.name); !status.ok()) return status;
  const absl::StatusOr<int32_t> partitions = PartitionsOf(request.partitions);
  if (!partitions.ok()) return partitions.status();
  absl::StatusOr<TopicConfig> config = ParseTopicConfig(request.config);
  if (!config.ok()) return config.status();
  if (request.id && request.id->is_reserved()) {
    return KafkaError(ErrorCode::kInvalidConfig,
                      absl::StrCat("the topic id ", request.id->ToString(), " is reserved"));
  }
  const TopicId id = request.id ? *request.id : TopicId::Random(rng);
  return Topic{id, std::string(request.name), *partitions, *std::move(config)};
}

// The value of a field; null when the hash does not have it.
const std::string* FieldOf(std::span<const ConfigField> fields, std::string_view name) {
  for (const auto& [field, value] : fields) {
    if (field == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<std::optional<Topic>> TopicOfHash(std::string_view name,
                                                 std::span<const ConfigField> fields) {
  const std::string* id_text = FieldOf(fields, kId);
  const std::string* partitions_text = FieldOf(fields, kPartitions);
  // Half made, or half deleted.
  if (id_text == nullptr || partitions_text == nullptr) return std::nullopt;

  const std::optional<TopicId> id = TopicId::Parse(*id_text);
  if (!id) return Unreadable(name, absl::StrCat("id is \"", absl::CEscape(*id_text), "\""));
  const std::optional<int64_t> partitions = base::ParseInt64(*partitions_text);
  if (!partitions || *partitions < 1 || *partitions > std::numeric_limits<int32_t>::max()) {
    return Unreadable(name,
                      absl::StrCat("partitions is \"", absl::CEscape(*partitions_text), "\""));
  }
  absl::StatusOr<TopicConfig> config = ReadTopicConfig(fields);
  if (!config.ok()) return Unreadable(name, config.status().message());
  return Topic{*id, std::string(name), static_cast<int32_t>(*partitions), *std::move(config)};
}

absl::Status StatusOf(const absl::StatusOr<std::vector<store::Reply>>& replies) {
  return replies.ok() ? store::FirstError(*replies) : replies.status();
}

}  // namespace

base::Task<absl::StatusOr<Topic>> Topics::Create(NewTopic topic) {
  absl::StatusOr<Topic> made = TopicOf(topic, rng_);
  if (!made.ok() || topic.validate_only) co_return made;

  const absl::StatusOr<std::string> key = keys_.Topic(made->name);
  if (!key.ok()) co_return key.status();
  const std::string id = made->id.ToString();
  const absl::StatusOr<bool> claimed = co_await store::HSetNx(store_, *key, kId, id);
  if (!claimed.ok()) co_return claimed.status();
  if (!*claimed) {
    co_return KafkaError(ErrorCode::kTopicAlreadyExists,
                         absl::StrCat("there is a topic ", made->name));
  }
  co_return co_await Write(*std::move(made));
}

base::Task<absl::StatusOr<Topic>> Topics::Write(Topic topic) {
  const absl::StatusOr<std::string> key = keys_.Topic(topic.name);
  if (!key.ok()) co_return key.status();
  const std::string id = topic.id.ToString();
  const std::vector<ConfigField> options = FormatTopicConfig(topic.config);

  Batch write(Batch::Atomicity::kTransaction);
  Command& hash = write.Add(CommandId::kHSet, {*key, kId, id, kName, topic.name, kPartitions});
  hash.AddInteger(topic.partitions);
  for (const auto& [field, value] : options) hash.Add(field).Add(value);
  write.Add(CommandId::kSAdd, {keys_.Topics(), topic.name});
  write.Add(CommandId::kHSet, {keys_.TopicIds(), id, topic.name});
  const absl::Status status = StatusOf(co_await store::Execute(store_, write));
  if (!status.ok()) co_return status;
  co_return topic;
}

base::Task<absl::StatusOr<std::optional<Topic>>> Topics::Read(std::string_view name,
                                                              std::string* id_text) {
  const absl::StatusOr<std::string> key = keys_.Topic(name);
  if (!key.ok()) co_return key.status();
  const absl::StatusOr<std::vector<ConfigField>> fields = co_await store::HGetAll(store_, *key);
  if (!fields.ok()) co_return fields.status();
  const std::string* id = FieldOf(*fields, kId);
  if (id_text != nullptr && id != nullptr) *id_text = *id;
  co_return TopicOfHash(name, *fields);
}

base::Task<absl::StatusOr<Topic>> Topics::ReadExisting(std::string_view name,
                                                       std::string* id_text) {
  absl::StatusOr<std::optional<Topic>> topic = co_await Read(name, id_text);
  if (!topic.ok()) co_return topic.status();
  if (!*topic) co_return NoSuchTopic(name);
  co_return **std::move(topic);
}

base::Task<absl::StatusOr<Topic>> Topics::Describe(std::string_view name) {
  return ReadExisting(name, nullptr);
}

base::Task<absl::StatusOr<Topic>> Topics::DescribeById(TopicId id) {
  const std::string text = id.ToString();
  const absl::StatusOr<std::optional<std::string>> name =
      co_await store::HGet(store_, keys_.TopicIds(), text);
  if (!name.ok()) co_return name.status();
  if (!*name) {
    co_return KafkaError(ErrorCode::kUnknownTopicId, absl::StrCat("no topic has the id ", text));
  }
  absl::StatusOr<std::optional<Topic>> topic = co_await Read(**name, nullptr);
  if (!topic.ok()) co_return topic.status();
  if (!*topic || (*topic)->id != id) {
    co_return KafkaError(ErrorCode::kInconsistentTopicId,
                         absl::StrCat("the topic ", **name, " does not have the id ", text));
  }
  co_return **std::move(topic);
}

base::Task<absl::StatusOr<std::vector<std::string>>> Topics::List() {
  absl::StatusOr<std::vector<std::string>> names = co_await store::SMembers(store_, keys_.Topics());
  if (names.ok()) std::sort(names->begin(), names->end());
  co_return names;
}

base::Task<absl::Status> Topics::Delete(std::string_view name) {
  // The index has the id in the form in which the hash has it, whoever wrote the two.
  std::string id;
  const absl::StatusOr<Topic> topic = co_await ReadExisting(name, &id);
  if (!topic.ok()) co_return topic.status();
  const absl::StatusOr<std::string> key = keys_.Topic(name);
  if (!key.ok()) co_return key.status();

  Batch remove(Batch::Atomicity::kTransaction);
  Command& streams = remove.Add(CommandId::kDel);
  for (int32_t partition = 0; partition < topic->partitions; ++partition) {
    absl::StatusOr<std::string> stream = keys_.Stream({name, partition});
    if (!stream.ok()) co_return stream.status();
    streams.AddOwned(*std::move(stream));
  }
  remove.Add(CommandId::kDel, {*key});
  remove.Add(CommandId::kSRem, {keys_.Topics(), name});
  remove.Add(CommandId::kHDel, {keys_.TopicIds(), id});
  co_return StatusOf(co_await store::Execute(store_, remove));
}

base::Task<absl::Status> Topics::AddPartitions(PartitionIncrease increase) {
  const absl::StatusOr<Topic> topic = co_await Describe(increase.topic);
  if (!topic.ok()) co_return topic.status();
  if (increase.total <= topic->partitions) {
    co_return KafkaError(ErrorCode::kInvalidPartitions,
                         absl::StrCat("the topic ", topic->name, " has ", topic->partitions,
                                      " partitions; ", increase.total, " are not more"));
  }
  if (increase.validate_only) co_return absl::OkStatus();
  const absl::StatusOr<std::string> key = keys_.Topic(increase.topic);
  if (!key.ok()) co_return key.status();
  const std::string total = base::FormatInt64(increase.total);
  const absl::StatusOr<bool> raised = co_await store::HSet(store_, *key, kPartitions, total);
  co_return raised.status();
}

base::Task<absl::Status> Topics::AlterConfig(ConfigChange change) {
  const absl::StatusOr<Topic> topic = co_await Describe(change.topic);
  if (!topic.ok()) co_return topic.status();
  const absl::StatusOr<std::vector<ConfigField>> fields = ParseConfigChanges(change.config);
  if (!fields.ok()) co_return fields.status();
  if (change.validate_only || fields->empty()) co_return absl::OkStatus();

  const absl::StatusOr<std::string> key = keys_.Topic(change.topic);
  if (!key.ok()) co_return key.status();
  const std::vector<store::FieldView> changes(fields->begin(), fields->end());
  const absl::StatusOr<int64_t> altered = co_await store::HSet(store_, *key, changes);
  co_return altered.status();
}

}  // namespace redouble::korvet
