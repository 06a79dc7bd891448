#include "redouble/tests/golden/replay/keyspace_check.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/json_double.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/tests/golden/replay/reply_check.h"

namespace redouble::inline v0_1::golden {
namespace {

using store::Command;
using store::Reply;

constexpr int64_t kSecond = 1000;
constexpr int64_t kTtlTolerance = 1;
// More rows than any golden has.
constexpr const char* kAllRows = "1000000";
// The fields of a stream in korvet's goldens, beside entries and groups; the names are those of
// XINFO.
constexpr const char* kStreamFacts[] = {"length", "last-generated-id", "entries-added",
                                        "max-deleted-entry-id", "recorded-first-entry-id"};

// The XINFO fields of a stream or group, by name.
using Facts = std::map<std::string, Json, std::less<>>;

base::Task<absl::StatusOr<Json>> Ask(store::Store& store, std::vector<std::string> words) {
  Command command = Command::Named(words[0]);
  for (size_t i = 1; i < words.size(); ++i) command.Add(words[i]);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Reply reply, co_await store.Execute(command));
  if (reply.is_error()) co_return store::ServerError(reply.text());
  co_return ReplyToRecorded(reply);
}

Facts ToFacts(const Json& pairs) {
  Facts facts;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) facts[pairs[i]] = pairs[i + 1];
  return facts;
}

// Returns null if the server does not report the field.
Json Fact(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? Json() : found->second;
}

// Returns a group with the rows of XPENDING: id, consumer, idle time, deliveries.
Json GroupToJson(const Facts& group, const Json& rows, System system) {
  const bool long_names = system == System::kKorvet;
  Json pending = Json::array();
  for (const Json& row : rows) {
    if (long_names) {
      pending.push_back(Json::array({row[0], row[1], row[3]}));
    } else {
      pending.push_back(Json{{"id", row[0]}, {"consumer", row[1]}, {"deliveries", row[3]}});
    }
  }
  Json json{{"name", Fact(group, "name")}};
  json[long_names ? "last-delivered-id" : "last_delivered_id"] = Fact(group, "last-delivered-id");
  if (long_names) {
    json["entries-read"] = Fact(group, "entries-read");
    json["lag"] = Fact(group, "lag");
  }
  json["pending"] = pending;
  return json;
}

base::Task<absl::StatusOr<Json>> ReadGroups(store::Store& store, const std::string& key,
                                            System system) {
  std::vector<std::string> info = {"XINFO", "GROUPS", key};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Json groups, co_await Ask(store, std::move(info)));
  Json read = Json::array();
  for (const Json& pairs : groups) {
    const Facts group = ToFacts(pairs);
    std::vector<std::string> pending = {"XPENDING", key, Fact(group, "name"), "-", "+", kAllRows};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Json rows, co_await Ask(store, std::move(pending)));
    read.push_back(GroupToJson(group, rows, system));
  }
  co_return read;
}

// Reads a stream in the format of the system's goldens.
base::Task<absl::StatusOr<Json>> ReadStream(store::Store& store, const std::string& key,
                                            const Json& dumped, System system) {
  Json value = Json::object();
  value["entries"] = dumped["entries"];
  if (system == System::kKorvet) {
    std::vector<std::string> words = {"XINFO", "STREAM", key};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Json info, co_await Ask(store, std::move(words)));
    const Facts facts = ToFacts(info);
    for (const char* name : kStreamFacts) value[name] = Fact(facts, name);
  } else {
    Json entries = Json::array();
    for (const Json& entry : dumped["entries"]) {
      entries.push_back(Json::array({entry["id"], entry["fields"]}));
    }
    value["entries"] = entries;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(Json groups, co_await ReadGroups(store, key, system));
  value["groups"] = std::move(groups);
  co_return value;
}

// Returns [member, score] pairs with scores as numbers; some recorders wrote them as texts.
Json WithNumericScores(Json pairs) {
  if (!pairs.is_array()) return pairs;
  for (Json& pair : pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_string()) continue;
    double score = 0;
    if (absl::SimpleAtod(pair[1].get_ref<const std::string&>(), &score)) {
      pair[1] = sim::JsonDouble(score);
    }
  }
  return pairs;
}

Json ValueToCompare(std::string_view type, Json value) {
  if (type == "zset") return WithNumericScores(std::move(value));
  if (type == "set" && value.is_array()) std::sort(value.begin(), value.end());
  return value;
}

Json KeyToJson(std::string_view type, Json value, int64_t ttl) {
  return Json{{"type", type}, {"value", ValueToCompare(type, std::move(value))}, {"ttl", ttl}};
}

// As TTL: rounded to the nearest second, -1 without TTL.
int64_t TtlOf(const sim::KeyspaceEntry& entry) {
  return entry.ttl_ms ? (*entry.ttl_ms + kSecond / 2) / kSecond : -1;
}

}  // namespace

base::Task<absl::StatusOr<sim::Keyspace>> ReadServer(store::Store& store, System system) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(sim::Keyspace keyspace, co_await sim::DumpKeyspace(store));
  for (auto& [key, entry] : keyspace) {
    if (entry.type != "stream") continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(entry.value, co_await ReadStream(store, key, entry.value, system));
  }
  co_return keyspace;
}

std::optional<Difference> CompareKeyspaces(const RecordedKeyspace& recorded,
                                           const sim::Keyspace& got, std::string_view path) {
  Json expected_json = Json::object();
  Json got_json = Json::object();
  for (const auto& [key, entry] : recorded) {
    expected_json[sim::EncodeBytes(key)] =
        KeyToJson(entry.type, EncodeRecorded(entry.value), entry.ttl);
  }
  for (const auto& [key, entry] : got) {
    int64_t ttl = TtlOf(entry);
    const auto expected = recorded.find(key);
    if (expected != recorded.end() && expected->second.ttl >= 0 && ttl >= 0 &&
        std::abs(expected->second.ttl - ttl) <= kTtlTolerance) {
      ttl = expected->second.ttl;
    }
    got_json[sim::EncodeBytes(key)] = KeyToJson(entry.type, entry.value, ttl);
  }
  return CompareJson(expected_json, got_json, path);
}

}  // namespace redouble::inline v0_1::golden
