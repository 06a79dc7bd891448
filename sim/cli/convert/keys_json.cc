#include "redouble/sim/cli/convert/keys_json.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/append_only/effect_runner.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/field_deadlines.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/json/strict_json.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::Database;
using memory::Value;

Json GroupJson(const std::string& name, const memory::StreamGroup& group) {
  Json consumers = Json::array();
  for (const auto& [consumer, unused] : group.consumers()) {
    consumers.push_back(EncodeBytes(consumer));
  }
  Json pending = Json::array();
  for (const auto& [id, entry] : group.pending()) {
    pending.push_back({{"id", id.ToString()},
                       {"consumer", EncodeBytes(entry.consumer->name)},
                       {"delivered_at_ms", entry.delivered_ms},
                       {"deliveries", entry.deliveries}});
  }
  Json json = {{"name", EncodeBytes(name)},
               {"last_delivered_id", group.position.last_delivered_id.ToString()},
               {"entries_read", nullptr},
               {"consumers", std::move(consumers)},
               {"pending", std::move(pending)}};
  if (group.position.entries_read) json["entries_read"] = *group.position.entries_read;
  return json;
}

Json StreamJson(const memory::Stream& stream) {
  Json entries = Json::array();
  for (auto at = stream.From(memory::StreamId::Min()); at.valid(); at.Next()) {
    Json entry = Json::array({at.id().ToString()});
    at.VisitFields([&](const memory::ListpackValue& field, const memory::ListpackValue& value) {
      entry.push_back(EncodeBytes(field.ToString()));
      entry.push_back(EncodeBytes(value.ToString()));
    });
    entries.push_back(std::move(entry));
  }
  Json groups = Json::array();
  for (const auto& [name, group] : stream.groups()) groups.push_back(GroupJson(name, group));
  return {{"entries", std::move(entries)},
          {"last_id", stream.last_id().ToString()},
          {"entries_added", stream.entries_added()},
          {"max_deleted_id", stream.max_deleted_id().ToString()},
          {"groups", std::move(groups)}};
}

Json ValueJson(const Value& value) {
  Json json = Json::array();
  if (const auto* list = value.As<memory::List>()) {
    for (auto at = list->First(); at.valid(); at.Next()) {
      json.push_back(EncodeBytes(at.value().ToString()));
    }
  } else if (const auto* set = value.As<memory::Set>()) {
    set->ForEach([&](std::string_view member) { json.push_back(EncodeBytes(member)); });
  } else if (const auto* sorted = value.As<memory::SortedSet>()) {
    sorted->ForEach(0, sorted->size(), false, [&](std::string_view member, double score) {
      json.push_back(Json::array({EncodeBytes(member), absl::StrFormat("%.17g", score)}));
    });
  } else if (const auto* hash = value.As<memory::Hash>()) {
    hash->ForEach([&](std::string_view field, std::string_view text) {
      json.push_back(Json::array({EncodeBytes(field), EncodeBytes(text)}));
    });
  } else if (const auto* stream = value.As<memory::Stream>()) {
    json = StreamJson(*stream);
  } else {
    Value::TextBuffer text;
    json = EncodeBytes(value.Text(text));
  }
  return json;
}

Json FieldTimesJson(const memory::FieldDeadlines::List& times) {
  Json json = Json::array();
  for (const auto& [field, deadline_ms] : times) {
    json.push_back(Json::array({EncodeBytes(field), deadline_ms}));
  }
  return json;
}

// Reads the text as commands that make its keys.
class KeysReader {
 public:
  explicit KeysReader(memory::Engine& engine)
      : runner_(engine, memory::EngineCore::Authority::kLog) {}

  absl::Status Read(const Json& json) {
    REDOUBLE_RETURN_IF_ERROR(Run({"FLUSHALL"}, "the file"));
    REDOUBLE_RETURN_IF_ERROR(Run({"FUNCTION", "FLUSH"}, "the file"));
    REDOUBLE_RETURN_IF_ERROR(Expect(json.is_object(), "the file", "an object"));
    for (const Json& code : ListOf(json, "functions")) {
      REDOUBLE_ASSIGN_OR_RETURN(const std::string text, Text(code, "functions"));
      REDOUBLE_RETURN_IF_ERROR(Run({"FUNCTION", "LOAD", text}, "functions"));
    }
    size_t index = 0;
    for (const Json& key : ListOf(json, "keys")) {
      REDOUBLE_RETURN_IF_ERROR(ReadKey(key, absl::StrCat("keys[", index++, "]")));
    }
    return absl::OkStatus();
  }

 private:
  using Words = std::vector<std::string>;

  static absl::Status Expect(bool holds, absl::string_view place, absl::string_view what) {
    if (holds) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(place, ": expected ", what));
  }

  // The elements of a list; none if it is missing.
  static const Json& ListOf(const Json& json, const char* name) {
    static const Json* const kNone = new Json(Json::array());
    const auto found = json.find(name);
    return found != json.end() && found->is_array() ? *found : *kNone;
  }

  static absl::StatusOr<std::string> Text(const Json& json, const std::string& place) {
    REDOUBLE_RETURN_IF_ERROR(Expect(json.is_string(), place, "a string"));
    return DecodeBytes(json.get_ref<const std::string&>());
  }

  static absl::StatusOr<std::string> TextOf(const Json& json, const char* name,
                                            const std::string& place) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    const std::string inner = absl::StrCat(place, ".", name);
    REDOUBLE_RETURN_IF_ERROR(Expect(found != json.end(), inner, "a value"));
    if (found->is_number_integer()) return absl::StrCat(found->get<int64_t>());
    return Text(*found, inner);
  }

  absl::Status Run(const Words& words, const std::string& place) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    const store::Reply reply = runner_.Run(views);
    if (!reply.is_error()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(place, ": ", base::ToAbsl(reply.text())));
  }

  absl::Status ReadKey(const Json& json, const std::string& place) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string db, TextOf(json, "db", place));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string key, TextOf(json, "key", place));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string type, TextOf(json, "type", place));
    REDOUBLE_RETURN_IF_ERROR(Run({"SELECT", db}, place));
    const auto value = json.find("value");
    const std::string inner = place + ".value";
    REDOUBLE_RETURN_IF_ERROR(Expect(value != json.end(), inner, "a value"));
    REDOUBLE_RETURN_IF_ERROR(ReadValue(key, type, *value, inner));
    REDOUBLE_RETURN_IF_ERROR(ReadFieldTimes(key, json, place + ".fields_expire_at_ms"));
    const auto deadline = json.find("expires_at_ms");
    if (deadline == json.end()) return absl::OkStatus();
    REDOUBLE_ASSIGN_OR_RETURN(const std::string ms, TextOf(json, "expires_at_ms", place));
    return Run({"PEXPIREAT", key, ms}, place);
  }

  absl::Status ReadValue(const std::string& key, const std::string& type, const Json& value,
                         const std::string& place) {
    if (type == "string") {
      REDOUBLE_ASSIGN_OR_RETURN(const std::string text, Text(value, place));
      return Run({"SET", key, text}, place);
    }
    if (type == "stream") return ReadStream(key, value, place);
    if (type == "list") return ReadElements({"RPUSH", key}, value, place, 1);
    if (type == "set") return ReadElements({"SADD", key}, value, place, 1);
    if (type == "hash") return ReadElements({"HSET", key}, value, place, 2);
    if (type == "zset") return ReadElements({"ZADD", key}, value, place, 2);
    return Expect(false, place, "a value of the type string, list, set, hash, zset or stream");
  }

  absl::Status ReadFieldTimes(const std::string& key, const Json& json, const std::string& place) {
    for (const Json& row : ListOf(json, "fields_expire_at_ms")) {
      REDOUBLE_RETURN_IF_ERROR(
          Expect(row.is_array() && row.size() == 2 && row[1].is_number_integer(), place,
                 "pairs of a field and a time"));
      REDOUBLE_ASSIGN_OR_RETURN(const std::string field, Text(row[0], place));
      const std::string ms = absl::StrCat(row[1].get<int64_t>());
      REDOUBLE_RETURN_IF_ERROR(Run({"HPEXPIREAT", key, ms, "FIELDS", "1", field}, place));
    }
    return absl::OkStatus();
  }

  // Runs the command for each element. A pair of a sorted set has its score at the end.
  absl::Status ReadElements(const Words& command, const Json& value, const std::string& place,
                            size_t width) {
    REDOUBLE_RETURN_IF_ERROR(Expect(value.is_array(), place, "an array"));
    for (const Json& element : value) {
      Words words = command;
      if (width == 1) {
        REDOUBLE_ASSIGN_OR_RETURN(words.emplace_back(), Text(element, place));
      } else {
        REDOUBLE_RETURN_IF_ERROR(
            Expect(element.is_array() && element.size() == 2, place, "a pair"));
        REDOUBLE_ASSIGN_OR_RETURN(words.emplace_back(), Text(element[0], place));
        REDOUBLE_ASSIGN_OR_RETURN(words.emplace_back(), Text(element[1], place));
        if (command[0] == "ZADD") std::swap(words[2], words[3]);
      }
      REDOUBLE_RETURN_IF_ERROR(Run(words, place));
    }
    return absl::OkStatus();
  }

  absl::Status ReadStream(const std::string& key, const Json& value, const std::string& place) {
    REDOUBLE_RETURN_IF_ERROR(Expect(value.is_object(), place, "an object"));
    // A group that is removed again makes the stream, which may have no entry.
    REDOUBLE_RETURN_IF_ERROR(Run({"XGROUP", "CREATE", key, "g", "0", "MKSTREAM"}, place));
    REDOUBLE_RETURN_IF_ERROR(Run({"XGROUP", "DESTROY", key, "g"}, place));
    for (const Json& entry : ListOf(value, "entries")) {
      REDOUBLE_RETURN_IF_ERROR(Expect(entry.is_array(), place, "an entry"));
      Words words = {"XADD", key};
      for (const Json& word : entry) {
        REDOUBLE_ASSIGN_OR_RETURN(words.emplace_back(), Text(word, place));
      }
      REDOUBLE_RETURN_IF_ERROR(Run(words, place));
    }
    REDOUBLE_ASSIGN_OR_RETURN(const std::string last, TextOf(value, "last_id", place));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string added, TextOf(value, "entries_added", place));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string deleted, TextOf(value, "max_deleted_id", place));
    REDOUBLE_RETURN_IF_ERROR(
        Run({"XSETID", key, last, "ENTRIESADDED", added, "MAXDELETEDID", deleted}, place));
    for (const Json& group : ListOf(value, "groups")) {
      REDOUBLE_RETURN_IF_ERROR(ReadGroup(key, group, place + ".groups"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadGroup(const std::string& key, const Json& json, const std::string& place) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string name, TextOf(json, "name", place));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string last, TextOf(json, "last_delivered_id", place));
    Words create = {"XGROUP", "CREATE", key, name, last};
    if (const auto read = json.find("entries_read"); read != json.end() && !read->is_null()) {
      create.emplace_back("ENTRIESREAD");
      REDOUBLE_ASSIGN_OR_RETURN(create.emplace_back(), TextOf(json, "entries_read", place));
    }
    REDOUBLE_RETURN_IF_ERROR(Run(create, place));
    for (const Json& consumer : ListOf(json, "consumers")) {
      REDOUBLE_ASSIGN_OR_RETURN(const std::string text, Text(consumer, place));
      REDOUBLE_RETURN_IF_ERROR(Run({"XGROUP", "CREATECONSUMER", key, name, text}, place));
    }
    for (const Json& pending : ListOf(json, "pending")) {
      REDOUBLE_ASSIGN_OR_RETURN(const std::string id, TextOf(pending, "id", place));
      REDOUBLE_ASSIGN_OR_RETURN(const std::string owner, TextOf(pending, "consumer", place));
      REDOUBLE_ASSIGN_OR_RETURN(const std::string time, TextOf(pending, "delivered_at_ms", place));
      REDOUBLE_ASSIGN_OR_RETURN(const std::string count, TextOf(pending, "deliveries", place));
      REDOUBLE_RETURN_IF_ERROR(Run({"XCLAIM", key, name, owner, "0", id, "TIME", time, "RETRYCOUNT",
                                    count, "JUSTID", "FORCE"},
                                   place));
    }
    return absl::OkStatus();
  }

  memory::EffectRunner runner_;
};

}  // namespace

std::string KeysJson(memory::Engine& engine) {
  memory::EngineCore& core = engine.core();
  core.RemoveExpired();
  Json functions = Json::array();
  for (const auto* library : core.functions().List()) {
    functions.push_back(EncodeBytes(library->code));
  }
  Json keys = Json::array();
  for (int index = 0; index < core.database_count(); ++index) {
    const Database& db = core.database(index);
    for (size_t i = 0; i < db.size(); ++i) {
      const Database::Entry& entry = db.at(i);
      Json key = {{"db", index},
                  {"key", EncodeBytes(entry.key())},
                  {"type", store::KeyTypeName(entry.value.type())},
                  {"value", ValueJson(entry.value)}};
      if (const auto deadline_ms = db.DeadlineOf(entry)) key["expires_at_ms"] = *deadline_ms;
      const auto times = db.FieldDeadlinesOf(entry.key());
      if (times && !times->empty()) key["fields_expire_at_ms"] = FieldTimesJson(*times);
      keys.push_back(std::move(key));
    }
  }
  constexpr int kIndent = 1;
  const Json all = {{"functions", std::move(functions)}, {"keys", std::move(keys)}};
  return all.dump(kIndent) + "\n";
}

absl::Status LoadKeysJson(std::string_view text, memory::Engine& engine) {
  REDOUBLE_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(text));
  return KeysReader(engine).Read(json);
}

}  // namespace redouble::inline v0_1::sim
