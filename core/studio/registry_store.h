// RegistryStore: the records of services in Redis, with the index that keeps a pair of environment
// and base URL unique.
//
// Three keys belong together: the record, the set of all ids, and the owner of the pair. The
// documented store writes them one by one, which is what its hazards (G1 to G7) come from;
// Hardening::atomic_registry writes them by one script.
//
//   studio::RegistryStore registry(store);
//   absl::Status created = co_await registry.Create(record);
//   absl::StatusOr<std::optional<ServiceRecord>> found = co_await registry.Get("svc-a");
//
// Errors common to all: those of Redis; InvalidArgument (ValidationError) for a record in Redis
// that is no record. No key expires.
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: seed 000 Registry; reference/relayna.md section 6.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_STORE_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_STORE_H_

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
#include "core/studio/service_record.h"

namespace redouble::studio {

struct RegistryStoreOptions {
  std::string prefix = std::string(kDefaultRegistryPrefix);
  Hardening hardening = {};
};

class RegistryStore {
 public:
  // Makes the next record of the present one.
  using Change = std::function<absl::StatusOr<ServiceRecord>(const ServiceRecord& present)>;

  // `store` must outlive this.
  explicit RegistryStore(store::Store& store, RegistryStoreOptions options = {});

  // Adds a record. Errors: AlreadyExists (DuplicateServiceError) when the id, or the environment
  // and base URL, are taken. Three round trips (SET NX of the record, SET NX of the pair, SADD),
  // and a DEL that takes the record back when the pair is taken: until then others see it (G3), and
  // the DEL takes whatever record then stands there (G4). When SADD fails both keys are deleted.
  // Hardened: one script.
  base::Task<absl::Status> Create(const ServiceRecord& record);

  // All records by (environment, name in lower case, id); ids without a record are skipped.
  // 1 + n round trips.
  base::Task<absl::StatusOr<std::vector<ServiceRecord>>> List();

  // None when there is no such record. One round trip.
  base::Task<absl::StatusOr<std::optional<ServiceRecord>>> Get(std::string_view service_id);

  // Writes `record` in place of the one with its id. Errors: NotFound (ServiceNotFoundError);
  // AlreadyExists (DuplicateServiceError) when another service has its pair. Five round trips (GET,
  // GET of the pair's owner, SET, SADD, SET of the pair), six when the pair changed (DEL of the old
  // one). Between them a record deleted meanwhile comes back (G2), and two services can take one
  // pair (G1). Hardened: GET and one script.
  base::Task<absl::Status> Update(const ServiceRecord& record);

  // Reads the record, has it changed, and updates it: one round trip more than Update, so that
  // changes made in between are lost (G7). Hardened: GET and one script, and both again, the change
  // too, when the record was changed in between. Gives the record as written. Errors: those of
  // `change` and of Update.
  base::Task<absl::StatusOr<ServiceRecord>> Modify(std::string_view service_id, Change change);

  // Removes the record, the pair that it names, whoever owns it, and the id. Errors: NotFound
  // (ServiceNotFoundError). Four round trips: GET, DEL, DEL, SREM. Hardened: GET and one script,
  // which leaves a pair that another service owns.
  base::Task<absl::Status> Delete(std::string_view service_id);

  const RegistryKeys& keys() const { return keys_; }

 private:
  struct Stored {
    std::string json;
    ServiceRecord record;
  };

  base::Task<absl::StatusOr<std::optional<Stored>>> Read(std::string_view service_id);
  base::Task<absl::StatusOr<Stored>> ReadExisting(std::string_view service_id);
  base::Task<absl::Status> CreateInSteps(const ServiceRecord& record, std::string json);
  base::Task<absl::Status> UpdateInSteps(const ServiceRecord& record);
  base::Task<absl::Status> DeleteInSteps(std::string_view service_id);
  // False when the record is not the one that was read any more.
  base::Task<absl::StatusOr<bool>> Replace(const Stored& stored, const ServiceRecord& record);

  store::Store& store_;
  const RegistryStoreOptions options_;
  const RegistryKeys keys_;
};

// NotFound (ServiceNotFoundError).
absl::Status ServiceNotFound(std::string_view service_id);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_STORE_H_
