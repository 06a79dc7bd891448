// What a service says it can do: the capability document that the registry keeps with the record.
//
//   absl::StatusOr<python::Value> document =
//       ReadCapabilityResponse({.http_status = 404}, "http://a.test");  // the legacy fallback
//   SupportsRoute(*document, kEventsFeedRoute)                          // false
//
// Thread-safety: pure functions.
// Source: reference/relayna.md sections 6, 7 (pull sync) and 8 (worker).
#ifndef REDOUBLE_CORE_STUDIO_CAPABILITIES_H_
#define REDOUBLE_CORE_STUDIO_CAPABILITIES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/python/value.h"

namespace redouble::studio {

// Where a service answers with its document, behind its base URL.
inline constexpr std::string_view kCapabilityPath = "/relayna/capabilities";
// Routes that Studio asks for.
inline constexpr std::string_view kEventsFeedRoute = "events.feed";
inline constexpr std::string_view kHealthWorkersRoute = "health.workers";

// The document in its model's form: members in the model's order, absent ones at their defaults,
// unknown ones dropped. Errors: InvalidArgument (ValidationError).
absl::StatusOr<python::Value> ReadCapabilityDocument(const python::Value& value);

// What stands for the document of a service that has no such endpoint: no routes.
python::Value LegacyCapabilityDocument();

// True when `capabilities` is a valid document of compatibility `capabilities_v1` that lists the
// route; null and anything invalid support nothing.
bool SupportsRoute(const python::Value& capabilities, std::string_view route);

// What came of GET base_url + kCapabilityPath.
struct HttpResponse {
  int http_status = 200;
  std::string body;
};

// The document in a response. Statuses 404, 405 and 501 give the legacy document. Errors:
// Unavailable (CapabilityRefreshError): another status, a body that is no JSON or no document.
absl::StatusOr<python::Value> ReadCapabilityResponse(const HttpResponse& response,
                                                     std::string_view base_url);

// Fetches capability documents. Implementations do the HTTP; tests answer from memory.
class CapabilityFetcher {
 public:
  virtual ~CapabilityFetcher() = default;
  // The response of the service at `base_url`, which outlives the task. Any error counts as a
  // failed refresh; its message is kept as the reason.
  virtual base::Task<absl::StatusOr<HttpResponse>> Fetch(std::string_view base_url) = 0;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_CAPABILITIES_H_
