// ServiceStore: the services of providers, as system writes them to the backend.
//
// A provider has services, and one of them is its default, which is used if a request names no
// service. Each operation sends separate commands, as the original does, so that other clients can
// see and change the keys between any two of them.
//
//   ServiceStore services(process);
//   ServiceSave save = {.id = "2", .provider_key = "pkey"};
//   save.backend_version = "2";
//   absl::StatusOr<Service> saved = co_await services.Save(save);
//   absl::StatusOr<std::optional<Service>> service = co_await services.LoadById("2");
//
// Errors of every operation: those that it names (errors.h), and those of Redis. Reads that are
// marked as memoized use Process::memoizer.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 2.9, 4.1, 4.2, H16, H17.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_SERVICE_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_SERVICE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

// How applications of a service authenticate.
enum class BackendVersion { kUserKey, kAppId, kOauth };

struct Service {
  std::string id;
  std::string provider_key;
  bool active = true;
  // The stored text: "1", "2", "oauth", or missing.
  std::optional<std::string> backend_version;
  bool referrer_filters_required = false;
  bool is_default = false;

  // The meaning of `backend_version`; kAppId if it is missing or another text.
  BackendVersion authentication() const;
};

// The arguments of Save.
struct ServiceSave {
  std::string_view id;
  std::string_view provider_key;
  // Nullopt keeps the stored value.
  std::optional<std::string_view> backend_version = std::nullopt;
  bool referrer_filters_required = false;
  // Nullopt: "active". Any other text than "active" is stored as "suspended".
  std::optional<std::string_view> state = std::nullopt;
  // Nullopt: the service becomes the default if the provider has none.
  std::optional<bool> is_default = std::nullopt;
};

// The text that a save stores as the state.
std::string_view StoredState(const ServiceSave& save);

struct ProviderKeyChange {
  std::optional<std::string_view> old_key;
  std::optional<std::string_view> new_key;
};

// The error of a change of keys without a default service: the original passes the missing id to
// its client library, which refuses it.
absl::Status MissingDefaultError();

class ServiceStore {
 public:
  explicit ServiceStore(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Saves the service and returns it. Up to ten round trips. Ids are compared as whole numbers
  // before the default is replaced. All ids without digits read as 0, so a first service with such
  // an id reports that it is the default but does not store it. A service that moves to another
  // provider stays in the set of the old one. With change_services_atomically two round trips, and
  // two more for each default that another process saves in between.
  base::Task<absl::StatusOr<Service>> Save(ServiceSave save);

  // Returns the service, or nullopt if it has no provider key. Two round trips, or one if it is
  // missing. Memoized.
  base::Task<absl::StatusOr<std::optional<Service>>> LoadById(std::string_view id);

  // Returns the service of a request. If `id` is missing or empty, this is the default service;
  // otherwise the service named by the part of `id` after its last dash, or by the whole id.
  // Errors: ProviderKeyInvalidOrServiceMissing, ServiceIdInvalid, and ProviderKeyInvalid if the
  // service belongs to another provider and this one has no default.
  // Source: docs/systems/threescale.md 4.1.
  base::Task<absl::StatusOr<Service>> LoadWithProviderKey(std::optional<std::string_view> id,
                                                          std::string_view provider_key);

  // Deletes the service, its default mark and its errors list; its other keys stay. Errors:
  // ServiceIdInvalid; ServiceIsDefaultService while the provider has other services. With
  // change_services_atomically two round trips, without the memoizer, and two more for each change
  // of the provider key in between.
  base::Task<absl::Status> Delete(std::string_view id);

  // Returns the ids of the provider's services, in the order of Redis. Memoized.
  base::Task<absl::StatusOr<std::vector<std::string>>> List(std::string_view provider_key);
  base::Task<absl::StatusOr<bool>> Exists(std::string_view id);

  // Returns the id of the default service, or nullopt. Memoized.
  base::Task<absl::StatusOr<std::optional<std::string>>> DefaultId(std::string_view provider_key);
  // Returns the provider key of a service, or nullopt if there is no such service. Memoized.
  base::Task<absl::StatusOr<std::optional<std::string>>> ProviderKeyOf(std::string_view id);
  // Whether the service belongs to this provider. A null provider matches only a missing service.
  // Memoized.
  base::Task<absl::StatusOr<bool>> IsOwnedBy(std::string_view id,
                                             std::optional<std::string_view> provider_key);

  // Moves all services of a provider to a new key, one by one. Errors: InvalidProviderKeys
  // (missing, empty or equal keys), ProviderKeyExists and ProviderKeyNotFound, all before a write;
  // InvalidArgument if the old provider has no default, after the services were moved. With
  // change_services_atomically all of them move in one step or, also without a default, none does:
  // two round trips, and two more for each save in between.
  // Source: docs/systems/threescale.md 4.2, H16.
  base::Task<absl::Status> ChangeProviderKey(ProviderKeyChange change);

 private:
  base::Task<absl::StatusOr<std::optional<Service>>> ReadById(std::string_view id);
  base::Task<absl::StatusOr<bool>> ReadIsOwnedBy(std::string_view id,
                                                 std::optional<std::string_view> provider_key);
  // Saves the service and returns whether it is the default.
  base::Task<absl::StatusOr<bool>> SaveInSteps(const ServiceSave& save);
  base::Task<absl::StatusOr<bool>> SaveDefault(const ServiceSave& save);
  base::Task<absl::Status> SaveAttributes(const ServiceSave& save);
  base::Task<absl::Status> DeleteData(const Service& service);
  base::Task<absl::Status> MoveServices(std::string_view old_key, std::string_view new_key,
                                        const std::vector<std::string>& ids);
  // The same with change_services_atomically.
  base::Task<absl::StatusOr<bool>> SaveByScript(const ServiceSave& save);
  base::Task<absl::Status> DeleteByScript(std::string_view id);
  base::Task<absl::Status> ChangeByScript(std::string_view old_key, std::string_view new_key);
  // One attempt: whether nothing has changed since the reads, so that the services were moved.
  base::Task<absl::StatusOr<bool>> TryToChange(std::string_view old_key, std::string_view new_key);
  bool changes_atomically() const {
    return hardening_.change_services_atomically &&
           process_.keys.layout() == store::KeyLayout::kDocumented;
  }
  void Forget(std::string_view provider_key, std::string_view id);

  Process process_;
  Hardening hardening_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_SERVICE_H_
