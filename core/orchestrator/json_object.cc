#include "redouble/core/orchestrator/json_object.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/reply.h"

namespace redouble::orchestrator {
namespace {

using base::ToAbsl;

// The length of the part of a wrong value that an error message contains.
constexpr size_t kShownBytes = 80;

std::string Shown(const Json& json) {
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() <= kShownBytes) return text;
  return absl::StrCat(text.substr(0, kShownBytes), "...");
}

// Bounds the recursion of writing a value.
constexpr int kMaxDepth = 500;

bool IsNestedTooDeep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') ++i;
    if (in_text) continue;
    if ((c == '[' || c == '{') && ++depth > kMaxDepth) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

bool IsIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// The library stores a positive number as unsigned.
bool FitsInt64(const Json& json) {
  if (!json.is_number_integer()) return false;
  return !json.is_number_unsigned() ||
         json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

}  // namespace

absl::StatusOr<Json> ParseObject(std::string_view text, std::string_view what) {
  if (IsNestedTooDeep(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToAbsl(what), ": the text is nested deeper than ", kMaxDepth));
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::InvalidArgumentError(absl::StrCat(ToAbsl(what), ": the text is not JSON"));
  }
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToAbsl(what), ": expected an object, got ", Shown(json)));
  }
  return json;
}

absl::StatusOr<std::string> JsonText(const Json& json) {
  std::string text;
  try {
    text = json.dump();
  } catch (const Json::type_error&) {
    return absl::InvalidArgumentError("a text that is to be written as JSON is not UTF-8");
  }
  if (!IsNestedTooDeep(text)) return text;
  return absl::InvalidArgumentError(absl::StrCat("the JSON is nested deeper than ", kMaxDepth));
}

absl::Status AddJsonText(Json& object, std::string_view name, std::string_view text) {
  if (text.empty()) return absl::OkStatus();
  Json value = IsNestedTooDeep(text) ? Json(Json::value_t::discarded)
                                     : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return absl::InvalidArgumentError(absl::StrCat(PointerPart(name), ": expected JSON, got ",
                                                   store::QuoteBytes(text.substr(0, kShownBytes))));
  }
  object[std::string(name)] = std::move(value);
  return absl::OkStatus();
}

absl::Status AddObjectText(Json& object, std::string_view name, std::string_view text) {
  REDOUBLE_RETURN_IF_ERROR(AddJsonText(object, name, text));
  const auto added = object.find(std::string(name));
  if (added == object.end() || added->is_object() || added->is_null()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(PointerPart(name), ": expected an object, got ", Shown(*added)));
}

bool IsId(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsIdCharacter);
}

std::string PointerPart(std::string_view name) {
  std::string part = "/";
  for (const char c : name) {
    if (c == '~') {
      part += "~0";
    } else if (c == '/') {
      part += "~1";
    } else {
      part += c;
    }
  }
  return part;
}

JsonObject::JsonObject(const Json& json, std::string path, absl::Status& status)
    : json_(json), path_(std::move(path)), status_(status) {
  if (!json.is_object()) Expected("", "an object", json);
}

const Json* JsonObject::Find(std::string_view name) const {
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(std::string(name));
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json* JsonObject::Require(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) Refuse(name, "is missing");
  return value;
}

std::string JsonObject::Text(std::string_view name) {
  return Require(name) == nullptr ? std::string() : TextOr(name, "");
}

std::string JsonObject::Id(std::string_view name) {
  std::string id = Text(name);
  if (IsId(id) || !status_.ok()) return id;
  Expected(name, "an id of letters, digits, _ and -", *Find(name));
  return {};
}

absl::Time JsonObject::Time(std::string_view name) {
  return Require(name) == nullptr ? absl::UnixEpoch()
                                  : OptionalTime(name).value_or(absl::UnixEpoch());
}

std::string JsonObject::TextOr(std::string_view name, std::string_view otherwise) {
  const Json* value = Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  Expected(name, "a text", *value);
  return {};
}

int64_t JsonObject::IntegerOr(std::string_view name, int64_t otherwise, int64_t least) {
  const Json* value = Find(name);
  if (value == nullptr) return otherwise;
  if (FitsInt64(*value) && value->get<int64_t>() >= least) return value->get<int64_t>();
  Expected(name, absl::StrCat("an integer of at least ", least), *value);
  return otherwise;
}

bool JsonObject::BoolOr(std::string_view name, bool otherwise) {
  const Json* value = Find(name);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Expected(name, "true or false", *value);
  return otherwise;
}

std::optional<absl::Time> JsonObject::OptionalTime(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto time = base::ParseRfc3339(value->get_ref<const std::string&>());
    if (time.ok()) return *time;
  }
  Expected(name, "a time such as \"2025-10-15T10:30:00Z\"", *value);
  return std::nullopt;
}

std::vector<std::string> JsonObject::Texts(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return {};
  const bool texts = value->is_array() && std::all_of(value->begin(), value->end(),
                                                      [](const Json& e) { return e.is_string(); });
  if (texts) return value->get<std::vector<std::string>>();
  Expected(name, "an array of texts", *value);
  return {};
}

std::string JsonObject::JsonTextOf(std::string_view name) {
  const Json* value = Find(name);
  return value == nullptr ? std::string() : value->dump();
}

std::string JsonObject::ObjectTextOf(std::string_view name) {
  const Json* value = Find(name);
  if (value != nullptr && !value->is_object()) Expected(name, "an object", *value);
  return JsonTextOf(name);
}

void JsonObject::Refuse(std::string_view name, std::string_view reason) {
  if (!status_.ok()) return;
  const std::string path = absl::StrCat(path_, name.empty() ? "" : PointerPart(name));
  status_ = absl::InvalidArgumentError(absl::StrCat(path, ": ", ToAbsl(reason)));
}

void JsonObject::Expected(std::string_view name, std::string_view expected, const Json& got) {
  Refuse(name, absl::StrCat("expected ", ToAbsl(expected), ", got ", Shown(got)));
}

}  // namespace redouble::orchestrator
