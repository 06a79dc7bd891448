// AuthRequest: the parameters of an authorize or authrep request, as parsed from HTTP.
//
// Pass it to Listener::Handle, or after Normalized() to Authorizer.
//
//   AuthRequest request = {.provider_key = "pkey", .service_id = "2", .app_id = "37ba04ec"};
//   request.usage = Usage{{"hits", "1"}};
//   request.extensions = ParseExtensions("limit_headers=1&hierarchy=1");
//
// Thread-safety: values and pure functions.
// Source: docs/systems/threescale.md 4.11, 4.14, D17.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZE_AUTH_REQUEST_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZE_AUTH_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/core/threescale/model/usage.h"

namespace redouble::inline v0_1::threescale {

// The extensions that a client can enable.
struct Extensions {
  bool no_body = false;  // Reads only the limits of the metrics of the usage.
  bool rejection_reason_header = false;
  bool limit_headers = false;
  bool hierarchy = false;
  bool flat_usage = false;  // Usage is not propagated to parents.
  bool list_app_keys = false;
};

// Parses the header "3scale-options", which has the syntax of a query string. no_body is on for any
// value except "0" and "false", the others only for "1". If an option is repeated, the last value
// is used. `no_body` is the parameter of that name, which counts if the header has no such value.
Extensions ParseExtensions(std::string_view header,
                           std::optional<std::string_view> no_body = std::nullopt);
// Returns whether that value of no_body turns it on.
bool IsNoBody(std::string_view value);

enum class Endpoint : uint8_t { kAuthorize, kAuthrep, kOauthAuthorize, kOauthAuthrep };

inline bool IsOauth(Endpoint endpoint) { return endpoint >= Endpoint::kOauthAuthorize; }
inline bool Reports(Endpoint endpoint) {
  return endpoint == Endpoint::kAuthrep || endpoint == Endpoint::kOauthAuthrep;
}

// The parameters as the client sent them; nullopt for a missing one. The views must outlive the
// task that takes the request.
struct AuthRequest {
  std::optional<std::string_view> provider_key = std::nullopt;
  std::optional<std::string_view> service_token = std::nullopt;
  std::optional<std::string_view> service_id = std::nullopt;
  std::optional<std::string_view> app_id = std::nullopt;
  std::optional<std::string_view> app_key = std::nullopt;
  std::optional<std::string_view> user_key = std::nullopt;
  std::optional<std::string_view> user_id = std::nullopt;
  std::optional<std::string_view> referrer = std::nullopt;
  std::optional<std::string_view> redirect_url = std::nullopt;
  std::optional<std::string_view> redirect_uri = std::nullopt;
  // By metric name.
  std::optional<Usage> usage = std::nullopt;
  // The parameter usage was present but not a map.
  bool has_malformed_usage = false;
  // The `code` of the log parameter, for authrep.
  std::optional<std::string_view> log_code = std::nullopt;
  Extensions extensions = {};

  // Returns the request as the original evaluates it: a blank provider_key, service_id, app_id or
  // user_key is missing, and a padded one stays as it is. Only app_key loses surrounding white
  // space, and it stays when it is empty.
  AuthRequest Normalized() const;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZE_AUTH_REQUEST_H_
