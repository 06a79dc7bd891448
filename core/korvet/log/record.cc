#include "redouble/core/korvet/log/record.h"

#include <limits>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

constexpr std::string_view kKey = "key";
constexpr std::string_view kValue = "value";
constexpr std::string_view kTimestamp = "timestamp";
constexpr std::string_view kHeaderPrefix = "header.";

absl::Status Corrupt(store::StreamId id, absl::string_view what) {
  return MakeError(ErrorCode::kCorruptMessage,
                   absl::StrCat("the entry ", id.ToString(), " is no record: ", what));
}

// The three fields that must not be repeated.
struct SingleFields {
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::optional<std::string> timestamp;

  // The place of the field with that name, or null for any other name.
  std::optional<std::string>* Find(std::string_view name) {
    if (name == kKey) return &key;
    if (name == kValue) return &value;
    if (name == kTimestamp) return &timestamp;
    return nullptr;
  }
};

absl::StatusOr<int64_t> TimestampOf(const std::optional<std::string>& text, store::StreamId id) {
  if (!text) {
    if (id.ms > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Corrupt(id, "it has no timestamp, and the time of its id is above 63 bits");
    }
    return static_cast<int64_t>(id.ms);
  }
  const std::optional<int64_t> timestamp_ms = base::ParseInt64(*text);
  if (!timestamp_ms) {
    return Corrupt(id, absl::StrCat("its timestamp is \"", absl::CEscape(*text), "\""));
  }
  return *timestamp_ms;
}

}  // namespace

int64_t SizeOf(const Record& record) {
  size_t size = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
  for (const RecordHeader& header : record.headers) {
    size += header.name.size() + (header.value ? header.value->size() : 0);
  }
  return static_cast<int64_t>(size);
}

RecordFields EncodeRecord(const Record& record) {
  RecordFields fields;
  fields.reserve(3 + record.headers.size());
  if (record.key) fields.emplace_back(kKey, *record.key);
  if (record.value) fields.emplace_back(kValue, *record.value);
  fields.emplace_back(kTimestamp, base::FormatInt64(record.timestamp_ms));
  for (const RecordHeader& header : record.headers) {
    fields.emplace_back(std::string(kHeaderPrefix) + header.name, header.value.value_or(""));
  }
  return fields;
}

absl::StatusOr<Record> DecodeRecord(std::span<const std::pair<std::string, std::string>> fields,
                                    store::StreamId id) {
  Record record;
  SingleFields singles;
  for (const auto& [name, value] : fields) {
    if (std::optional<std::string>* single = singles.Find(name)) {
      if (single->has_value()) return Corrupt(id, absl::StrCat("it has two fields \"", name, "\""));
      *single = value;
    } else if (name.starts_with(kHeaderPrefix)) {
      record.headers.push_back({name.substr(kHeaderPrefix.size()), value});
    }
  }
  REDOUBLE_ASSIGN_OR_RETURN(record.timestamp_ms, TimestampOf(singles.timestamp, id));
  record.key = std::move(singles.key);
  record.value = std::move(singles.value);
  return record;
}

}  // namespace redouble::inline v0_1::korvet
