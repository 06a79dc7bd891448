// ApplicationStore: the applications of a service, their keys, user keys and referrer filters.
//
// An application exists while it has a state. Deleting it leaves its keys, filters, user keys and
// counters behind, so that one that is made again with the same id inherits them.
//
//   ApplicationStore applications(process);
//   absl::StatusOr<std::optional<Application>> application =
//       co_await applications.Load({"2", "593a8c1a"});
//   if (application.ok() && *application && (*application)->active()) ...
//
// Errors of every operation: those named (errors.h), and those of Redis. Reads that say so are
// memoized.
//
// Thread-safety: as Store.
// Source: seed 004 Applications, reference/threescale.md 3.3.
#ifndef REDOUBLE_CORE_THREESCALE_APPLICATION_H_
#define REDOUBLE_CORE_THREESCALE_APPLICATION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/rng.h"
#include "core/base/task.h"
#include "core/threescale/keys.h"
#include "core/threescale/process.h"
#include "core/threescale/usage_limit.h"

namespace redouble::threescale {

// The limits that an application object found when it last asked.
using KeptLimits = std::optional<std::vector<UsageLimit>>;

struct Application {
  std::string service_id;
  std::string id;
  std::string state;  // Any text.
  std::optional<std::string> plan_id;
  std::optional<std::string> plan_name;
  std::optional<std::string> redirect_url;
  // Shared by the copies of one that is memoized, and no older than that, so that a process knows
  // limits for up to two minutes. The last authorization sets them, one with no_body to those that
  // it read; the utilization takes them as they are. Null without a memoizer.
  std::shared_ptr<KeptLimits> kept_limits;

  bool active() const { return state == "active"; }
  ApplicationRef ref() const { return {service_id, id}; }
  // Of no plan: with an empty id.
  PlanRef plan() const { return {service_id, plan_id ? *plan_id : std::string_view()}; }
};

struct ApplicationSave {
  std::string_view service_id;
  std::optional<std::string_view> id = std::nullopt;
  std::optional<std::string_view> state = std::nullopt;
  // None leaves the stored one: an attribute cannot be taken back.
  std::optional<std::string_view> plan_id = std::nullopt;
  std::optional<std::string_view> plan_name = std::nullopt;
  std::optional<std::string_view> redirect_url = std::nullopt;
};

// How a transaction names its application.
struct ApplicationIdentity {
  std::optional<std::string_view> app_id = std::nullopt;
  std::optional<std::string_view> user_key = std::nullopt;
};

class ApplicationStore {
 public:
  explicit ApplicationStore(const Process& process) : process_(process) {}

  // One pipeline. Errors: ApplicationHasNoID, ApplicationHasNoState, before anything is sent.
  base::Task<absl::Status> Save(ApplicationSave save);
  // One round trip. None when it does not exist. Memoized.
  base::Task<absl::StatusOr<std::optional<Application>>> Load(ApplicationRef application);
  // As Load, but the error ApplicationNotFound in place of none.
  base::Task<absl::StatusOr<Application>> LoadOrFail(ApplicationRef application);
  // One round trip. Memoized.
  base::Task<absl::StatusOr<bool>> Exists(ApplicationRef application);
  // EXISTS and a pipeline. Errors: ApplicationNotFound.
  base::Task<absl::Status> Delete(ApplicationRef application);

  // Lets a user key stand for the application, whatever it stood for before. One round trip.
  // Errors: ApplicationHasInconsistentData when service, id or key is blank.
  base::Task<absl::Status> SaveUserKey(UserKeyRef user_key, std::string_view application_id);
  // True when there was such a key. One round trip.
  base::Task<absl::StatusOr<bool>> DeleteUserKey(UserKeyRef user_key);
  // The id of the application that a user key stands for, which may not exist (any more). One round
  // trip. Memoized.
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadIdByUserKey(UserKeyRef user_key);

  // The id of the application that a transaction means, which exists. Errors: AuthenticationError
  // (both are given), UserKeyInvalid, ApplicationNotFound (also when none is given).
  base::Task<absl::StatusOr<std::string>> FindId(std::string_view service_id,
                                                 ApplicationIdentity identity);

  // Adds a key, and gives it; without a value one of 32 random hexadecimal digits. Loads the
  // application and adds: two round trips. Errors: ApplicationNotFound.
  base::Task<absl::StatusOr<std::string>> CreateKey(ApplicationRef application,
                                                    std::optional<std::string_view> value,
                                                    base::Rng& rng);
  // True when there was such a key. Otherwise as CreateKey.
  base::Task<absl::StatusOr<bool>> DeleteKey(ApplicationRef application, std::string_view value);
  // The keys in Redis's order; whether there are any; whether one is among them. One round trip
  // each. Memoized; a change of the keys does not make the process forget the last of the three.
  base::Task<absl::StatusOr<std::vector<std::string>>> Keys(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> HasKeys(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> HasKey(ApplicationRef application, std::string_view value);

  // The same for referrer filters. Errors of CreateReferrerFilter also: ReferrerFilterInvalid for a
  // blank one.
  base::Task<absl::StatusOr<std::string>> CreateReferrerFilter(ApplicationRef application,
                                                               std::string_view value);
  base::Task<absl::StatusOr<bool>> DeleteReferrerFilter(ApplicationRef application,
                                                        std::string_view value);
  base::Task<absl::StatusOr<std::vector<std::string>>> ReferrerFilters(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> HasReferrerFilters(ApplicationRef application);

 private:
  base::Task<absl::StatusOr<std::optional<Application>>> Read(ApplicationRef application);
  base::Task<absl::StatusOr<std::vector<std::string>>> Members(std::string key);
  base::Task<absl::StatusOr<bool>> HasMembers(std::string key);
  void Forget(const ApplicationRef& application);
  void ForgetMembers(std::string_view key);

  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_APPLICATION_H_
