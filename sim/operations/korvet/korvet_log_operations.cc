#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/korvet/korvet_arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using korvet::Keys;
using korvet::Log;
using korvet::NewRecord;
using korvet::Topic;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

// Reads [name, value] or [name, null].
std::optional<korvet::RecordHeader> HeaderOf(const Json& json) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_string()) return std::nullopt;
  korvet::RecordHeader header;
  header.name = json[0].get<std::string>();
  if (json[1].is_string()) header.value = json[1].get<std::string>();
  if (!json[1].is_string() && !json[1].is_null()) return std::nullopt;
  return header;
}

NewRecord ReadRecord(ArgumentReader& reader) {
  NewRecord record;
  record.key = reader.OptionalString("key");
  record.value = reader.OptionalString("value");
  record.timestamp_ms = reader.OptionalInteger("timestamp");
  if (const auto partition = reader.OptionalInteger("partition")) {
    record.partition = ReadInt32(reader, "partition", *partition);
  }
  if (const std::optional<std::string> id = reader.OptionalString("id")) {
    record.id = store::StreamId::Parse(*id);
    if (!record.id) reader.Refuse("id", "expected the id of an entry");
  }
  const Json* headers = reader.Find("headers");
  if (headers == nullptr) return record;
  if (!headers->is_array()) reader.Refuse("headers", "expected an array");
  for (const Json& item : headers->is_array() ? *headers : Json::array()) {
    std::optional<korvet::RecordHeader> header = HeaderOf(item);
    if (!header) reader.Refuse("headers", "expected [name, value]");
    record.headers.push_back(header.value_or(korvet::RecordHeader()));
  }
  return record;
}

absl::StatusOr<std::vector<NewRecord>> ReadRecords(ArgumentReader& reader) {
  std::vector<NewRecord> records;
  const Json& array = reader.Any("records");
  if (!array.is_array()) {
    reader.Refuse("records", "expected an array of records");
    return records;
  }
  for (size_t i = 0; i < array.size(); ++i) {
    ArgumentReader record(array[i], "/records/" + std::to_string(i));
    records.push_back(ReadRecord(record));
    REDOUBLE_RETURN_IF_ERROR(record.Finish());
  }
  return records;
}

struct ProduceArguments {
  std::string topic;
  std::optional<int64_t> partition;
  std::vector<NewRecord> records;
  std::string codec;
  std::string batch_id;
  korvet::ProducerOptions options;
};

ProduceArguments ReadProduce(ArgumentReader& reader) {
  ProduceArguments arguments;
  arguments.topic = reader.String("topic");
  arguments.partition = reader.OptionalInteger("partition");
  arguments.codec = reader.OptionalString("codec").value_or("none");
  arguments.options.acks = ReadInt32(reader, "acks", reader.IntegerOr("acks", -1));
  arguments.options.trimming = ReadTrimming(reader);
  arguments.batch_id = reader.OptionalString("batch_id").value_or("");
  arguments.options.hardening.write_batches_once = reader.BoolOr("write_batches_once", false);
  arguments.options.hardening.stream_exists = reader.BoolOr("stream_exists", false);
  arguments.options.hardening.trim_by_server_time = reader.BoolOr("trim_by_server_time", false);
  arguments.options.hardening.atomic_batches = reader.BoolOr("atomic_batches", false);
  arguments.options.now_ms = reader.OptionalInteger("now");
  arguments.options.max_record_bytes =
      reader.IntegerOr("max_record_bytes", arguments.options.max_record_bytes);
  if (const auto count = reader.OptionalInteger("max_records_per_write")) {
    if (*count < 1) reader.Refuse("max_records_per_write", "expected a number from 1 up");
    arguments.options.max_records_per_write = static_cast<size_t>(*count);
  }
  return arguments;
}

Json ToJson(const korvet::Appended& appended) {
  return {{"base_offset", appended.base_offset},
          {"offsets", appended.offsets},
          {"log_append_time", appended.append_time_ms}};
}

base::Task<OperationResult> Produce(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  ProduceArguments request = ReadProduce(reader);
  const absl::StatusOr<std::vector<NewRecord>> records = ReadRecords(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));
  REDOUBLE_CO_RETURN_IF_ERROR(records.status());
  request.options.codec = request.codec;

  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic,
                               co_await DescribeNow(context, *keys, request.topic));
  korvet::Producer producer(context.store, context.clock, *keys, topic, request.options);
  if (request.partition) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto appended,
                                 co_await producer.Append(static_cast<int32_t>(*request.partition),
                                                          *records, request.batch_id));
    co_return ToJson(appended);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto sent, co_await producer.Send(*records, request.batch_id));
  Json json = Json::array();
  for (const absl::StatusOr<korvet::RecordMetadata>& record : sent) {
    REDOUBLE_CO_RETURN_IF_ERROR(record.status());
    json.push_back({{"partition", record->partition}, {"offset", record->offset}});
  }
  co_return json;
}

base::Task<OperationResult> Fetch(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("topic");
  korvet::FetchPosition position;
  position.partition = ReadInt32(reader, "partition", reader.IntegerOr("partition", 0));
  position.offset = reader.Integer("offset");
  position.max_bytes = reader.IntegerOr("partition_max_bytes", position.max_bytes);
  korvet::FetchRequest request;
  request.positions = std::span(&position, 1);
  request.max_records = reader.IntegerOr("max_records", request.max_records);
  request.max_bytes = reader.IntegerOr("max_bytes", request.max_bytes);
  request.min_bytes = reader.IntegerOr("min_bytes", request.min_bytes);
  request.max_wait = absl::Milliseconds(reader.IntegerOr("max_wait_ms", 0));
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await DescribeNow(context, *keys, name));
  Log log(context.store, context.clock, *keys, topic);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto fetched, co_await log.Fetch(request));
  const korvet::FetchedPartition& partition = fetched.front();
  REDOUBLE_CO_RETURN_IF_ERROR(partition.status);
  Json json = {{"records", Json::array()},
               {"next", partition.next_offset},
               {"log_start", partition.bounds.start},
               {"high_watermark", partition.bounds.end}};
  for (const korvet::LogRecord& record : partition.records) {
    json["records"].push_back(RecordToJson(record));
  }
  co_return json;
}

base::Task<OperationResult> ListOffsets(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("topic");
  const int32_t partition = ReadInt32(reader, "partition", reader.IntegerOr("partition", 0));
  const int64_t timestamp = reader.Integer("timestamp");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await DescribeNow(context, *keys, name));
  Log log(context.store, context.clock, *keys, topic);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto listed, co_await log.ListOffset(partition, timestamp));
  co_return Json{{"offset", listed.offset}, {"timestamp", listed.timestamp_ms}};
}

base::Task<OperationResult> LogBounds(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("topic");
  const int32_t partition = ReadInt32(reader, "partition", reader.IntegerOr("partition", 0));
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await DescribeNow(context, *keys, name));
  Log log(context.store, context.clock, *keys, topic);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto bounds, co_await log.Bounds(partition));
  co_return Json{{"log_start", bounds.start}, {"high_watermark", bounds.end}};
}

base::Task<OperationResult> SweepLogs(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<Keys> keys = ReadKorvetKeys(reader);
  const std::string name = reader.String("topic");
  const std::vector<int32_t> partitions = ReadPartitions(reader);
  korvet::SweepOptions options;
  options.partitions = partitions;
  options.by_time = reader.BoolOr("by_time", true);
  options.by_size = reader.BoolOr("by_size", true);
  options.trimming = ReadTrimming(reader);
  options.now_ms = reader.OptionalInteger("now");
  REDOUBLE_CO_RETURN_IF_ERROR(FinishReading(reader, keys));

  REDOUBLE_CO_ASSIGN_OR_RETURN(const Topic topic, co_await DescribeNow(context, *keys, name));
  Log log(context.store, context.clock, *keys, topic);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t removed, co_await log.Sweep(options));
  co_return Json{{"removed", removed}};
}

}  // namespace

void AddKorvetLogOperations(sim::OperationTable& table) {
  table.Add("produce", Produce);
  table.Add("fetch", Fetch);
  table.Add("list_offsets", ListOffsets);
  table.Add("log_bounds", LogBounds);
  table.Add("sweep_logs", SweepLogs);
}

}  // namespace redouble::inline v0_1::scenarios
