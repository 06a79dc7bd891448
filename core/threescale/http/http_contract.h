// The HTTP contract of the listener as pure functions: a request in; a call, and a response, out.
//
// A server is then a thin shell: it parses HTTP, calls Backend::Handle (backend/backend.h), and
// writes the response. These functions are for programs that have their own Backend.
//
//   const HttpRequest request = {.path = "/transactions/authrep.xml",
//                                .query = "provider_key=pk&app_id=a&usage[hits]=1"};
//   HttpCall call = ParseHttpRequest(request);
//   // std::get<AuthCall>(call).View(), std::get<ReportRequest>(call), or a ready HttpResponse.
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/threescale.md 4.27.
#ifndef REDOUBLE_CORE_THREESCALE_HTTP_HTTP_CONTRACT_H_
#define REDOUBLE_CORE_THREESCALE_HTTP_HTTP_CONTRACT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/threescale/authorize/auth_request.h"
#include "redouble/core/threescale/authorize/authorizer.h"
#include "redouble/core/threescale/http/answer_xml.h"
#include "redouble/core/threescale/http/form.h"
#include "redouble/core/threescale/report/reporter.h"

namespace redouble::inline v0_1::threescale {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string path;
  std::string query = {};
  // Names in any case.
  HttpHeaders headers = {};
  std::string body = {};
  // For the errors list: scheme, host and port, and the address of the client.
  std::string origin = "http://example.org";
  std::string ip = {};

  // Returns the value of a header, or nullopt.
  std::optional<std::string_view> Header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers = {};
  std::string body = {};

  friend bool operator==(const HttpResponse&, const HttpResponse&) = default;
};

// A request of one of the four authorization endpoints.
struct AuthCall {
  Endpoint endpoint = Endpoint::kAuthorize;
  FormValue parameters;
  Extensions extensions;

  // Returns the request; its views are into `parameters`.
  AuthRequest View() const;
};

using HttpCall = std::variant<AuthCall, ReportRequest, HttpResponse>;

// Returns the call of a request:
//
// * an AuthCall for a GET of one of the four authorization endpoints;
// * a ReportRequest for a POST of /transactions.xml;
// * otherwise a response: 200 and "ok" for a GET of /check.txt; 400 for parameters that Rack
// refuses
//   (bad_request) or that are not UTF-8 (not_valid_data); 404 without a body for any other request.
HttpCall ParseHttpRequest(const HttpRequest& request);

// Returns the description of a request for the errors list (2.8).
std::string ContextInfo(const HttpRequest& request);

// Return the response of an authorization, of an accepted report, and of an error: that of its
// code, or 403 without a body for a usage that is not a map. Errors of Redis have no response here;
// a server answers 500 or 503.
HttpResponse AuthorizationResponse(const Authorization& authorization,
                                   const AnswerDetails& details);
HttpResponse ReportResponse();
HttpResponse ErrorResponse(const absl::Status& error);
// Without a body, if `request` asks for none: by an option, or by the parameter no_body of the
// query.
HttpResponse ErrorResponse(const absl::Status& error, const HttpRequest& request);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_HTTP_HTTP_CONTRACT_H_
