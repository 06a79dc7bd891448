#include "redouble/sim/testing/matchers.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/json/json_diff.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/scenario/keyspace.h"

namespace redouble::inline v0_1::testing::internal {
namespace {

using sim::Json;

// The entry of KeyspaceToJson of a value given to KeyspaceIs, in canonical form.
absl::StatusOr<Json> ExpectedEntry(const Json& value, std::string_view path) {
  Json entry = value;
  if (value.is_string()) entry = {{"type", "string"}, {"value", value}};
  if (value.is_array()) entry = {{"type", "list"}, {"value", value}};
  if (!entry.is_object() || !entry.contains("type") || !entry["type"].is_string()) {
    return absl::InvalidArgumentError(absl::StrCat(
        base::ToAbsl(path),
        R"(: expected a string, an array, or an object such as {"type": "set", "value": ["a"]})"));
  }
  if (!entry.contains("value")) return entry;
  REDOUBLE_ASSIGN_OR_RETURN(
      entry["value"], sim::NormalizeValue(entry["type"].get<std::string>(), entry["value"], path));
  return entry;
}

void AppendDifference(const Json& expected, const Json& got, std::string& lines) {
  for (const auto& [key, entry] : expected.items()) {
    const std::string path = absl::StrCat("/", key);
    if (!got.contains(key)) {
      absl::StrAppend(&lines, "\n  ", path, ": missing, expected ", entry.dump());
    } else if (const auto difference = sim::FindDifference(entry, got[key], path)) {
      absl::StrAppend(&lines, "\n  ", difference->path, ": ", difference->got, ", expected ",
                      difference->expected);
    }
  }
  for (const auto& [key, entry] : got.items()) {
    if (!expected.contains(key)) {
      absl::StrAppend(&lines, "\n  /", key, ": not expected, is ", entry.dump());
    }
  }
}

}  // namespace

std::optional<std::string> RedisErrorCode(const store::Reply& reply) {
  if (!reply.is_error()) return std::nullopt;
  return RedisErrorCode(store::ServerError(reply.text()));
}

std::optional<std::string> RedisErrorCode(const absl::Status& status) {
  const std::string_view code = store::ServerErrorCode(status);
  return code.empty() ? std::nullopt : std::optional(std::string(code));
}

bool ReplyEquals(const store::Reply& reply, const store::Reply& expected) {
  return reply == expected;
}

bool ReplyEquals(const store::Reply& reply, int64_t expected) {
  return reply.is_integer() && reply.integer() == expected;
}

bool ReplyEquals(const store::Reply& reply, std::string_view expected) {
  return (reply.is_bulk() || reply.is_status()) && reply.text() == expected;
}

std::string KeyspaceDifference(const Redis& redis, std::string_view expected) {
  const absl::StatusOr<Json> parsed = sim::ParseStrictJson(expected);
  if (!parsed.ok()) return std::string(parsed.status().message());
  if (!parsed->is_object()) return "the expected keyspace is no JSON object";
  Json entries = Json::object();
  for (const auto& [key, value] : parsed->items()) {
    absl::StatusOr<Json> entry = ExpectedEntry(value, absl::StrCat("/", key));
    if (!entry.ok()) return std::string(entry.status().message());
    entries[key] = *std::move(entry);
  }
  const Json got = Json::parse(redis.Dump(), nullptr, /*allow_exceptions=*/false);
  if (!got.is_object()) return "the keyspace cannot be read";
  std::string lines;
  AppendDifference(entries, got, lines);
  return lines.empty() ? lines : absl::StrCat("whose keyspace differs:", lines);
}

std::string TtlDifference(const Redis& redis, std::string_view key, absl::Duration expected) {
  const std::optional<absl::Duration> ttl = redis.Ttl(key);
  if (!ttl) return absl::StrCat("which has no key ", base::ToAbsl(key));
  if (*ttl == expected) return "";
  if (*ttl == absl::InfiniteDuration()) {
    return absl::StrCat("whose key ", base::ToAbsl(key), " does not expire");
  }
  return absl::StrCat("whose key ", base::ToAbsl(key), " expires in ", absl::FormatDuration(*ttl));
}

}  // namespace redouble::inline v0_1::testing::internal
