// AuthRequest: what a client asks of authorize and authrep, as parsed from its HTTP request.
//
//   AuthRequest request = {.provider_key = "pkey", .service_id = "2", .app_id = "37ba04ec"};
//   request.usage = Usage{{"hits", "1"}};
//   request.extensions = ParseExtensions("limit_headers=1&hierarchy=1");
//
// Thread-safety: values and pure functions.
// Source: reference/threescale.md 4.1 and 4.4.
#ifndef REDOUBLE_CORE_THREESCALE_AUTH_REQUEST_H_
#define REDOUBLE_CORE_THREESCALE_AUTH_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/threescale/usage.h"

namespace redouble::threescale {

// What a client can ask to be done differently.
struct Extensions {
  bool no_body = false;  // Only the limits that the usage touches are read.
  bool rejection_reason_header = false;
  bool limit_headers = false;
  bool hierarchy = false;
  bool flat_usage = false;  // Usage does not count for parents.
  bool list_app_keys = false;
};

// The header "3scale-options", in the syntax of a query. no_body is on with any value but "0" and
// "false", the others with "1" only; of an option that is given twice the last counts.
Extensions ParseExtensions(std::string_view header);

enum class Endpoint : uint8_t { kAuthorize, kAuthrep, kOauthAuthorize, kOauthAuthrep };

inline bool IsOauth(Endpoint endpoint) { return endpoint >= Endpoint::kOauthAuthorize; }
inline bool Reports(Endpoint endpoint) {
  return endpoint == Endpoint::kAuthrep || endpoint == Endpoint::kOauthAuthrep;
}

// Parameters as the client sent them; none is one that it did not send. The views must outlive the
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
  // The parameter usage was there, but as something that is no map.
  bool has_malformed_usage = false;
  // The `code` of the log parameter, for authrep.
  std::optional<std::string_view> log_code = std::nullopt;
  Extensions extensions = {};

  // The request as the original looks at it: without white space around the ids and keys, and empty
  // ones but the app_key taken for missing.
  AuthRequest Normalized() const;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTH_REQUEST_H_
