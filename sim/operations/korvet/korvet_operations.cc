#include "redouble/sim/operations/korvet/korvet_operations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topic_config.h"
#include "redouble/core/korvet/topics/topic_id.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/korvet/korvet_arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using korvet::ConfigEntry;
using korvet::Keys;
using korvet::Topic;
using korvet::TopicId;
using korvet::Topics;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

// The entries are views into the arguments.
std::vector<ConfigEntry> ReadConfig(ArgumentReader& reader) {
  std::vector<ConfigEntry> entries;
  const Json* config = reader.Find("config");
  if (config == nullptr) return entries;
  if (!config->is_object()) {
    reader.Refuse("config", "expected an object of texts");
    return entries;
  }
  for (const auto& item : config->items()) {
    if (item.value().is_string()) {
      entries.push_back({item.key(), item.value().get_ref<const std::string&>()});
    } else {
      reader.Refuse("config", "expected an object of texts");
    }
  }
  return entries;
}

std::optional<TopicId> ReadId(ArgumentReader& reader, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::optional<TopicId> id = TopicId::Parse(*text);
  if (!id) reader.Refuse("id", "expected a topic id of 22 or 36 characters");
  return id;
}

OperationResult ToJson(const absl::StatusOr<Topic>& topic) {
  REDOUBLE_RETURN_IF_ERROR(topic.status());
  Json config = Json::object();
  for (const auto& [field, value] : korvet::FormatTopicConfig(topic->config)) config[field] = value;
  return Json{{"id", topic->id.ToString()},
              {"name", topic->name},
              {"partitions", topic->partitions},
              {"config", std::move(config)}};
}

base::Task<OperationResult> CreateTopic(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("name");
  const std::vector<ConfigEntry> config = ReadConfig(reader);
  korvet::NewTopic topic;
  topic.name = name;
  topic.partitions = ReadInt32(
      reader, "partitions", reader.IntegerOr("partitions", korvet::NewTopic::kDefaultPartitions));
  topic.config = config;
  topic.id = ReadId(reader, reader.OptionalString("id"));
  topic.validate_only = reader.BoolOr("validate_only", false);
  korvet::Hardening hardening;
  hardening.atomic_creation = reader.BoolOr("atomic_creation", false);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys, hardening);
  co_return ToJson(co_await topics.Create(topic));
}

base::Task<OperationResult> DescribeTopic(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("name");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys);
  co_return ToJson(co_await topics.Describe(name));
}

base::Task<OperationResult> DescribeTopicById(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::optional<TopicId> id = ReadId(reader, reader.String("id"));
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys);
  co_return ToJson(co_await topics.DescribeById(*id));
}

base::Task<OperationResult> ListTopics(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> names, co_await topics.List());
  co_return Json(names);
}

base::Task<OperationResult> DeleteTopic(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("name");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys);
  co_return OkOr(co_await topics.Delete(name));
}

base::Task<OperationResult> AddPartitions(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("name");
  korvet::PartitionIncrease increase;
  increase.topic = name;
  increase.total = ReadInt32(reader, "total", reader.Integer("total"));
  increase.validate_only = reader.BoolOr("validate_only", false);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys);
  co_return OkOr(co_await topics.AddPartitions(increase));
}

base::Task<OperationResult> AlterTopicConfig(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("name");
  const std::vector<ConfigEntry> config = ReadConfig(reader);
  korvet::ConfigChange change;
  change.topic = name;
  change.config = config;
  change.validate_only = reader.BoolOr("validate_only", false);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  Topics topics(context.store, context.rng, *keys);
  co_return OkOr(co_await topics.AlterConfig(change));
}

}  // namespace

sim::OperationTable KorvetOperations() {
  sim::OperationTable table;
  table.Add("create_topic", CreateTopic);
  table.Add("describe_topic", DescribeTopic);
  table.Add("describe_topic_by_id", DescribeTopicById);
  table.Add("list_topics", ListTopics);
  table.Add("delete_topic", DeleteTopic);
  table.Add("add_partitions", AddPartitions);
  table.Add("alter_topic_config", AlterTopicConfig);
  AddKorvetLogOperations(table);
  AddKorvetGroupOperations(table);
  AddKorvetMemberOperations(table);
  return table;
}

}  // namespace redouble::inline v0_1::scenarios
