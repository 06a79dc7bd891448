#include "redouble/sim/scenario/keyspace.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Batch;
using store::Command;
using store::Reply;

std::string At(std::string_view path, size_t index) {
  return absl::StrCat(base::ToAbsl(path), "/", index);
}

std::string At(std::string_view path, std::string_view name) {
  return absl::StrCat(base::ToAbsl(path), base::PointerPart(name));
}

absl::Status Wrong(std::string_view path, std::string_view expected, const Json& got) {
  return absl::InvalidArgumentError(
      absl::StrCat(base::ToAbsl(path), ": ", base::Expected(expected, got)));
}

// Returns the bytes that a JSON string encodes.
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
    REDOUBLE_ASSIGN_OR_RETURN(std::string text, ReadText(json[i], At(path, i)));
    texts.push_back(std::move(text));
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
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, ReadText(value, path));
  return Json(EncodeBytes(text));
}

absl::StatusOr<Json> NormalizeList(const Json& value, std::string_view path) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> texts, ReadTexts(value, path));
  return EncodeTexts(texts);
}

absl::StatusOr<Json> NormalizeSet(const Json& value, std::string_view path) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> texts, ReadTexts(value, path));
  std::sort(texts.begin(), texts.end());
  const auto twin = std::adjacent_find(texts.begin(), texts.end());
  if (twin != texts.end()) return Wrong(path, "each member once", EncodeBytes(*twin));
  return EncodeTexts(texts);
}

absl::StatusOr<Json> NormalizeHash(const Json& value, std::string_view path) {
  if (!value.is_object()) return Wrong(path, "an object of strings", value);
  std::map<std::string, std::string> hash;
  for (const auto& [name, text] : value.items()) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string field, ReadText(Json(name), At(path, name)));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string bytes, ReadText(text, At(path, name)));
    hash[field] = bytes;
  }
  return EncodeHash(std::move(hash));
}

absl::StatusOr<Json> NormalizeSortedSet(const Json& value, std::string_view path) {
  if (!value.is_array()) return Wrong(path, "an array of [member, score] pairs", value);
  Json pairs = Json::array();
  for (size_t i = 0; i < value.size(); ++i) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> pair,
                              ReadTexts(value[i], At(path, i)));
    double score = 0;
    if (pair.size() != 2 || !absl::SimpleAtod(pair[1], &score)) {
      return Wrong(At(path, i), R"(a pair such as ["member", "1.5"])", value[i]);
    }
    pairs.push_back(EncodeTexts(pair));
  }
  return pairs;
}

absl::StatusOr<Json> NormalizeStream(const Json& value, std::string_view path) {
  ArgumentReader stream(value, path);
  const Json& entries = stream.Any("entries");
  REDOUBLE_RETURN_IF_ERROR(stream.Finish());
  const std::string entries_path = At(path, "entries");
  if (!entries.is_array()) return Wrong(entries_path, "an array of entries", entries);
  Json normalized = Json::array();
  for (size_t i = 0; i < entries.size(); ++i) {
    ArgumentReader entry(entries[i], At(entries_path, i));
    const std::string id = entry.String("id");
    const std::vector<std::string> fields = entry.Strings("fields");
    REDOUBLE_RETURN_IF_ERROR(entry.Finish());
    normalized.push_back(Json{{"id", EncodeBytes(id)}, {"fields", EncodeTexts(fields)}});
  }
  return Json{{"entries", normalized}};
}

absl::StatusOr<Json> DecodeTextValue(Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, store::DecodeString(std::move(reply)));
  return Json(EncodeBytes(text));
}

absl::StatusOr<Json> DecodeListValue(Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                            store::DecodeStrings(std::move(reply)));
  return EncodeTexts(texts);
}

absl::StatusOr<Json> DecodeSetValue(Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> texts, store::DecodeStrings(std::move(reply)));
  std::sort(texts.begin(), texts.end());
  return EncodeTexts(texts);
}

absl::StatusOr<Json> DecodeHashValue(Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> flat,
                            store::DecodeStrings(std::move(reply)));
  std::map<std::string, std::string> hash;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) hash[flat[i]] = flat[i + 1];
  return EncodeHash(std::move(hash));
}

absl::StatusOr<Json> DecodeSortedSetValue(Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string> flat,
                            store::DecodeStrings(std::move(reply)));
  return EncodePairs(flat);
}

absl::StatusOr<Json> DecodeStreamValue(Reply reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> entries, store::DecodeArray(std::move(reply)));
  Json array = Json::array();
  for (Reply& entry : entries) {
    REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> parts, store::DecodeArray(std::move(entry)));
    if (parts.size() != 2) return store::ProtocolError("a stream entry has two parts");
    REDOUBLE_ASSIGN_OR_RETURN(Json id, DecodeTextValue(std::move(parts[0])));
    REDOUBLE_ASSIGN_OR_RETURN(Json fields, DecodeListValue(std::move(parts[1])));
    array.push_back(Json{{"id", std::move(id)}, {"fields", std::move(fields)}});
  }
  return Json{{"entries", array}};
}

// How values of a type are read and written.
struct TypeRow {
  std::string_view type;
  std::string_view command;                   // Reads a value.
  std::array<std::string_view, 3> arguments;  // The arguments after the key, up to an empty one.
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

// A key while the keyspace is being read.
struct Reading {
  std::string key;
  const TypeRow* row;  // Null if the type is not in the table.
  KeyspaceEntry entry;
};

// Reads TYPE and PTTL of all keys; leaves out keys that no longer exist.
base::Task<absl::StatusOr<std::vector<Reading>>> ReadTypes(store::Store& store,
                                                           std::vector<std::string> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    batch.Add(Command::Named("TYPE")).Add(key);
    batch.Add(Command::Named("PTTL")).Add(key);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  std::vector<Reading> readings;
  for (size_t i = 0; i < keys.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string type, store::DecodeString(std::move(replies[2 * i])));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t pttl,
                                 store::DecodeInteger(std::move(replies[2 * i + 1])));
    if (type == "none" || pttl == -2) continue;
    Reading reading{keys[i], FindType(type), {type, nullptr, std::nullopt}};
    if (pttl >= 0) reading.entry.ttl_ms = pttl;
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  for (size_t i = 0; i < read.size(); ++i) {
    // The key expired after its type was read.
    if (replies[i].is_nil()) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(read[i]->entry.value, read[i]->row->decode(std::move(replies[i])));
  }
  co_return absl::OkStatus();
}

}  // namespace

base::Task<absl::StatusOr<Keyspace>> DumpKeyspace(store::Store& store) {
  store::ScanOptions options;
  options.count = 1000;
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> keys,
                               co_await store::ScanAll(store, options));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reading> readings,
                               co_await ReadTypes(store, std::move(keys)));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadValues(store, readings));
  Keyspace keyspace;
  for (Reading& reading : readings) {
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
  return absl::InvalidArgumentError(absl::StrCat(base::ToAbsl(path),
                                                 ": no value is known for type ",
                                                 base::Abbreviated(Json(std::string(type)))));
}

}  // namespace redouble::inline v0_1::sim
