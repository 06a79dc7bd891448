// The documents of the search index, and the ids, words and cursors made from them.
//
//   TaskDocumentId({"svc-a", "t1"})   // "eyJzZXJ2aWNlX2lkIjoic3ZjLWEiLCJ0YXNrX2lkIjoidDEifQ=="
//   PrefixTokens("Pay API")           // a, ap, api, p, pa, pay
//
// Thread-safety: plain values, pure functions.
// Source: reference/relayna.md section 9; golden search_cursor_table.
#ifndef REDOUBLE_CORE_STUDIO_SEARCH_DOCUMENT_H_
#define REDOUBLE_CORE_STUDIO_SEARCH_DOCUMENT_H_

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/python/value.h"
#include "core/studio/keys.h"

namespace redouble::studio {

struct TaskDocument {
  std::string service_id;
  std::string service_name;
  std::string environment;
  std::string task_id;
  std::optional<std::string> correlation_id;
  std::optional<std::string> status;
  std::optional<std::string> stage;
  // ISO with Z; none when no event had a timestamp that is one.
  std::optional<std::string> first_seen_at;
  std::optional<std::string> last_seen_at;
  std::optional<std::string> latest_event_type;
  // As above, or the first event's text when that is no timestamp.
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

// Members in the models' order, and back. Errors: InvalidArgument (ValidationError).
python::Value ToValue(const TaskDocument& document);
python::Value ToValue(const ServiceDocument& document);
absl::StatusOr<TaskDocument> ReadTaskDocument(const python::Value& value);
absl::StatusOr<TaskDocument> ParseTaskDocument(std::string_view json);
absl::StatusOr<ServiceDocument> ParseServiceDocument(std::string_view json);

// URL-safe base64, with padding, of the two ids as JSON. Ids that are no UTF-8 stand for
// themselves, so that every task has one id.
std::string TaskDocumentId(TaskName task);

// The filter sets that a document is in: field and value, in the order in which they are added.
using FilterValues = std::vector<std::pair<std::string_view, std::string>>;
FilterValues FiltersOf(const TaskDocument& document);
FilterValues FiltersOf(const ServiceDocument& document);

// The words of a text: in lower case, the runs of a to z and 0 to 9; all else separates.
std::vector<std::string> Tokens(std::string_view text);
// Every beginning of every word.
std::set<std::string> PrefixTokens(std::string_view text);
// Those of all texts by which a service is found.
std::set<std::string> TokensOf(const ServiceDocument& document);
// Which of service_id, name, environment and tags have all terms, each as the beginning of a word.
std::vector<std::string> MatchedFields(const ServiceDocument& document,
                                       const std::vector<std::string>& terms);

// A cursor names one item by its members: URL-safe base64 of them as JSON.
using CursorMembers = std::initializer_list<std::pair<std::string_view, std::string_view>>;
std::string EncodeCursor(CursorMembers members);
// True when `cursor` holds these members and no other texts. Characters that base64 does not have
// are ignored. Errors: InvalidArgument (ValueError, "Invalid cursor.").
absl::StatusOr<python::Value> DecodeCursor(std::string_view cursor);
bool CursorNames(const python::Value& cursor, CursorMembers members);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_SEARCH_DOCUMENT_H_
