// SystemService: all that system knows of a service, and its restoration in Redis.
//
// System normally writes each change with the stores of this folder. Use RestoreService for a Redis
// that has lost its data, or that missed changes.
//
//   SystemService service;
//   service.id = "2";
//   service.provider_key = "pkey";
//   service.metrics = {{"2", "6", "hits"}};
//   service.applications = {{.id = "app", .plan_id = "44"}};
//   absl::Status restored = co_await RestoreService(process, service);
//
// Requests may arrive meanwhile. The service is written last, and an application after its keys,
// its referrer filters and the limits of its plan, so no request is authorized that the complete
// data would reject. What Redis has and system has not stays, as do counters, alerts and events,
// which system does not have.
//
// Thread-safety: plain values, and as Store.
// Source: docs/systems/threescale.md 4.30.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_SYSTEM_DATA_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_SYSTEM_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct SystemApplication {
  std::string id;
  std::string state = "active";
  std::optional<std::string> plan_id = std::nullopt;
  std::optional<std::string> plan_name = std::nullopt;
  std::optional<std::string> redirect_url = std::nullopt;
  std::vector<std::string> user_keys = {};
  std::vector<std::string> keys = {};
  std::vector<std::string> referrer_filters = {};
};

struct SystemPlan {
  std::string id;
  std::vector<UsageLimit> limits;
};

struct SystemService {
  std::string id;
  std::string provider_key;
  // Nullopt: the stored value stays.
  std::optional<std::string> backend_version = std::nullopt;
  bool referrer_filters_required = false;
  std::string state = "active";
  bool is_default = false;
  std::vector<std::string> tokens = {};
  // Of this service; Metric::service_id is not read.
  std::vector<Metric> metrics = {};
  std::vector<SystemPlan> plans = {};
  std::vector<int> alert_levels = {};
  std::vector<SystemApplication> applications = {};
};

// Writes a service. It can be repeated, and must be after an error. Round trips: those of
// MetricStore::Save for each metric; one for each metric of a plan, each token, each alert level,
// each application, the members of its sets and each user key; those of ServiceStore::Save.
// `service` must outlive the task. Errors: those of the stores; before a command is sent,
// InvalidArgument for an unknown alert level and the errors of blank tokens, user keys and referrer
// filters. Source: docs/systems/threescale.md 4.30.
base::Task<absl::Status> RestoreService(Process process, const SystemService& service,
                                        Hardening hardening = Hardening());

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_SYSTEM_DATA_H_
