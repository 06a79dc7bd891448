// The capability document of a service: the routes that it offers. The registry stores it in the
// record.
//
//   absl::StatusOr<python::Value> document =
//       ReadCapabilityResponse({.http_status = 404}, "http://a.test");  // the legacy document
//   SupportsRoute(*document, kEventsFeedRoute);                         // false
//
// Thread-safety: pure functions.
// Source: docs/systems/studio.md 2.3.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_CAPABILITIES_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_CAPABILITIES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::studio {

// The path of the capability endpoint, relative to the base URL.
inline constexpr std::string_view kCapabilityPath = "/relayna/capabilities";
// The routes that Studio asks for.
inline constexpr std::string_view kEventsFeedRoute = "events.feed";
inline constexpr std::string_view kHealthWorkersRoute = "health.workers";

// Reads a document: members in the order of the model, missing ones with their defaults, unknown
// ones dropped. Errors: InvalidArgument (ValidationError).
absl::StatusOr<python::Value> ReadCapabilityDocument(const python::Value& value);

// The document of a service without the endpoint. It has no routes.
python::Value LegacyCapabilityDocument();

// True if `capabilities` is a valid document with the compatibility `capabilities_v1` that lists
// the route.
bool SupportsRoute(const python::Value& capabilities, std::string_view route);

// The response to GET base_url + kCapabilityPath.
struct HttpResponse {
  int http_status = 200;
  std::string body;
};

// Reads the document of a response. The statuses 404, 405 and 501 return the legacy document.
// Errors: Unavailable (CapabilityRefreshError) for another status, and for a body that is not a
// valid document.
absl::StatusOr<python::Value> ReadCapabilityResponse(const HttpResponse& response,
                                                     std::string_view base_url);

// Fetches capability documents. Applications implement it with HTTP, tests in memory.
class CapabilityFetcher {
 public:
  virtual ~CapabilityFetcher() = default;
  // The response of the service at `base_url`, which must outlive the task. Any error means that
  // the refresh failed; its message is stored as the reason.
  virtual base::Task<absl::StatusOr<HttpResponse>> Fetch(std::string_view base_url) = 0;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_CAPABILITIES_H_
