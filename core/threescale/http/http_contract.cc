#include "redouble/core/threescale/http/http_contract.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/text/json_text.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::ToAbsl;

constexpr std::string_view kExtensionsHeader = "3scale-options";
constexpr std::string_view kMediaType = "application/vnd.3scale-v2.0+xml";

struct Route {
  std::string_view path;
  Endpoint endpoint;
};
constexpr Route kRoutes[] = {
    {"/transactions/authorize.xml", Endpoint::kAuthorize},
    {"/transactions/authrep.xml", Endpoint::kAuthrep},
    {"/transactions/oauth_authorize.xml", Endpoint::kOauthAuthorize},
    {"/transactions/oauth_authrep.xml", Endpoint::kOauthAuthrep},
};

constexpr std::pair<std::string_view, std::optional<std::string_view> AuthRequest::*> kTexts[] = {
    {"provider_key", &AuthRequest::provider_key}, {"service_token", &AuthRequest::service_token},
    {"service_id", &AuthRequest::service_id},     {"app_id", &AuthRequest::app_id},
    {"app_key", &AuthRequest::app_key},           {"user_key", &AuthRequest::user_key},
    {"user_id", &AuthRequest::user_id},           {"referrer", &AuthRequest::referrer},
    {"redirect_url", &AuthRequest::redirect_url}, {"redirect_uri", &AuthRequest::redirect_uri}};

HttpResponse Respond(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.emplace_back("Content-Type", kMediaType);
  response.body = std::move(body);
  return response;
}

bool IsText(const FormValue& value) {
  if (value.text() && !base::IsValidUtf8(*value.text())) return false;
  for (const auto& [name, member] : value.members()) {
    if (!base::IsValidUtf8(name) || !IsText(member)) return false;
  }
  return true;
}

std::string_view OptionsOf(const HttpRequest& request) {
  return request.Header(kExtensionsHeader).value_or("");
}

HttpCall ParseAuth(Endpoint endpoint, const HttpRequest& request, FormValue form) {
  AuthCall call;
  call.endpoint = endpoint;
  call.extensions = ParseExtensions(OptionsOf(request), form.TextOf("no_body"));
  call.parameters = std::move(form);
  return call;
}

std::optional<std::string> OwnedText(const FormValue& form, std::string_view name) {
  const std::optional<std::string_view> text = form.TextOf(name);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

Usage UsageOf(const FormValue& map) {
  Usage usage;
  for (const auto& [name, value] : map.members()) PutUsage(usage, name, value.text().value_or(""));
  return usage;
}

std::optional<Transaction> TransactionOf(const FormValue& value, bool& names_user_id) {
  if (value.kind() == FormValue::Kind::kNone) return std::nullopt;
  Transaction transaction;
  transaction.app_id = OwnedText(value, "app_id");
  transaction.user_key = OwnedText(value, "user_key");
  transaction.timestamp = OwnedText(value, "timestamp");
  const FormValue* const usage = value.Find("usage");
  if (usage != nullptr && usage->is_map()) transaction.usage = UsageOf(*usage);
  const FormValue* const log = value.Find("log");
  if (log != nullptr) transaction.log_code = OwnedText(*log, "code");
  names_user_id = names_user_id || value.TextOf("user_id").has_value();
  return transaction;
}

HttpCall ParseReport(const HttpRequest& request, const FormValue& form) {
  ReportRequest report;
  const std::optional<std::string_view> type = request.Header("Content-Type");
  if (type) report.content_type = std::string(*type);
  report.provider_key = OwnedText(form, "provider_key");
  report.service_token = OwnedText(form, "service_token");
  report.service_id = OwnedText(form, "service_id");
  const FormValue* const transactions = form.Find("transactions");
  if (transactions != nullptr) {
    const bool is_blank = transactions->kind() == FormValue::Kind::kNone ||
                          (transactions->text() && transactions->text()->empty());
    report.transactions_are_no_map = !transactions->is_map() && !is_blank;
    if (transactions->is_map()) {
      for (const auto& [index, value] : transactions->members()) {
        report.transactions.push_back(TransactionOf(value, report.names_user_id));
      }
    }
  }
  report.flat_usage = ParseExtensions(OptionsOf(request)).flat_usage;
  return report;
}

void AddText(JsonObject& object, std::string_view name, std::optional<std::string_view> text) {
  if (text) {
    object.Add(name, *text);
  } else {
    object.AddJson(name, "null");
  }
}

// Returns the parameter no_body of the query. A parameter in a form has no effect.
std::optional<std::string> NoBodyOf(const HttpRequest& request) {
  const absl::StatusOr<FormValue> form = ParseForm(request.query);
  return form.ok() ? OwnedText(*form, "no_body") : std::nullopt;
}

void AddNoBody(JsonObject& json, std::optional<std::string_view> value) {
  if (value) {
    json.AddJson("no_body", IsNoBody(*value) ? "true" : "false");
  } else {
    json.AddJson("no_body", "null");
  }
}

// `no_body` is the parameter, which stands in for a missing option.
std::string ExtensionsJson(std::string_view header, std::optional<std::string_view> no_body) {
  JsonObject json;
  const absl::StatusOr<FormValue> form = ParseForm(header);
  if (!form.ok()) return json.text();
  for (const auto& [name, value] : form->members()) {
    if (name != "no_body") {
      json.Add(name, value.text().value_or(""));
      continue;
    }
    AddNoBody(json, value.text() ? value.text() : no_body);
  }
  if (no_body && form->Find("no_body") == nullptr) AddNoBody(json, no_body);
  return json.text();
}

}  // namespace

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (absl::EqualsIgnoreCase(header, ToAbsl(name))) return value;
  }
  return std::nullopt;
}

AuthRequest AuthCall::View() const {
  AuthRequest request;
  request.extensions = extensions;
  for (const auto& [name, member] : kTexts) request.*member = parameters.TextOf(name);
  const FormValue* const usage = parameters.Find("usage");
  if (usage != nullptr && usage->kind() != FormValue::Kind::kNone) {
    request.has_malformed_usage = !usage->is_map();
    if (usage->is_map()) request.usage = UsageOf(*usage);
  }
  const FormValue* const log = parameters.Find("log");
  if (log != nullptr) request.log_code = log->TextOf("code");
  return request;
}

HttpCall ParseHttpRequest(const HttpRequest& request) {
  const bool is_report = request.method == "POST" && request.path == "/transactions.xml";
  std::optional<Endpoint> endpoint;
  for (const Route& route : kRoutes) {
    if (request.method == "GET" && request.path == route.path) endpoint = route.endpoint;
  }
  if (request.method == "GET" && request.path == "/check.txt") {
    HttpResponse ok;
    ok.headers.emplace_back("Content-Type", "text/plain;charset=utf-8");
    ok.body = "ok";
    return ok;
  }
  if (!is_report && !endpoint) return Respond(404, "");
  const std::string form_text = absl::StrCat(request.query, "&", is_report ? request.body : "");
  absl::StatusOr<FormValue> form = ParseForm(form_text);
  if (!form.ok()) return ErrorResponse(form.status());
  if (!IsText(*form)) {
    HttpResponse refused = ErrorResponse(MakeError(ErrorCode::kNotValidData));
    refused.status = 400;
    return refused;
  }
  return endpoint ? ParseAuth(*endpoint, request, *std::move(form)) : ParseReport(request, *form);
}

std::string ContextInfo(const HttpRequest& request) {
  const bool is_post = request.method == "POST";
  const absl::string_view mark = request.query.empty() ? "" : "?";
  JsonObject info;
  info.Add("url", absl::StrCat(request.origin, request.path, mark, request.query));
  info.Add("method", request.method);
  AddText(info, "form_vars",
          is_post ? std::optional<std::string_view>(request.body) : std::nullopt);
  AddText(info, "user_agent", request.Header("User-Agent"));
  info.Add("ip", request.ip);
  AddText(info, "content_type", request.Header("Content-Type"));
  AddText(info, "content_length", request.Header("Content-Length"));
  info.AddJson("extensions", ExtensionsJson(OptionsOf(request), NoBodyOf(request)));
  return info.text();
}

HttpResponse AuthorizationResponse(const Authorization& authorization,
                                   const AnswerDetails& details) {
  HttpResponse response =
      Respond(authorization.http_status(), AuthorizationXml(authorization, details));
  if (authorization.rejection && authorization.extensions.rejection_reason_header) {
    response.headers.emplace_back("3scale-rejection-reason",
                                  SpecOf(authorization.rejection->code).name);
  }
  if (details.limits) {
    response.headers.emplace_back("3scale-limit-remaining",
                                  FormatInteger(details.limits->remaining));
    response.headers.emplace_back("3scale-limit-reset",
                                  absl::StrCat(details.limits->reset_seconds));
    if (details.limits->max_value) {
      response.headers.emplace_back("3scale-limit-max-value",
                                    FormatInteger(*details.limits->max_value));
    }
  }
  return response;
}

HttpResponse ReportResponse() { return Respond(202, ""); }

HttpResponse ErrorResponse(const absl::Status& error, const HttpRequest& request) {
  HttpResponse response = ErrorResponse(error);
  if (ParseExtensions(OptionsOf(request), NoBodyOf(request)).no_body) response.body.clear();
  return response;
}

HttpResponse ErrorResponse(const absl::Status& error) {
  const std::optional<ErrorCode> code = ErrorCodeOf(error);
  return Respond(code ? SpecOf(*code).http_status : 403, ErrorXml(error));
}

}  // namespace redouble::inline v0_1::threescale
