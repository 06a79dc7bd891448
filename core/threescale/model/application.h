// ApplicationStore: the applications of a service, their keys, user keys and referrer filters.
//
// An application exists while it has a state. A deletion leaves its keys, filters, user keys and
// counters, and an application that is created again with the same id inherits them.
//
//   ApplicationStore applications(process);
//   absl::StatusOr<std::optional<Application>> application =
//       co_await applications.Load({"2", "593a8c1a"});
//   if (application.ok() && *application && (*application)->active()) ...
//
// Errors of every operation: those that it names (errors.h), and those of Redis. Reads that are
// marked as memoized use Process::memoizer.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 3.5, 4.4.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_APPLICATION_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_APPLICATION_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

// The limits that were last read for an application object.
using KeptLimits = std::optional<std::vector<UsageLimit>>;

struct Application {
  std::string service_id;
  std::string id;
  std::string state;  // Any text; only "active" is active.
  std::optional<std::string> plan_id;
  std::optional<std::string> plan_name;
  std::optional<std::string> redirect_url;
  // The limits that the last authorization read, shared by all copies of a memoized application.
  // They can be as old as the application, so that a process can use limits for up to two minutes.
  // An authorization with no_body keeps only the limits that it read; the utilization uses them
  // unchanged. Null without a memoizer.
  std::shared_ptr<KeptLimits> kept_limits;

  bool active() const { return state == "active"; }
  ApplicationRef ref() const { return {service_id, id}; }
  // The plan; its id is empty for an application without a plan.
  PlanRef plan() const { return {service_id, plan_id ? *plan_id : std::string_view()}; }
};

struct ApplicationSave {
  std::string_view service_id;
  std::optional<std::string_view> id = std::nullopt;
  std::optional<std::string_view> state = std::nullopt;
  // Nullopt keeps the stored value; an attribute cannot be removed.
  std::optional<std::string_view> plan_id = std::nullopt;
  std::optional<std::string_view> plan_name = std::nullopt;
  std::optional<std::string_view> redirect_url = std::nullopt;
};

// How a transaction identifies its application.
struct ApplicationIdentity {
  std::optional<std::string_view> app_id = std::nullopt;
  std::optional<std::string_view> user_key = std::nullopt;
};

class ApplicationStore {
 public:
  explicit ApplicationStore(const Process& process) : process_(process) {}

  // Saves an application. One pipeline. Errors, before a command is sent: ApplicationHasNoID,
  // ApplicationHasNoState.
  base::Task<absl::Status> Save(ApplicationSave save);
  // Returns an application, or nullopt if it does not exist. One round trip. Memoized.
  base::Task<absl::StatusOr<std::optional<Application>>> Load(ApplicationRef application);
  // As Load, but fails with ApplicationNotFound if it does not exist.
  base::Task<absl::StatusOr<Application>> LoadOrFail(ApplicationRef application);
  // Whether an application exists. One round trip. Memoized.
  base::Task<absl::StatusOr<bool>> Exists(ApplicationRef application);
  // Deletes an application. EXISTS and a pipeline: two round trips. Errors: ApplicationNotFound.
  base::Task<absl::Status> Delete(ApplicationRef application);

  // Maps a user key to the application, and replaces an existing mapping. One round trip. Errors:
  // ApplicationHasInconsistentData if the service, the id or the key is blank.
  base::Task<absl::Status> SaveUserKey(UserKeyRef user_key, std::string_view application_id);
  // Removes a user key, and returns whether it existed. One round trip.
  base::Task<absl::StatusOr<bool>> DeleteUserKey(UserKeyRef user_key);
  // Returns the id of the application that a user key maps to, or nullopt. The application itself
  // may not exist. One round trip. Memoized.
  base::Task<absl::StatusOr<std::optional<std::string>>> LoadIdByUserKey(UserKeyRef user_key);

  // Returns the id of the application of a transaction, which exists. Errors: AuthenticationError
  // if both fields of `identity` are given, UserKeyInvalid, ApplicationNotFound (also if neither is
  // given).
  // Source: docs/systems/threescale.md 4.4.
  base::Task<absl::StatusOr<std::string>> FindId(std::string_view service_id,
                                                 ApplicationIdentity identity);

  // Adds an application key and returns it. Without a value, creates one of 32 random hexadecimal
  // digits. Loads the application first: two round trips. Errors: ApplicationNotFound.
  base::Task<absl::StatusOr<std::string>> CreateKey(ApplicationRef application,
                                                    std::optional<std::string_view> value,
                                                    base::Rng& rng);
  // Removes an application key, and returns whether it existed. Otherwise as CreateKey.
  base::Task<absl::StatusOr<bool>> DeleteKey(ApplicationRef application, std::string_view value);
  // Returns the keys in the order of Redis; whether there is one; whether one is among them. One
  // round trip each. Memoized; a change of the keys does not clear the entry of HasKey.
  base::Task<absl::StatusOr<std::vector<std::string>>> Keys(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> HasKeys(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> HasKey(ApplicationRef application, std::string_view value);

  // The same operations for referrer filters. Errors of CreateReferrerFilter also:
  // ReferrerFilterInvalid for a blank filter.
  base::Task<absl::StatusOr<std::string>> CreateReferrerFilter(ApplicationRef application,
                                                               std::string_view value);
  base::Task<absl::StatusOr<bool>> DeleteReferrerFilter(ApplicationRef application,
                                                        std::string_view value);
  base::Task<absl::StatusOr<std::vector<std::string>>> ReferrerFilters(ApplicationRef application);
  base::Task<absl::StatusOr<bool>> HasReferrerFilters(ApplicationRef application);

  // Adds keys and referrer filters, also to an application that does not exist yet. One pipeline;
  // no command if both are empty.
  base::Task<absl::Status> AddMembers(ApplicationRef application, std::span<const std::string> keys,
                                      std::span<const std::string> referrer_filters);

 private:
  base::Task<absl::StatusOr<std::optional<Application>>> Read(ApplicationRef application);
  base::Task<absl::StatusOr<std::vector<std::string>>> Members(std::string key);
  base::Task<absl::StatusOr<bool>> HasMembers(std::string key);
  void Forget(const ApplicationRef& application);
  void ForgetMembers(std::string_view key);

  Process process_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_APPLICATION_H_
