// SearchStore: the search documents in Redis, and the sets by which they are found.
//
// A document is one string; its id is a member of the set of all, of a set per filter value, and,
// of a task, of its service's set, of a service, of a set per token. Nothing of it expires in
// Redis. The documented store changes document and sets one command at a time, each a round trip of
// its own (S1, S2, S5); with Hardening::atomic_search_documents one script changes them together,
// if the document is still the one that was read.
//
// Errors common to all: those of Redis; InvalidArgument (ValidationError) for a document in Redis
// that is none.
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: seed 000 Search Index; reference/relayna.md section 9.
#ifndef REDOUBLE_CORE_STUDIO_SEARCH_STORE_H_
#define REDOUBLE_CORE_STUDIO_SEARCH_STORE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "core/studio/hardening.h"
#include "core/studio/keys.h"
#include "core/studio/search_document.h"

namespace redouble::studio {

struct SearchStoreOptions {
  std::string prefix = std::string(kDefaultSearchPrefix);
  Hardening hardening = {};
};

class SearchStore {
 public:
  // The document that shall stand in place of the present one, none being none; none: leave it.
  using TaskChange = std::function<absl::StatusOr<std::optional<TaskDocument>>(
      const std::optional<TaskDocument>&)>;
  using ServiceChange = std::function<ServiceDocument(const std::optional<ServiceDocument>&)>;
  // Whether the present document shall go.
  using TaskTest = std::function<bool(const std::optional<TaskDocument>&)>;

  // `store` must outlive this.
  explicit SearchStore(store::Store& store, SearchStoreOptions options = {});

  // None when there is no such document. One round trip each.
  base::Task<absl::StatusOr<std::optional<TaskDocument>>> GetTaskDocument(
      std::string_view document_id);
  base::Task<absl::StatusOr<std::optional<ServiceDocument>>> GetServiceDocument(
      std::string_view service_id);

  // Writes a document in place of what its id has, and moves the id from the sets of the present
  // document to those of the new one. GET, SREM from each set of the present one, SET, SADD to each
  // set of the new one: 2 + 4 to 7 round trips for a new task document, up to 6 more for one that
  // is there. Hardened: GET and one script, both again when the document changed in between.
  base::Task<absl::Status> SetTaskDocument(const TaskDocument& document);
  base::Task<absl::Status> SetServiceDocument(const ServiceDocument& document);

  // Reads the present document, has the next one made of it, and writes that: a GET more than
  // SetTaskDocument, so that what was written in between is lost (S6). Hardened: GET and one
  // script, both again, the change too, when the document changed in between.
  base::Task<absl::Status> ModifyTaskDocument(std::string_view document_id, TaskChange change);
  base::Task<absl::Status> ModifyServiceDocument(std::string_view service_id, ServiceChange change);

  // Removes the document, and its id from the sets that the document names and from the set of all.
  // Of a document that is not there only the set of all forgets the id (S4). GET, SREMs, DEL, SREM.
  // Hardened: GET and one script.
  base::Task<absl::Status> DeleteTaskDocument(std::string_view document_id);
  base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id);

  // Reads the document and deletes it, by a GET of its own, if `test` says so (S2: whatever is
  // there by then); true when it did. Hardened: only the document that was tested.
  base::Task<absl::StatusOr<bool>> DeleteTaskDocumentIf(std::string_view document_id,
                                                        TaskTest test);

  // The members of one set, sorted. One round trip each.
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskIds();
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskIdsOfService(
      std::string_view service_id);
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskIdsWith(std::string_view field,
                                                                   std::string_view value);
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceIds();
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceIdsWith(std::string_view field,
                                                                      std::string_view value);
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceIdsOfToken(std::string_view token);

  const Hardening& hardening() const { return options_.hardening; }

 private:
  // What differs between the documents of tasks and those of services.
  struct Kind;
  // A document's text, and the sets that name its id, in the orders of SREM and of SADD.
  struct Indexed;

  static const Kind& TaskKind();
  static const Kind& ServiceKind();

  base::Task<absl::StatusOr<std::optional<std::string>>> ReadJson(const Kind& kind,
                                                                  std::string_view id);
  absl::StatusOr<std::vector<std::string>> SetsOf(const Kind& kind,
                                                  const std::optional<std::string>& json,
                                                  bool to_remove) const;
  base::Task<absl::Status> Write(const Kind& kind, std::string_view id, std::string json);
  base::Task<absl::Status> WriteInSteps(const Kind& kind, std::string_view id, std::string json);
  base::Task<absl::Status> Remove(const Kind& kind, std::string_view id);
  base::Task<absl::Status> RemoveFromSets(const Kind& kind, std::string_view id,
                                          const std::optional<std::string>& json);
  // False when what stands there is not `expected` any more. Without `json` the document goes.
  base::Task<absl::StatusOr<bool>> Exchange(const Kind& kind, std::string_view id,
                                            const std::optional<std::string>& expected,
                                            const std::optional<std::string>& json);
  base::Task<absl::StatusOr<std::vector<std::string>>> SortedMembers(std::string key);

  store::Store& store_;
  const SearchStoreOptions options_;
  const SearchKeys keys_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_SEARCH_STORE_H_
