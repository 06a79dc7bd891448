#include "sim/scenario/keyspace.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/keys.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/bytes.h"

namespace redouble::sim {
namespace {

using store::Batch;
using store::Command;
using store::Reply;

std::string At(std::string_view path, size_t index) {
  return absl::StrCat(base::ToAbsl(path), "/", index);
}

std::string At(std::string_view path, std::string_view name) {
  return absl::StrCat(base::ToAbsl(path), PointerPart(name));
}

absl::Status Wrong(std::string_view path, std::string_view expected, const Json& got) {
  return absl::InvalidArgumentError(absl::StrCat(
      base::ToAbsl(path), ": expected ", base::ToAbsl(expected), ", got ", Abbreviated(got)));
}

// The bytes of a JSON string.
absl::StatusOr<std::string> ReadText(const Json& json, std::string_view path) {
  if (!json.is_string()) return Wrong(path, "a string", json);
  absl::StatusOr<std::string> bytes = DecodeBytes(json.get_ref<const std::string&>());
  if (bytes.ok()) return bytes;
  return absl::InvalidArgumentError(
      absl::StrCat(base::ToAbsl(path), ": ", bytes.status().message()));
}

absl::StatusOr<std::vector<std::string>> ReadTexts(const Json& json, std::string_view path) {
  if (!json.is_array()) return Wrong(path, "an array of strings", json);
  std::vector<std::string> texts;
  for (size_t i = 0; i < json.size(); ++i) {
    absl::StatusOr<std::string> text = ReadText(json[i], At(path, i));
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  return texts;
}

Json EncodeTexts(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(EncodeBytes(text));
  return array;
}

Json EncodeHash(std::map<std::string, std::string> hash) {
  Json object = Json::object();
  for (const auto& [field, value] : hash) object[EncodeBytes(field)] = EncodeBytes(value);
  return object;
}

Json EncodePairs(const std::vector<std::string>& flat) {
  Json pairs = Json::array();
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    pairs.push_back(EncodeTexts({flat[i], flat[i + 1]}));
  }
  return pairs;
}

absl::StatusOr<Json> NormalizeString(const Json& value, std::string_view path) {
  const absl::StatusOr<std::string> text = ReadText(value, path);
  if (!text.ok()) return text.status();
  return Json(EncodeBytes(*text));
}

absl::StatusOr<Json> NormalizeList(const Json& value, std::string_view path) {
  const absl::StatusOr<std::vector<std::string>> texts = ReadTexts(value, path);
  if (!texts.ok()) return texts.status();
  return EncodeTexts(*texts);
}

absl::StatusOr<Json> NormalizeSet(const Json& value, std::string_view path) {
  absl::StatusOr<std::vector<std::string>> texts = ReadTexts(value, path);
  if (!texts.ok()) return texts.status();
  std::sort(texts->begin(), texts->end());
  const auto twin = std::adjacent_find(texts->begin(), texts->end());
  if (twin != texts->end()) return Wrong(path, "each member once", EncodeBytes(*twin));
  return EncodeTexts(*texts);
}

absl::StatusOr<Json> NormalizeHash(const Json& value, std::string_view path) {
  if (!value.is_object()) return Wrong(path, "an object of strings", value);
  std::map<std::string, std::string> hash;
  for (const auto& [name, text] : value.items()) {
    const absl::StatusOr<std::string> field = ReadText(Json(name), At(path, name));
    if (!field.ok()) return field.status();
    const absl::StatusOr<std::string> bytes = ReadText(text, At(path, name));
    if (!bytes.ok()) return bytes.status();
    hash[*field] = *bytes;
  }
  return EncodeHash(std::move(hash));
}

absl::StatusOr<Json> NormalizeSortedSet(const Json& value, std::string_view path) {
  if (!value.is_array()) return Wrong(path, "an array of [member, score] pairs", value);
  Json pairs = Json::array();
  for (size_t i = 0; i < value.size(); ++i) {
    const absl::StatusOr<std::vector<std::string>> pair = ReadTexts(value[i], At(path, i));
    if (!pair.ok()) return pair.status();
    double score = 0;
    if (pair->size() != 2 || !absl::SimpleAtod((*pair)[1], &score)) {
      return Wrong(At(path, i), R"(a pair such as ["member", "1.5"])", value[i]);
    }
    pairs.push_back(EncodeTexts(*pair));
  }
  return pairs;
}

absl::StatusOr<Json> NormalizeStream(const Json& value, std::string_view path) {
  ArgumentReader stream(value, path);
  const Json& entries = stream.Any("entries");
  if (absl::Status status = stream.Finish(); !status.ok()) return status;
  const std::string entries_path = At(path, "entries");
  if (!entries.is_array()) return Wrong(entries_path, "an array of entries", entries);
  Json normalized = Json::array();
  for (size_t i = 0; i < entries.size(); ++i) {
    ArgumentReader entry(entries[i], At(entries_path, i));
    const std::string id = entry.String("id");
    const std::vector<std::string> fields = entry.Strings("fields");
    if (absl::Status status = entry.Finish(); !status.ok()) return status;
    normalized.push_back(Json{{"id", EncodeBytes(id)}, {"fields", EncodeTexts(fields)}});
  }
  return Json{{"entries", normalized}};
}

absl::StatusOr<Json> DecodeTextValue(Reply reply) {
  const absl::StatusOr<std::string> text = store::DecodeString(std::move(reply));
  if (!text.ok()) return text.status();
  return Json(EncodeBytes(*text));
}

absl::StatusOr<Json> DecodeListValue(Reply reply) {
  const absl::StatusOr<std::vector<std::string>> texts = store::DecodeStrings(std::move(reply));
  if (!texts.ok()) return texts.status();
  return EncodeTexts(*texts);
}

absl::StatusOr<Json> DecodeSetValue(Reply reply) {
  absl::StatusOr<std::vector<std::string>> texts = store::DecodeStrings(std::move(reply));
  if (!texts.ok()) return texts.status();
  std::sort(texts->begin(), texts->end());
  return EncodeTexts(*texts);
}

absl::StatusOr<Json> DecodeHashValue(Reply reply) {
  const absl::StatusOr<std::vector<std::string>> flat = store::DecodeStrings(std::move(reply));
  if (!flat.ok()) return flat.status();
  std::map<std::string, std::string> hash;
  for (size_t i = 0; i + 1 < flat->size(); i += 2) hash[(*flat)[i]] = (*flat)[i + 1];
  return EncodeHash(std::move(hash));
}

absl::StatusOr<Json> DecodeSortedSetValue(Reply reply) {
  const absl::StatusOr<std::vector<std::string>> flat = store::DecodeStrings(std::move(reply));
  if (!flat.ok()) return flat.status();
  return EncodePairs(*flat);
}

absl::StatusOr<Json> DecodeStreamValue(Reply reply) {
  absl::StatusOr<std::vector<Reply>> entries = store::DecodeArray(std::move(reply));
  if (!entries.ok()) return entries.status();
  Json array = Json::array();
  for (Reply& entry : *entries) {
    absl::StatusOr<std::vector<Reply>> parts = store::DecodeArray(std::move(entry));
    if (!parts.ok()) return parts.status();
    if (parts->size() != 2) return store::ProtocolError("a stream entry has two parts");
    absl::StatusOr<Json> id = DecodeTextValue(std::move((*parts)[0]));
    if (!id.ok()) return id;
    absl::StatusOr<Json> fields = DecodeListValue(std::move((*parts)[1]));
    if (!fields.ok()) return fields;
    array.push_back(Json{{"id", *id}, {"fields", *fields}});
  }
  return Json{{"entries", array}};
}

// What is known of a type: one row makes it readable and writable.
struct TypeRow {
  std::string_view type;
  std::string_view command;                   // Reads the value of a key ...
  std::array<std::string_view, 3> arguments;  // ... with these behind the key, up to an empty one.
  absl::StatusOr<Json> (*decode)(Reply reply);
  absl::StatusOr<Json> (*normalize)(const Json& value, std::string_view path);
};

constexpr std::array<TypeRow, 6> kTypes = {{
    {"string", "GET", {}, DecodeTextValue, NormalizeString},
    {"list", "LRANGE", {"0", "-1"}, DecodeListValue, NormalizeList},
    {"set", "SMEMBERS", {}, DecodeSetValue, NormalizeSet},
    {"hash", "HGETALL", {}, DecodeHashValue, NormalizeHash},
    {"zset", "ZRANGE", {"0", "-1", "WITHSCORES"}, DecodeSortedSetValue, NormalizeSortedSet},
    {"stream", "XRANGE", {"-", "+"}, DecodeStreamValue, NormalizeStream},
}};

const TypeRow* FindType(std::string_view type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// A key on its way through the dump.
struct Reading {
  std::string key;
  const TypeRow* row;  // Null for a type that is not in the table.
  KeyspaceEntry entry;
};

// TYPE and PTTL of all keys; those that are gone are left out.
base::Task<absl::StatusOr<std::vector<Reading>>> ReadTypes(store::Store& store,
                                                           std::vector<std::string> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    batch.Add(Command::Named("TYPE")).Add(key);
    batch.Add(Command::Named("PTTL")).Add(key);
  }
  absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return replies.status();
  std::vector<Reading> readings;
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::StatusOr<std::string> type = store::DecodeString(std::move((*replies)[2 * i]));
    if (!type.ok()) co_return type.status();
    const absl::StatusOr<int64_t> pttl = store::DecodeInteger(std::move((*replies)[2 * i + 1]));
    if (!pttl.ok()) co_return pttl.status();
    if (*type == "none" || *pttl == -2) continue;
    Reading reading{keys[i], FindType(*type), {*type, nullptr, std::nullopt}};
    if (*pttl >= 0) reading.entry.ttl_ms = *pttl;
    readings.push_back(std::move(reading));
  }
  co_return readings;
}

// Fills in the values.
base::Task<absl::Status> ReadValues(store::Store& store, std::vector<Reading>& readings) {
  Batch batch(Batch::Atomicity::kPipeline);
  std::vector<Reading*> read;
  for (Reading& reading : readings) {
    if (reading.row == nullptr) continue;
    read.push_back(&reading);
    Command& command = batch.Add(Command::Named(reading.row->command)).Add(reading.key);
    for (const std::string_view argument : reading.row->arguments) {
      if (!argument.empty()) command.Add(argument);
    }
  }
  absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return replies.status();
  for (size_t i = 0; i < read.size(); ++i) {
    // Expired since its type was read.
    if ((*replies)[i].is_nil()) continue;
    absl::StatusOr<Json> value = read[i]->row->decode(std::move((*replies)[i]));
    if (!value.ok()) co_return value.status();
    read[i]->entry.value = *std::move(value);
  }
  co_return absl::OkStatus();
}

}  // namespace

base::Task<absl::StatusOr<Keyspace>> DumpKeyspace(store::Store& store) {
  store::ScanOptions options;
  options.count = 1000;
  absl::StatusOr<std::vector<std::string>> keys = co_await store::ScanAll(store, options);
  if (!keys.ok()) co_return keys.status();
  absl::StatusOr<std::vector<Reading>> readings = co_await ReadTypes(store, *std::move(keys));
  if (!readings.ok()) co_return readings.status();
  const absl::Status status = co_await ReadValues(store, *readings);
  if (!status.ok()) co_return status;
  Keyspace keyspace;
  for (Reading& reading : *readings) {
    const bool gone = reading.row != nullptr && reading.entry.value.is_null();
    if (!gone) keyspace[std::move(reading.key)] = std::move(reading.entry);
  }
  co_return keyspace;
}

Json KeyspaceToJson(const Keyspace& keyspace) {
  Json json = Json::object();
  for (const auto& [key, entry] : keyspace) {
    Json& row = json[EncodeBytes(key)];
    row = Json{{"type", entry.type}, {"value", entry.value}};
    if (entry.ttl_ms) row["ttl_ms"] = *entry.ttl_ms;
  }
  return json;
}

absl::StatusOr<Json> NormalizeValue(std::string_view type, const Json& value,
                                    std::string_view path) {
  const TypeRow* row = FindType(type);
  if (row != nullptr) return row->normalize(value, path);
  return absl::InvalidArgumentError(absl::StrCat(
      base::ToAbsl(path), ": no value is known for type ", Abbreviated(Json(std::string(type)))));
}

}  // namespace redouble::sim
