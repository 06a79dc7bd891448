#include "redouble/core/studio/search/search_document.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/model_reader.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using python::Value;

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string UrlSafeBase64(std::string_view bytes) {
  return absl::StrReplaceAll(absl::Base64Escape(ToAbsl(bytes)), {{"+", "-"}, {"/", "_"}});
}

// The six bits of a character; nullopt if it is not base64.
std::optional<uint32_t> Base64Bits(char c) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (c == '-') c = '+';
  if (c == '_') c = '/';
  const size_t at = kAlphabet.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<uint32_t>(at);
}

// Decodes as Python does: characters that are not base64 are skipped, and the first padding that
// completes a group of four ends the text. nullopt if the text ends inside a group.
std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr size_t kGroup = 4;
  constexpr uint32_t kBitsPerCharacter = 6;
  constexpr uint32_t kByteMask = 0xff;
  std::string bytes;
  uint32_t bits = 0;
  uint32_t bit_count = 0;
  size_t in_group = 0;
  size_t pads = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) > 0x7f) return std::nullopt;
    if (c == '=') {
      if (in_group >= 2 && in_group + ++pads >= kGroup) return bytes;
      continue;
    }
    const std::optional<uint32_t> six = Base64Bits(c);
    if (!six) continue;
    pads = 0;
    bits = bits << kBitsPerCharacter | *six;
    bit_count += kBitsPerCharacter;
    in_group = (in_group + 1) % kGroup;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes.push_back(static_cast<char>(bits >> bit_count & kByteMask));
    }
  }
  if (in_group != 0) return std::nullopt;
  return bytes;
}

Value ObjectOf(CursorMembers members) {
  python::Object object;
  for (const auto& [name, value] : members) object.Set(name, Value(value));
  return Value(std::move(object));
}

// URL-safe base64 of compact, sorted ASCII JSON.
std::string EncodeObject(CursorMembers members) {
  const python::PyJsonOptions options = {.sorted = true, .compact = true, .ascii = true};
  const absl::StatusOr<std::string> json = python::PyJson(ObjectOf(members), options);
  if (json.ok()) return UrlSafeBase64(*json);
  // Only a text that is not UTF-8 fails, which the original cannot produce. The id then has the
  // length and bytes of each text, so that no two tasks share an id.
  std::string bytes;
  for (const auto& [name, value] : members) {
    absl::StrAppend(&bytes, value.size(), ":", ToAbsl(value));
  }
  return UrlSafeBase64(bytes);
}

void AddFilter(FilterValues& filters, std::string_view field,
               const std::optional<std::string>& value) {
  if (value && !value->empty()) filters.emplace_back(field, *value);
}

}  // namespace

Value ToValue(const TaskDocument& document) {
  return Value(python::Object{{"service_id", document.service_id},
                              {"service_name", document.service_name},
                              {"environment", document.environment},
                              {"task_id", document.task_id},
                              {"correlation_id", document.correlation_id},
                              {"status", document.status},
                              {"stage", document.stage},
                              {"first_seen_at", document.first_seen_at},
                              {"last_seen_at", document.last_seen_at},
                              {"latest_event_type", document.latest_event_type},
                              {"latest_event_at", document.latest_event_at},
                              {"latest_ingested_at", document.latest_ingested_at},
                              {"detail_path", document.detail_path},
                              {"expires_at", document.expires_at}});
}

Value ToValue(const ServiceDocument& document) {
  return Value(
      python::Object{{"service_id", document.service_id},
                     {"name", document.name},
                     {"environment", document.environment},
                     {"tags", Value(python::Array(document.tags.begin(), document.tags.end()))},
                     {"status", document.status},
                     {"health_status", document.health_status},
                     {"base_url", document.base_url},
                     {"auth_mode", document.auth_mode},
                     {"last_seen_at", document.last_seen_at}});
}

absl::StatusOr<TaskDocument> ReadTaskDocument(const Value& value) {
  python::ModelReader reader(value, "StudioTaskSearchDocument");
  TaskDocument document;
  document.service_id = reader.String("service_id");
  document.service_name = reader.String("service_name");
  document.environment = reader.String("environment");
  document.task_id = reader.String("task_id");
  document.correlation_id = reader.OptionalString("correlation_id");
  document.status = reader.OptionalString("status");
  document.stage = reader.OptionalString("stage");
  document.first_seen_at = reader.OptionalString("first_seen_at");
  document.last_seen_at = reader.OptionalString("last_seen_at");
  document.latest_event_type = reader.OptionalString("latest_event_type");
  document.latest_event_at = reader.OptionalString("latest_event_at");
  document.latest_ingested_at = reader.OptionalString("latest_ingested_at");
  document.detail_path = reader.String("detail_path");
  document.expires_at = reader.OptionalString("expires_at");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return document;
}

absl::StatusOr<TaskDocument> ParseTaskDocument(std::string_view json) {
  REDOUBLE_ASSIGN_OR_RETURN(const Value value,
                            python::ParseModelJson(json, "StudioTaskSearchDocument"));
  return ReadTaskDocument(value);
}

absl::StatusOr<ServiceDocument> ParseServiceDocument(std::string_view json) {
  constexpr std::string_view kModel = "StudioServiceSearchDocument";
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, python::ParseModelJson(json, kModel));
  python::ModelReader reader(value, kModel);
  ServiceDocument document;
  document.service_id = reader.String("service_id");
  document.name = reader.String("name");
  document.environment = reader.String("environment");
  document.tags = reader.Strings("tags");
  document.status = reader.String("status");
  document.health_status = reader.OptionalString("health_status");
  document.base_url = reader.String("base_url");
  document.auth_mode = reader.String("auth_mode");
  document.last_seen_at = reader.OptionalString("last_seen_at");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return document;
}

std::string TaskDocumentId(TaskName task) {
  return EncodeObject({{"service_id", task.service_id}, {"task_id", task.task_id}});
}

FilterValues FiltersOf(const TaskDocument& document) {
  FilterValues filters = {{"service_id", document.service_id}};
  AddFilter(filters, "correlation_id", document.correlation_id);
  AddFilter(filters, "status", document.status);
  AddFilter(filters, "stage", document.stage);
  filters.emplace_back("task_id", document.task_id);
  return filters;
}

FilterValues FiltersOf(const ServiceDocument& document) {
  FilterValues filters = {{"environment", document.environment}, {"status", document.status}};
  AddFilter(filters, "health", document.health_status);
  for (const std::string& tag : document.tags) filters.emplace_back("tag", tag);
  return filters;
}

std::vector<std::string> Tokens(std::string_view text) {
  const std::string lower = python::Lower(text);
  std::vector<std::string> tokens;
  auto begin = std::find_if(lower.begin(), lower.end(), IsWordCharacter);
  while (begin != lower.end()) {
    const auto end = std::find_if_not(begin, lower.end(), IsWordCharacter);
    tokens.emplace_back(begin, end);
    begin = std::find_if(end, lower.end(), IsWordCharacter);
  }
  return tokens;
}

std::set<std::string> PrefixTokens(std::string_view text) {
  std::set<std::string> prefixes;
  for (const std::string& token : Tokens(text)) {
    for (size_t length = 1; length <= token.size(); ++length) {
      prefixes.insert(token.substr(0, length));
    }
  }
  return prefixes;
}

std::set<std::string> TokensOf(const ServiceDocument& document) {
  std::set<std::string> tokens = PrefixTokens(document.service_id);
  tokens.merge(PrefixTokens(document.name));
  tokens.merge(PrefixTokens(document.environment));
  for (const std::string& tag : document.tags) tokens.merge(PrefixTokens(tag));
  return tokens;
}

std::vector<std::string> MatchedFields(const ServiceDocument& document,
                                       const std::vector<std::string>& terms) {
  std::set<std::string> tag_tokens;
  for (const std::string& tag : document.tags) tag_tokens.merge(PrefixTokens(tag));
  const std::array<std::pair<std::string_view, std::set<std::string>>, 4> fields = {{
      {"service_id", PrefixTokens(document.service_id)},
      {"name", PrefixTokens(document.name)},
      {"environment", PrefixTokens(document.environment)},
      {"tags", std::move(tag_tokens)},
  }};
  std::vector<std::string> matched;
  for (const auto& [field, tokens] : fields) {
    if (std::all_of(terms.begin(), terms.end(),
                    [&tokens = tokens](const auto& term) { return tokens.contains(term); })) {
      matched.emplace_back(field);
    }
  }
  return matched;
}

std::string EncodeCursor(CursorMembers members) { return EncodeObject(members); }

absl::StatusOr<Value> DecodeCursor(std::string_view cursor) {
  const std::optional<std::string> json = DecodeBase64(cursor);
  if (json) {
    absl::StatusOr<Value> value = python::ParseJson(*json);
    if (value.ok() && value->object() != nullptr) return value;
  }
  return python::ValueError("Invalid cursor.");
}

bool CursorNames(const Value& cursor, CursorMembers members) {
  size_t texts = 0;
  for (const auto& [name, value] : cursor.object()->members()) {
    if (value.text() != nullptr) ++texts;
  }
  return texts == members.size() &&
         std::all_of(members.begin(), members.end(), [&](const auto& member) {
           const Value* value = cursor.Find(member.first);
           return value != nullptr && value->text() != nullptr && *value->text() == member.second;
         });
}

}  // namespace redouble::inline v0_1::studio
