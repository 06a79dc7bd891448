// The XML documents of answers: authorizations and errors, byte for byte as the original writes
// them.
//
//   absl::StatusOr<AnswerDetails> details = co_await ReadAnswerDetails(authorizer, authorization);
//   AuthorizationXml(authorization, *details)
//       // <?xml version="1.0" encoding="UTF-8"?><status><authorized>true</authorized>...</status>
//   ErrorXml(status)   // <?xml ...?><error code="metric_invalid">metric "x" is invalid</error>
//
// Thread-safety: as Store; plain values and pure functions.
// Source: docs/systems/threescale.md 2.10, 4.14.
#ifndef REDOUBLE_CORE_THREESCALE_HTTP_ANSWER_XML_H_
#define REDOUBLE_CORE_THREESCALE_HTTP_ANSWER_XML_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/authorize/authorizer.h"

namespace redouble::inline v0_1::threescale {

// What an answer contains beside the authorization.
struct AnswerDetails {
  // With Extensions::limit_headers, if the request is authorized or rejected for its limits.
  std::optional<LimitHeaders> limits;
  std::vector<UsageReport> reports;
  std::vector<std::string> oauth_keys;   // Of an OAuth endpoint.
  std::vector<std::string> listed_keys;  // With Extensions::list_app_keys.
  HierarchyReport hierarchy;             // With Extensions::hierarchy.
};

// Reads the details in the order of the original: limits, then, unless Extensions::no_body is on,
// the keys, the reports, the listed keys and the hierarchy. Errors and round trips: those of
// Authorizer.
base::Task<absl::StatusOr<AnswerDetails>> ReadAnswerDetails(Authorizer& authorizer,
                                                            const Authorization& authorization);

// Returns the body of an answer; empty with Extensions::no_body.
std::string AuthorizationXml(const Authorization& authorization, const AnswerDetails& details);

// Returns the document of an error from MakeError. A status without a code has none: "".
std::string ErrorXml(const absl::Status& error);

// Returns `text` with &, < and > as entities.
std::string XmlText(std::string_view text);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_HTTP_ANSWER_XML_H_
