#include "redouble/sim/operations/korvet/korvet_arguments.h"

#include <limits>
#include <optional>
#include <utility>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::scenarios {

using sim::ArgumentReader;
using sim::Json;

absl::StatusOr<korvet::Keys> ReadKorvetKeys(ArgumentReader& reader) {
  return korvet::Keys::Create(
      reader.OptionalString("keyspace").value_or(std::string(korvet::kDefaultKeyspace)));
}

absl::Status FinishReading(ArgumentReader& reader, const absl::StatusOr<korvet::Keys>& keys) {
  const absl::Status status = reader.Finish();
  return status.ok() ? keys.status() : status;
}

int32_t ReadInt32(ArgumentReader& reader, std::string_view name, int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    reader.Refuse(name, "does not fit 32 bits");
  }
  return static_cast<int32_t>(value);
}

std::vector<int32_t> ReadPartitions(ArgumentReader& reader) {
  std::vector<int32_t> partitions;
  const Json* several = reader.Find("partitions");
  const std::optional<int64_t> one = reader.OptionalInteger("partition");
  if (several == nullptr) {
    if (one) partitions.push_back(ReadInt32(reader, "partition", *one));
    return partitions;
  }
  if (one || !several->is_array()) {
    reader.Refuse("partitions", "expected an array of numbers, and no partition beside it");
    return partitions;
  }
  for (const Json& number : *several) {
    if (!number.is_number_integer()) {
      reader.Refuse("partitions", "expected an array of numbers");
      break;
    }
    partitions.push_back(ReadInt32(reader, "partitions", number.get<int64_t>()));
  }
  return partitions;
}

korvet::Trimming ReadTrimming(ArgumentReader& reader) {
  const std::string name = reader.OptionalString("trimming").value_or("exact");
  if (name == "none") return korvet::Trimming::kNone;
  if (name == "approximate") return korvet::Trimming::kApproximate;
  if (name != "exact") reader.Refuse("trimming", "expected exact, approximate or none");
  return korvet::Trimming::kExact;
}

sim::OperationResult OkOr(const absl::Status& status) {
  REDOUBLE_RETURN_IF_ERROR(status);
  return Json("ok");
}

Json RecordToJson(const korvet::LogRecord& record) {
  Json json = {{"offset", record.offset}};
  if (record.record.key) json["key"] = *record.record.key;
  if (record.record.value) json["value"] = *record.record.value;
  json["timestamp"] = record.record.timestamp_ms;
  for (const korvet::RecordHeader& header : record.record.headers) {
    json["headers"].push_back({header.name, header.value.value_or("")});
  }
  return json;
}

base::Task<absl::StatusOr<korvet::Topic>> DescribeNow(sim::OperationContext context,
                                                      const korvet::Keys& keys,
                                                      std::string_view name) {
  korvet::Topics topics(context.store, context.rng, keys);
  co_return co_await topics.Describe(name);
}

}  // namespace redouble::inline v0_1::scenarios
