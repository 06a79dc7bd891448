// ServiceStore: the services of providers, as the system tells the backend about them.
//
// A provider has services, and one of them is its default, used when a request names none. Every
// operation is a row of separate commands, as in the original: others may see, and come between,
// any two of them.
//
//   ServiceStore services(process);
//   ServiceSave save = {.id = "2", .provider_key = "pkey"};
//   save.backend_version = "2";
//   absl::StatusOr<Service> saved = co_await services.Save(save);
//   absl::StatusOr<std::optional<Service>> service = co_await services.LoadById("2");
//
// Errors of every operation: those named (errors.h), and those of Redis. Reads that say so are
// memoized.
//
// Thread-safety: as Store.
// Source: seed 004 Services, reference/threescale.md 3.1.
#ifndef REDOUBLE_CORE_THREESCALE_SERVICE_H_
#define REDOUBLE_CORE_THREESCALE_SERVICE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

// How applications of a service authenticate.
enum class BackendVersion { kUserKey, kAppId, kOauth };

struct Service {
  std::string id;
  std::string provider_key;
  bool active = true;
  // As stored: "1", "2", "oauth", or none.
  std::optional<std::string> backend_version;
  bool referrer_filters_required = false;
  bool is_default = false;

  // The way that `backend_version` means; kAppId for none and for any other text.
  BackendVersion authentication() const;
};

// What a save writes.
struct ServiceSave {
  std::string_view id;
  std::string_view provider_key;
  // None leaves the stored one.
  std::optional<std::string_view> backend_version = std::nullopt;
  bool referrer_filters_required = false;
  // None is active; any text but "active" is suspended.
  std::optional<std::string_view> state = std::nullopt;
  // None: default if the provider has no default yet.
  std::optional<bool> is_default = std::nullopt;
};

struct ProviderKeyChange {
  std::optional<std::string_view> old_key;
  std::optional<std::string_view> new_key;
};

class ServiceStore {
 public:
  explicit ServiceStore(const Process& process) : process_(process) {}

  // Writes the service, and what it became. Up to ten round trips. Ids are compared as whole
  // numbers before the default is replaced: two ids that are no numbers count as equal, so that the
  // first service of a provider stores no default when its id is no number, though it says it is
  // the default. A service that moves to another provider stays among the services of the old one.
  base::Task<absl::StatusOr<Service>> Save(ServiceSave save);

  // The service; none when it has no provider. Two round trips, one when there is none. Memoized.
  base::Task<absl::StatusOr<std::optional<Service>>> LoadById(std::string_view id);

  // The service that a request means: that of the default id when `id` is none or empty; else that
  // of the part behind the last dash, or of the whole id. Errors:
  // ProviderKeyInvalidOrServiceMissing, ServiceIdInvalid, ProviderKeyInvalid (it belongs to another
  // provider, and this one has no default).
  base::Task<absl::StatusOr<Service>> LoadWithProviderKey(std::optional<std::string_view> id,
                                                          std::string_view provider_key);

  // Deletes the service, its default mark and its errors list; everything else of it stays. Errors:
  // ServiceIdInvalid; ServiceIsDefaultService when others of the provider are left.
  base::Task<absl::Status> Delete(std::string_view id);

  // The ids of the provider's services, in Redis's order. Memoized.
  base::Task<absl::StatusOr<std::vector<std::string>>> List(std::string_view provider_key);
  base::Task<absl::StatusOr<bool>> Exists(std::string_view id);

  // The id of the default service; none when there is none. Memoized.
  base::Task<absl::StatusOr<std::optional<std::string>>> DefaultId(std::string_view provider_key);
  // The provider of a service; none when there is no such service. Memoized.
  base::Task<absl::StatusOr<std::optional<std::string>>> ProviderKeyOf(std::string_view id);
  // Whether the service is this provider's; that of none is what does not exist. Memoized.
  base::Task<absl::StatusOr<bool>> IsOwnedBy(std::string_view id,
                                             std::optional<std::string_view> provider_key);

  // Gives all services of a provider to a new key, one by one. Errors: InvalidProviderKeys (none,
  // empty or equal), ProviderKeyExists, ProviderKeyNotFound, all before anything is written;
  // InvalidArgument, with the services moved and the default not, when the old provider has none.
  base::Task<absl::Status> ChangeProviderKey(ProviderKeyChange change);

 private:
  base::Task<absl::StatusOr<std::optional<Service>>> ReadById(std::string_view id);
  base::Task<absl::StatusOr<bool>> ReadIsOwnedBy(std::string_view id,
                                                 std::optional<std::string_view> provider_key);
  base::Task<absl::StatusOr<bool>> SaveDefault(const ServiceSave& save);
  base::Task<absl::Status> SaveAttributes(const ServiceSave& save);
  base::Task<absl::Status> DeleteData(const Service& service);
  base::Task<absl::Status> MoveServices(std::string_view old_key, std::string_view new_key,
                                        const std::vector<std::string>& ids);
  void Forget(std::string_view provider_key, std::string_view id);

  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_SERVICE_H_
