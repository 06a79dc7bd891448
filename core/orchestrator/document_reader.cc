#include "redouble/core/orchestrator/document_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::PointerPart;
using base::ToAbsl;

// The length of the part of a wrong text that an error message contains.
constexpr size_t kShownBytes = 80;

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

}  // namespace

absl::StatusOr<Json> ParseObject(std::string_view text, ErrorCode error) {
  if (IsNestedTooDeep(text)) {
    return MakeError(error, absl::StrCat("the text is nested deeper than ", kMaxDepth));
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return MakeError(error, "the text is not JSON");
  }
  if (!json.is_object()) {
    return MakeError(error, base::Expected("an object", json));
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
      absl::StrCat(PointerPart(name), ": ", base::Expected("an object", *added)));
}

bool IsId(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsIdCharacter);
}

DocumentReader::DocumentReader(const Json& json, std::string path, absl::Status& status)
    : json_(json), path_(std::move(path)), status_(status) {
  if (!json.is_object()) Expected("", "an object", json);
}

const Json* DocumentReader::Find(std::string_view name) const {
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(std::string(name));
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json* DocumentReader::Require(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) Refuse(name, "is missing");
  return value;
}

std::string DocumentReader::String(std::string_view name) {
  return Require(name) == nullptr ? std::string() : StringOr(name, "");
}

std::string DocumentReader::Id(std::string_view name) {
  std::string id = String(name);
  if (IsId(id) || !status_.ok()) return id;
  Expected(name, "an id of letters, digits, _ and -", *Find(name));
  return {};
}

absl::Time DocumentReader::Time(std::string_view name) {
  return Require(name) == nullptr ? absl::UnixEpoch()
                                  : OptionalTime(name).value_or(absl::UnixEpoch());
}

std::string DocumentReader::StringOr(std::string_view name, std::string_view otherwise) {
  const Json* value = Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  Expected(name, "a text", *value);
  return {};
}

int64_t DocumentReader::IntegerOr(std::string_view name, int64_t otherwise, int64_t least) {
  const Json* value = Find(name);
  if (value == nullptr) return otherwise;
  const std::optional<int64_t> number = base::AsInt64(*value);
  if (number.has_value() && *number >= least) return *number;
  Expected(name, absl::StrCat("an integer of at least ", least), *value);
  return otherwise;
}

bool DocumentReader::BoolOr(std::string_view name, bool otherwise) {
  const Json* value = Find(name);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Expected(name, "true or false", *value);
  return otherwise;
}

std::optional<absl::Time> DocumentReader::OptionalTime(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto time = base::ParseRfc3339(value->get_ref<const std::string&>());
    if (time.ok()) return *time;
  }
  Expected(name, "a time such as \"2025-10-15T10:30:00Z\"", *value);
  return std::nullopt;
}

std::vector<std::string> DocumentReader::Strings(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return {};
  const bool texts = value->is_array() && std::all_of(value->begin(), value->end(),
                                                      [](const Json& e) { return e.is_string(); });
  if (texts) return value->get<std::vector<std::string>>();
  Expected(name, "an array of texts", *value);
  return {};
}

std::string DocumentReader::JsonTextOf(std::string_view name) {
  const Json* value = Find(name);
  return value == nullptr ? std::string() : value->dump();
}

std::string DocumentReader::ObjectTextOf(std::string_view name) {
  const Json* value = Find(name);
  if (value != nullptr && !value->is_object()) Expected(name, "an object", *value);
  return JsonTextOf(name);
}

void DocumentReader::Refuse(std::string_view name, std::string_view reason) {
  if (!status_.ok()) return;
  const std::string path = absl::StrCat(path_, name.empty() ? "" : PointerPart(name));
  status_ = absl::InvalidArgumentError(absl::StrCat(path, ": ", ToAbsl(reason)));
}

void DocumentReader::Expected(std::string_view name, std::string_view expected, const Json& got) {
  Refuse(name, base::Expected(expected, got));
}

}  // namespace redouble::inline v0_1::orchestrator
