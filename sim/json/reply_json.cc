#include "redouble/sim/json/reply_json.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::ErrorKind;
using store::Reply;

constexpr std::string_view kStatus = "status";
constexpr std::string_view kError = "error";
constexpr std::string_view kFailure = "failure";

void AddNamed(JsonText& json, std::string_view name, std::string_view text) {
  json.Add("{");
  json.AddBytes(name);
  json.Add(":");
  json.AddBytes(text);
  json.Add("}");
}

void AddReply(JsonText& json, const Reply& reply);

void AddArray(JsonText& json, const Reply& reply) {
  json.Add("[");
  bool is_first = true;
  for (const Reply& element : reply.elements()) {
    if (!is_first) json.Add(",");
    is_first = false;
    AddReply(json, element);
  }
  json.Add("]");
}

void AddReply(JsonText& json, const Reply& reply) {
  switch (reply.kind()) {
    case Reply::Kind::kNil:
      json.Add("null");
      return;
    case Reply::Kind::kStatus:
      AddNamed(json, kStatus, reply.text());
      return;
    case Reply::Kind::kError:
      AddNamed(json, kError, reply.text());
      return;
    case Reply::Kind::kInteger:
      json.AddInteger(reply.integer());
      return;
    case Reply::Kind::kBulk:
      json.AddBytes(reply.text());
      return;
    case Reply::Kind::kArray:
      AddArray(json, reply);
      return;
  }
}

absl::Status Wrong(std::string_view path, std::string_view expected, const Json& got) {
  return absl::InvalidArgumentError(
      absl::StrCat(base::ToAbsl(path), ": ", base::Expected(expected, got)));
}

absl::StatusOr<Json> NormalizeText(const Json& text, std::string_view path) {
  const absl::StatusOr<std::string> bytes = DecodeBytes(text.get_ref<const std::string&>());
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(base::ToAbsl(path), ": ", bytes.status().message()));
  }
  return Json(EncodeBytes(*bytes));
}

bool IsFailureName(const std::string& text) {
  constexpr std::array kKinds = {ErrorKind::kNotSent, ErrorKind::kOutcomeUnknown,
                                 ErrorKind::kProtocol};
  for (const ErrorKind kind : kKinds) {
    if (text == store::ErrorKindName(kind)) return true;
  }
  return false;
}

absl::StatusOr<Json> NormalizeObject(const Json& json, std::string_view path) {
  constexpr std::string_view kForms =
      R"({"status": "..."}, {"error": "..."} or {"failure": "..."})";
  if (json.size() != 1 || !json.front().is_string()) return Wrong(path, kForms, json);
  const std::string name = json.items().begin().key();
  const std::string place = absl::StrCat(base::ToAbsl(path), base::PointerPart(name));
  if (name == kFailure) {
    if (IsFailureName(json.front().get_ref<const std::string&>())) return json;
    return Wrong(place, R"("not sent", "outcome unknown" or "protocol")", json.front());
  }
  if (name != kStatus && name != kError) return Wrong(path, kForms, json);
  Json object = Json::object();
  REDOUBLE_ASSIGN_OR_RETURN(object[name], NormalizeText(json.front(), place));
  return object;
}

absl::StatusOr<Json> NormalizeArray(const Json& json, std::string_view path) {
  Json array = Json::array();
  for (size_t i = 0; i < json.size(); ++i) {
    REDOUBLE_ASSIGN_OR_RETURN(
        Json element, NormalizeReplyJson(json[i], absl::StrCat(base::ToAbsl(path), "/", i)));
    array.push_back(std::move(element));
  }
  return array;
}

}  // namespace

void AddResult(JsonText& json, const absl::StatusOr<Reply>& result) {
  if (result.ok()) {
    AddReply(json, *result);
    return;
  }
  const ErrorKind kind = store::ErrorKindOf(result.status()).value_or(ErrorKind::kProtocol);
  AddNamed(json, kFailure, store::ErrorKindName(kind));
}

Json ReplyToJson(const Reply& reply) {
  JsonText json;
  AddReply(json, reply);
  return Json::parse(json.text());
}

Json ResultToJson(const absl::StatusOr<Reply>& result) {
  JsonText json;
  AddResult(json, result);
  return Json::parse(json.text());
}

absl::StatusOr<Json> NormalizeReplyJson(const Json& json, std::string_view path) {
  if (json.is_null() || json.is_number_integer()) return json;
  if (json.is_string()) return NormalizeText(json, path);
  if (json.is_object()) return NormalizeObject(json, path);
  if (json.is_array()) return NormalizeArray(json, path);
  return Wrong(path,
               "a reply (null, an integer, a string, an array, {\"status\": ...}, "
               "{\"error\": ...})",
               json);
}

}  // namespace redouble::inline v0_1::sim
