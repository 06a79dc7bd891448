#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/authorize/authorizer.h"
#include "redouble/core/threescale/http/http_contract.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/report/listener.h"
#include "redouble/sim/operations/threescale/threescale_jobs.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;
using threescale::Authorization;
using threescale::Authorizer;
using threescale::AuthRequest;
using threescale::Endpoint;

using Session = std::shared_ptr<ThreescaleSession>;
using OptionalText = std::optional<std::string>;

// Owns the parameters of a request, which an AuthRequest views.
struct Parameters {
  std::vector<OptionalText> texts;
  AuthRequest request;
};

constexpr std::pair<const char*, std::optional<std::string_view> AuthRequest::*> kTexts[] = {
    {"provider_key", &AuthRequest::provider_key}, {"service_token", &AuthRequest::service_token},
    {"service_id", &AuthRequest::service_id},     {"app_id", &AuthRequest::app_id},
    {"app_key", &AuthRequest::app_key},           {"user_key", &AuthRequest::user_key},
    {"user_id", &AuthRequest::user_id},           {"referrer", &AuthRequest::referrer},
    {"redirect_url", &AuthRequest::redirect_url}, {"redirect_uri", &AuthRequest::redirect_uri}};

void ReadUsage(ArgumentReader& reader, AuthRequest& request) {
  const Json* usage = reader.Find("usage");
  if (usage == nullptr) return;
  if (!usage->is_object()) {
    request.has_malformed_usage = true;
  } else if (!usage->empty()) {  // A query cannot express an empty map.
    request.usage.emplace();
    for (const auto& [name, value] : usage->items()) {
      threescale::PutUsage(*request.usage, name, TextOf(value).value_or(""));
    }
  }
}

void ReadParameters(ArgumentReader& reader, Parameters& parameters) {
  for (const auto& [name, member] : kTexts) parameters.texts.push_back(Text(reader, name));
  for (size_t i = 0; i < std::size(kTexts); ++i) {
    if (parameters.texts[i]) parameters.request.*kTexts[i].second = *parameters.texts[i];
  }
  ReadUsage(reader, parameters.request);
  const Json* log = reader.Find("log");
  if (log != nullptr && log->is_object() && log->contains("code")) {
    parameters.texts.push_back(TextOf((*log)["code"]));
    if (parameters.texts.back()) parameters.request.log_code = *parameters.texts.back();
  }
}

// Arguments that are not parameters of the request.
constexpr const char* kOwnArguments[] = {"now",
                                         "label",
                                         "trimmed_stamps",
                                         "check_and_report_atomically",
                                         "legacy_referrer_filters",
                                         "extensions_header"};

Json OwnArguments(const Json& arguments) {
  Json own = Json::object();
  for (const char* name : kOwnArguments) {
    if (arguments.contains(name)) own[name] = arguments[name];
  }
  return own;
}

// Returns the parameters in either form.
Json ParametersIn(const Json& arguments) {
  if (arguments.contains("params")) return arguments["params"];
  Json params = arguments;
  for (const char* name : kOwnArguments) params.erase(name);
  return params;
}

base::Task<OperationResult> Answer(Authorizer& authorizer, const Authorization& answer) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const threescale::AnswerDetails details,
                               co_await threescale::ReadAnswerDetails(authorizer, answer));
  const threescale::HttpResponse response = threescale::AuthorizationResponse(answer, details);
  Json json = {{"status", response.status}, {"body", response.body}};
  for (const auto& [name, value] : response.headers) {
    if (name.starts_with("3scale-")) json["headers"][name] = value;
  }
  co_return json;
}

std::string_view PathOf(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kAuthorize:
      return "/transactions/authorize.xml";
    case Endpoint::kAuthrep:
      return "/transactions/authrep.xml";
    case Endpoint::kOauthAuthorize:
      return "/transactions/oauth_authorize.xml";
    case Endpoint::kOauthAuthrep:
      return "/transactions/oauth_authrep.xml";
  }
  return "";
}

base::Task<OperationResult> Handle(Endpoint endpoint, Session session, OperationContext context,
                                   const Json& arguments) {
  const Json params = ParametersIn(arguments);
  const Json own = OwnArguments(arguments);
  ArgumentReader reader(own);
  Parameters parameters;
  ArgumentReader params_reader(params, "/params");
  const std::string header = Text(reader, "extensions_header").value_or("");
  const OptionalText no_body = Text(params_reader, "no_body");
  parameters.request.extensions = threescale::ParseExtensions(header, no_body);
  ReadParameters(params_reader, parameters);
  REDOUBLE_CO_RETURN_IF_ERROR(params_reader.Finish());

  threescale::AuthorizerOptions options;
  options.hardening.check_and_report_atomically =
      reader.BoolOr("check_and_report_atomically", false);
  if (reader.BoolOr("legacy_referrer_filters", false)) {
    options.referrer_match = threescale::ReferrerMatch::kAnyPart;
  }
  const threescale::Process process = session->Begin(context, reader);
  threescale::NotifierOptions notifier_options;
  notifier_options.master_service_id = session->settings().master_service_id;
  notifier_options.batch_size = session->settings().notification_batch;
  threescale::Notifier notifier(process, session->queue(), notifier_options);
  threescale::Listener listener(process, session->queue(), notifier, options);

  const threescale::HttpRequest http = RequestOf("GET", PathOf(endpoint), params, header);
  const std::string info = threescale::ContextInfo(http);
  const absl::StatusOr<Authorization> answer =
      co_await listener.Handle(endpoint, parameters.request, info);
  if (!answer.ok()) {
    const bool is_answer = threescale::ErrorCodeOf(answer.status()).has_value() ||
                           parameters.request.has_malformed_usage;
    if (is_answer) co_return ErrorAnswer(answer.status(), http);
    co_return answer.status();
  }
  OperationResult told = co_await Answer(listener.authorizer(), *answer);
  const bool keeps_jobs = session->settings().memory != ThreescaleSettings::Memory::kNone;
  if (told.ok() && !keeps_jobs) (*told)["jobs"] = TakeJobs(session->queue());
  co_return told;
}

base::Task<OperationResult> Authorize(Session session, OperationContext context,
                                      const Json& arguments) {
  return Handle(Endpoint::kAuthorize, std::move(session), context, arguments);
}

base::Task<OperationResult> Authrep(Session session, OperationContext context,
                                    const Json& arguments) {
  return Handle(Endpoint::kAuthrep, std::move(session), context, arguments);
}

base::Task<OperationResult> OauthAuthorize(Session session, OperationContext context,
                                           const Json& arguments) {
  return Handle(Endpoint::kOauthAuthorize, std::move(session), context, arguments);
}

base::Task<OperationResult> OauthAuthrep(Session session, OperationContext context,
                                         const Json& arguments) {
  return Handle(Endpoint::kOauthAuthrep, std::move(session), context, arguments);
}

}  // namespace

void AddThreescaleAuthorization(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  AddThreescale(table, sessions, "http.authorize", Authorize);
  AddThreescale(table, sessions, "http.authrep", Authrep);
  AddThreescale(table, sessions, "http.oauth_authorize", OauthAuthorize);
  AddThreescale(table, sessions, "http.oauth_authrep", OauthAuthrep);
}

}  // namespace redouble::inline v0_1::scenarios
