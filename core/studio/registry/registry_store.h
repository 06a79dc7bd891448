// RegistryStore: the service records in Redis, with an index that keeps pairs of environment and
// base URL unique.
//
// A service has three keys: its record, its id in the set of all ids, and the owner of its pair.
// The documented store writes them one by one, which causes the hazards G1 to G7. With
// Hardening::atomic_registry one script writes them.
//
//   studio::RegistryStore registry(store);
//   absl::Status created = co_await registry.Create(record);
//   absl::StatusOr<std::optional<ServiceRecord>> found = co_await registry.Get("svc-a");
//
// Errors of all operations: those of Redis; InvalidArgument (ValidationError) if a record in Redis
// is invalid. No key expires.
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 2.1 and 4.1 to 4.4.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_REGISTRY_STORE_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_REGISTRY_STORE_H_

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
#include "redouble/core/studio/registry/service_record.h"

namespace redouble::inline v0_1::studio {

struct RegistryStoreOptions {
  std::string prefix = std::string(kDefaultRegistryPrefix);
  Hardening hardening = {};
  // In the cluster layout the keys are the documented ones, every command has one of them, and
  // atomic_registry is without effect.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

class RegistryStore {
 public:
  // Computes the next record from the present one.
  using Change = std::function<absl::StatusOr<ServiceRecord>(const ServiceRecord& present)>;

  // `store` must outlive this.
  explicit RegistryStore(store::Store& store, RegistryStoreOptions options = {});

  // Adds a record. Three round trips (SET NX of the record, SET NX of the pair, SADD). If the pair
  // is taken, a DEL removes the record again: until then other clients see it (G3), and the DEL
  // removes whatever record has the key by then (G4). If SADD fails, both keys are deleted.
  // Hardened: one script.
  //
  // Errors: AlreadyExists (DuplicateServiceError) if the id, or the pair of environment and base
  // URL, is taken.
  base::Task<absl::Status> Create(const ServiceRecord& record);

  // Returns all records in the order of environment, name in lower case and id. Ids without a
  // record are skipped. Two round trips; the second one reads up to 400 records (GetEach), and each
  // 400 more are a further one.
  base::Task<absl::StatusOr<std::vector<ServiceRecord>>> List();

  // Returns nullopt if there is no such record. One round trip.
  base::Task<absl::StatusOr<std::optional<ServiceRecord>>> Get(std::string_view service_id);

  // Replaces the record with the same id. Five round trips (GET, GET of the pair's owner, SET,
  // SADD, SET of the pair), six if the pair changed (DEL of the old one). Between them a record
  // that was deleted comes back (G2), and two services can take one pair (G1). Hardened: GET and
  // one script.
  //
  // Errors: NotFound (ServiceNotFoundError); AlreadyExists (DuplicateServiceError) if another
  // service owns the new pair.
  base::Task<absl::Status> Update(const ServiceRecord& record);

  // Reads the record, applies `change`, and updates it. Returns the record as written. One round
  // trip more than Update; changes made between read and write are lost (G7). Hardened: GET and one
  // script, and both again, with a new call of `change`, if the record changed in between.
  //
  // Errors: those of `change` and of Update.
  base::Task<absl::StatusOr<ServiceRecord>> Modify(std::string_view service_id, Change change);

  // Deletes the record, the pair that it names (also if another service owns it), and the id. Four
  // round trips: GET, DEL, DEL, SREM. Hardened: GET and one script, which keeps a pair that another
  // service owns.
  //
  // Errors: NotFound (ServiceNotFoundError).
  base::Task<absl::Status> Delete(std::string_view service_id);

  const RegistryKeys& keys() const { return keys_; }

 private:
  struct Stored {
    std::string json;
    ServiceRecord record;
  };

  // Whether one script can write the three keys of a service.
  bool is_atomic() const {
    return options_.hardening.atomic_registry &&
           options_.key_layout == store::KeyLayout::kDocumented;
  }
  base::Task<absl::Status> DeleteBoth(std::string_view record_key, std::string_view pair_key);
  base::Task<absl::StatusOr<std::optional<Stored>>> Read(std::string_view service_id);
  base::Task<absl::StatusOr<Stored>> ReadExisting(std::string_view service_id);
  base::Task<absl::Status> CreateInSteps(const ServiceRecord& record, std::string json);
  base::Task<absl::Status> UpdateInSteps(const ServiceRecord& record);
  base::Task<absl::Status> DeleteInSteps(std::string_view service_id);
  // Returns false if the record has changed since it was read.
  base::Task<absl::StatusOr<bool>> Replace(const Stored& stored, const ServiceRecord& record);

  store::Store& store_;
  const RegistryStoreOptions options_;
  const RegistryKeys keys_;
};

// NotFound (ServiceNotFoundError).
absl::Status ServiceNotFound(std::string_view service_id);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_REGISTRY_STORE_H_
