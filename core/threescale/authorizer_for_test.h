// AuthorizerTest: a service with an application, for tests of authorization typed over both
// backends: service 2 of the provider pk, application a1 of plan 44, the metrics hits (10), search
// (11) below it and other (6).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZER_FOR_TEST_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/threescale/application.h"
#include "core/threescale/listener.h"
#include "core/threescale/metric.h"
#include "core/threescale/process_for_test.h"
#include "core/threescale/service.h"
#include "core/threescale/usage_limit.h"
#include "core/threescale/worker.h"

namespace redouble::threescale {

template <typename Backend>
class AuthorizerTest : public ProcessTest<Backend> {
 protected:
  void SetUp() override {
    ProcessTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    SaveService("2");
    SaveApplication("active");
    MetricStore metrics(this->process());
    for (const Metric& metric : {Metric{"2", "6", "other"}, Metric{"2", "10", "hits"},
                                 Metric{"2", "11", "search", "10"}}) {
      ASSERT_TRUE(this->Run(metrics.Save(metric)).ok());
    }
  }

  void SaveService(std::string_view version, bool filters = false,
                   std::string_view state = "active") {
    ServiceSave save = {.id = "2", .provider_key = "pk"};
    save.backend_version = version;
    save.referrer_filters_required = filters;
    save.state = state;
    ASSERT_TRUE(this->Run(ServiceStore(this->process()).Save(save)).ok());
  }
  void SaveApplication(std::string_view state, std::optional<std::string_view> redirect = {}) {
    ApplicationSave save = {.service_id = "2", .id = "a1", .state = state};
    save.plan_id = "44";
    save.redirect_url = redirect;
    ASSERT_TRUE(this->Run(ApplicationStore(this->process()).Save(save)).ok());
  }
  void SaveLimit(std::string_view metric_id, Granularity period, std::string_view value) {
    const UsageLimitSave values[] = {{period, value}};
    ASSERT_TRUE(
        this->Run(UsageLimitStore(this->process()).Save({"2", "44"}, metric_id, values)).ok());
  }

  static AuthRequest Request(std::optional<Usage> usage = std::nullopt) {
    AuthRequest request = {.provider_key = "pk", .service_id = "2", .app_id = "a1"};
    request.usage = std::move(usage);
    return request;
  }

  absl::StatusOr<Authorization> Handle(Endpoint endpoint, AuthRequest request,
                                       AuthorizerOptions options = {}) {
    const Process process = this->process();
    Notifier notifier(process, queue_);
    Listener listener(process, queue_, notifier, options);
    return this->Run(listener.Handle(endpoint, std::move(request), "{}"));
  }
  absl::StatusOr<Authorization> Authorize(AuthRequest request, AuthorizerOptions options = {}) {
    return Handle(Endpoint::kAuthorize, std::move(request), options);
  }
  // "" for an authorized request, the code of a rejection, or "error " and that of an error.
  static std::string Verdict(const absl::StatusOr<Authorization>& answer) {
    if (answer.ok()) {
      return answer->rejection ? std::string(SpecOf(answer->rejection->code).name) : "";
    }
    const std::optional<ErrorCode> code = ErrorCodeOf(answer.status());
    return "error " + (code ? std::string(SpecOf(*code).name) : answer.status().ToString());
  }
  std::string VerdictOn(AuthRequest request) { return Verdict(Authorize(std::move(request))); }

  // Runs what was enqueued.
  void RunJobs() { ASSERT_TRUE(this->Run(Worker(this->process()).RunAll(queue_)).ok()); }
  // Counts usage as a report would.
  void Count(Usage usage) {
    ReportJob job;
    job.service_id = "2";
    job.transactions.push_back({.app_id = "a1", .usage = std::move(usage)});
    ASSERT_TRUE(this->Run(Worker(this->process()).Run(std::move(job))).ok());
  }

  InProcessJobQueue queue_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZER_FOR_TEST_H_
