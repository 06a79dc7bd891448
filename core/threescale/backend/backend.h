// Backend: all parts of a 3scale backend on one storage, built from its settings.
//
// Use it in a program that runs a listener, a worker or both; tests of one part can build that part
// alone. The program brings the store, the clock and HTTP; a test uses the memory engine.
//
//   absl::StatusOr<BackendSettings> settings = ReadBackendSettings(variables);
//   Backend backend(store, clock, *settings);
//   absl::StatusOr<HttpResponse> response = co_await backend.Handle(request);   // a listener
//   absl::Status counted = co_await backend.RunJobs();                         // a worker
//
// Jobs stay in memory until RunJobs: a process that ends before loses them, as the original does if
// its queues are lost. A program with a queue of its own passes a JobQueue, and gives its jobs to
// worker().
//
// Thread-safety: as the store.
// Source: docs/systems/threescale.md 1.3, 3, 4.27.
#ifndef REDOUBLE_CORE_THREESCALE_BACKEND_BACKEND_H_
#define REDOUBLE_CORE_THREESCALE_BACKEND_BACKEND_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/store.h"
#include "redouble/core/threescale/backend/settings.h"
#include "redouble/core/threescale/http/http_contract.h"
#include "redouble/core/threescale/memoizer.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/service_token.h"
#include "redouble/core/threescale/model/system_data.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/report/listener.h"
#include "redouble/core/threescale/report/reporter.h"
#include "redouble/core/threescale/report/stats_reader.h"
#include "redouble/core/threescale/report/worker.h"

namespace redouble::inline v0_1::threescale {

// What a program can replace.
struct BackendParts {
  // Takes the jobs of the listener; must outlive the Backend. Null: a queue in memory.
  JobQueue* queue = nullptr;
  // Tells system of events. Used only if BackendSettings::events_hook is set.
  EventQueue::Hook events_hook = {};
};

class Backend {
 public:
  // `store`, the storage, and `clock` must outlive the object. Sends nothing.
  Backend(store::Store& store, const base::Clock& clock, const BackendSettings& settings = {},
          BackendParts parts = BackendParts());
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Handles an HTTP request: one of the listener's endpoints, or an answer that needs no Redis.
  // Round trips: those of Listener::Handle and ReadAnswerDetails, or of Reporter::Report. Errors:
  // those of Redis and of the queue, without a response; a server answers 500 or 503. A client that
  // repeats an authrep or a report after a lost response counts its usage again (H11).
  base::Task<absl::StatusOr<HttpResponse>> Handle(HttpRequest request);

  // Runs the jobs of the queue in memory until it is empty or a job fails. Errors: those of
  // Worker::Run; the failed job is removed.
  base::Task<absl::Status> RunJobs();
  size_t jobs() const { return memory_queue_.size(); }

  // The data of system. They are values: each call makes one.
  ServiceStore services() const { return ServiceStore(process_, settings_.hardening); }
  ServiceTokenStore service_tokens() const { return ServiceTokenStore(process_); }
  ApplicationStore applications() const { return ApplicationStore(process_); }
  MetricStore metrics() const { return MetricStore(process_, settings_.hardening); }
  UsageLimitStore usage_limits() const { return UsageLimitStore(process_); }
  AlertLimitStore alert_limits() const { return AlertLimitStore(process_); }
  // Writes all that system knows of a service, as RestoreService of model/system_data.h.
  base::Task<absl::Status> Restore(const SystemService& service) {
    return RestoreService(process_, service, settings_.hardening);
  }
  // The data of the backend.
  EventQueue events() const { return EventQueue(process_, settings_.hardening); }
  ErrorLog errors() const { return ErrorLog(process_, settings_.hardening); }
  StatsReader stats() const { return StatsReader(process_); }

  Listener& listener() { return listener_; }
  Reporter& reporter() { return reporter_; }
  Worker& worker() { return worker_; }
  const Process& process() const { return process_; }

 private:
  base::Task<absl::StatusOr<HttpResponse>> Authorize(const AuthCall& call,
                                                     const HttpRequest& request);

  const BackendSettings settings_;
  std::optional<Memoizer> memoizer_;
  Process process_;
  InProcessJobQueue memory_queue_;
  JobQueue& queue_;
  Notifier notifier_;
  Listener listener_;
  Reporter reporter_;
  Worker worker_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_BACKEND_BACKEND_H_
