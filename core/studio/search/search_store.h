// SearchStore: the search documents in Redis, and the sets by which they are found.
//
// A document is one string. Its id is a member of the set of all, of one set per filter value, and,
// for a task, of the set of its service, or, for a service, of one set per token. No key expires.
// The documented store changes the document and each set with commands of their own (S1, S2, S5).
// With Hardening::atomic_search_documents one script changes them together, if the document is
// still the one that was read. SearchIndex is the class that programs use.
//
//   studio::SearchStore documents(store);
//   absl::Status written = co_await documents.SetTaskDocument(document);
//   auto ids = co_await documents.TaskIdsWith("status", "failed");   // absl::StatusOr
//
// Errors of all operations: those of Redis; InvalidArgument (ValidationError) if a document in
// Redis is invalid.
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 2.9, 2.10 and 4.13.
#ifndef REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_STORE_H_
#define REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_STORE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/studio/hardening.h"
#include "redouble/core/studio/keys.h"
#include "redouble/core/studio/search/search_document.h"

namespace redouble::inline v0_1::studio {

struct SearchStoreOptions {
  std::string prefix = std::string(kDefaultSearchPrefix);
  Hardening hardening = {};
  // Of the registry, for registered_services_only and sweep_deleted_services.
  std::string registry_prefix = std::string(kDefaultRegistryPrefix);
  // In the cluster layout the keys are the documented ones, every command has one of them, and the
  // options of `hardening` are without effect.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

class SearchStore {
 public:
  // Computes the next document from the present one. Input nullopt: the document is missing. Result
  // nullopt: leave it unchanged.
  using TaskChange = std::function<absl::StatusOr<std::optional<TaskDocument>>(
      const std::optional<TaskDocument>&)>;
  using ServiceChange = std::function<ServiceDocument(const std::optional<ServiceDocument>&)>;
  // Returns true if the present document is to be deleted.
  using TaskTest = std::function<bool(const std::optional<TaskDocument>&)>;

  // `store` must outlive this.
  explicit SearchStore(store::Store& store, SearchStoreOptions options = {});

  // Return nullopt if there is no such document. One round trip each.
  base::Task<absl::StatusOr<std::optional<TaskDocument>>> GetTaskDocument(
      std::string_view document_id);
  base::Task<absl::StatusOr<std::optional<ServiceDocument>>> GetServiceDocument(
      std::string_view service_id);

  // Return the documents in the order of the ids; nullopt for a missing one. GetEach
  // (core/store/typed/strings.h). Errors: also those of the first document that is not valid.
  template <typename Document>
  using Documents = std::vector<std::optional<Document>>;
  base::Task<absl::StatusOr<Documents<TaskDocument>>> GetTaskDocuments(
      std::vector<std::string> document_ids);
  base::Task<absl::StatusOr<Documents<ServiceDocument>>> GetServiceDocuments(
      std::vector<std::string> service_ids);

  // Replace the document of an id, and move the id from the sets of the present document to those
  // of the new one. Round trips: GET, SREM from each present set, SET, SADD to each new set: 6 to 9
  // for a new task document, and up to 6 more to replace one. Hardened: GET and one script, and
  // both again if the document changed in between. With registered_services_only nothing is written
  // for a service that is not registered.
  base::Task<absl::Status> SetTaskDocument(const TaskDocument& document);
  base::Task<absl::Status> SetServiceDocument(const ServiceDocument& document);

  // Read the present document, compute the next one by `change`, and write it: one GET more than
  // SetTaskDocument. A document that was written in between is overwritten (S6). Hardened: GET and
  // one script, and both again, with a new call of `change`, if the document changed in between.
  base::Task<absl::Status> ModifyTaskDocument(std::string_view document_id, TaskChange change);
  base::Task<absl::Status> ModifyServiceDocument(std::string_view service_id, ServiceChange change);

  // Delete the document, and remove its id from the sets that the document names and from the set
  // of all. If the document is missing, only the set of all loses the id (S4). GET, SREM of each
  // set, DEL, SREM. Hardened: GET and one script.
  base::Task<absl::Status> DeleteTaskDocument(std::string_view document_id);
  base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id);

  // Reads the document and, if `test` returns true, deletes it with a GET of its own: whatever
  // document is there by then is deleted (S2). Returns true if it was deleted. Hardened: only the
  // document that was tested is deleted.
  base::Task<absl::StatusOr<bool>> DeleteTaskDocumentIf(std::string_view document_id,
                                                        TaskTest test);

  // Removes from each filter set and each set of a service the ids whose document does not exist,
  // and returns how many. Scans the whole database. Round trips: one per page of keys, two for each
  // set, and one for each id to remove.
  base::Task<absl::StatusOr<int64_t>> SweepTaskSets();

  // Deletes the documents of the services and of their tasks that the registry does not have, if
  // the set of all has the service, and returns how many. Each is deleted by a script that looks
  // for the record again. Round trips: two; then for each such service one, and two for each of its
  // documents.
  base::Task<absl::StatusOr<int64_t>> SweepDeletedServices();

  // Return the members of one set, sorted. One round trip each.
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskIds();
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskIdsOfService(
      std::string_view service_id);
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskIdsWith(std::string_view field,
                                                                   std::string_view value);
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceIds();
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceIdsWith(std::string_view field,
                                                                      std::string_view value);
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceIdsOfToken(std::string_view token);

  // Returns the options that have an effect in the layout of the keys.
  const Hardening& hardening() const { return options_.hardening; }

 private:
  // The differences between the documents of tasks and of services.
  struct Kind;
  // The text of a document, and the sets that contain its id, in the orders of SREM and of SADD.
  struct Indexed;

  static const Kind& TaskKind();
  static const Kind& ServiceKind();

  template <typename Document>
  base::Task<absl::StatusOr<Documents<Document>>> GetDocuments(
      const Kind& kind, std::vector<std::string> ids,
      absl::StatusOr<Document> (*parse)(std::string_view));
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
  // What must hold of the record of a service when a document changes; without a key, nothing.
  struct Guard {
    std::optional<std::string> record = std::nullopt;
    bool must_exist = false;
  };
  // The replies of the script.
  enum class Outcome : uint8_t { kChanged = 0, kWritten = 1, kRefused = 2 };

  base::Task<absl::StatusOr<Outcome>> ExchangeIf(const Kind& kind, std::string_view id,
                                                 const std::optional<std::string>& expected,
                                                 const std::optional<std::string>& json,
                                                 const Guard& guard);
  // Returns false if the document is not `expected` any more. Without `json` the document is
  // deleted. With registered_services_only nothing is written for a missing service.
  base::Task<absl::StatusOr<bool>> Exchange(const Kind& kind, std::string_view id,
                                            const std::optional<std::string>& expected,
                                            const std::optional<std::string>& json);
  // Deletes a document while its service is as the guard demands. Returns true if it did.
  base::Task<absl::StatusOr<bool>> RemoveIf(const Kind& kind, std::string_view id,
                                            const Guard& guard);
  base::Task<absl::StatusOr<int64_t>> SweepTaskSet(std::string_view key);
  base::Task<absl::StatusOr<std::vector<std::string>>> SortedMembers(std::string key);

  store::Store& store_;
  const SearchStoreOptions options_;
  const SearchKeys keys_;
  const RegistryKeys registry_keys_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_STORE_H_
