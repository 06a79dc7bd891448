// The documents of the search index, and the ids, tokens and cursors that are computed from them.
//
//   TaskDocumentId({"svc-a", "t1"});   // "eyJzZXJ2aWNlX2lkIjoic3ZjLWEiLCJ0YXNrX2lkIjoidDEifQ=="
//   PrefixTokens("Pay API");           // a, ap, api, p, pa, pay
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/studio.md 2.9, 2.10 and 2.11.
#ifndef REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_DOCUMENT_H_
#define REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_DOCUMENT_H_

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"
#include "redouble/core/studio/keys.h"

namespace redouble::inline v0_1::studio {

struct TaskDocument {
  std::string service_id;
  std::string service_name;
  std::string environment;
  std::string task_id;
  std::optional<std::string> correlation_id;
  std::optional<std::string> status;
  std::optional<std::string> stage;
  // ISO with Z; nullopt if no event had a valid timestamp.
  std::optional<std::string> first_seen_at;
  std::optional<std::string> last_seen_at;
  std::optional<std::string> latest_event_type;
  // As above, or the text of the first event if that is not a valid timestamp.
  std::optional<std::string> latest_event_at;
  std::optional<std::string> latest_ingested_at;
  std::string detail_path;
  std::optional<std::string> expires_at;

  friend bool operator==(const TaskDocument&, const TaskDocument&) = default;
};

struct ServiceDocument {
  std::string service_id;
  std::string name;
  std::string environment;
  std::vector<std::string> tags;
  std::string status;
  std::optional<std::string> health_status;
  std::string base_url;
  std::string auth_mode;
  std::optional<std::string> last_seen_at;

  friend bool operator==(const ServiceDocument&, const ServiceDocument&) = default;
};

// Convert documents to objects, with the members in the order of the models, and back. Errors:
// InvalidArgument (ValidationError).
python::Value ToValue(const TaskDocument& document);
python::Value ToValue(const ServiceDocument& document);
absl::StatusOr<TaskDocument> ReadTaskDocument(const python::Value& value);
absl::StatusOr<TaskDocument> ParseTaskDocument(std::string_view json);
absl::StatusOr<ServiceDocument> ParseServiceDocument(std::string_view json);

// URL-safe base64, with padding, of the two ids as JSON. If an id is not UTF-8, the id is made of
// the lengths and bytes of both, so that every task has its own (docs/systems/studio.md D9).
std::string TaskDocumentId(TaskName task);

// The filter sets of a document: field and value, in the order in which they are added.
using FilterValues = std::vector<std::pair<std::string_view, std::string>>;
FilterValues FiltersOf(const TaskDocument& document);
FilterValues FiltersOf(const ServiceDocument& document);

// The tokens of a text: the runs of a to z and 0 to 9 after conversion to lower case.
std::vector<std::string> Tokens(std::string_view text);
// Every prefix of every token.
std::set<std::string> PrefixTokens(std::string_view text);
// The prefix tokens of all texts by which a service is found.
std::set<std::string> TokensOf(const ServiceDocument& document);
// The fields, of service_id, name, environment and tags, that contain every term as the prefix of a
// token.
std::vector<std::string> MatchedFields(const ServiceDocument& document,
                                       const std::vector<std::string>& terms);

// The members of the item that a cursor names.
using CursorMembers = std::initializer_list<std::pair<std::string_view, std::string_view>>;
std::string EncodeCursor(CursorMembers members);
// DecodeCursor skips characters that are not base64. Errors: InvalidArgument (ValueError, "Invalid
// cursor."). CursorNames returns true if the texts of the cursor are
// exactly these members.
absl::StatusOr<python::Value> DecodeCursor(std::string_view cursor);
bool CursorNames(const python::Value& cursor, CursorMembers members);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_DOCUMENT_H_
