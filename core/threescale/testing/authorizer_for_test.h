// AuthorizerTest: a fixture for tests of authorization, typed over both backends.
//
// It has service 2 of the provider pk, application a1 with plan 44, and the metrics hits (10), its
// child search (11), and other (6).
//
//   template <typename Backend>
//   class ListenerTest : public AuthorizerTest<Backend> {};
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_THREESCALE_TESTING_AUTHORIZER_FOR_TEST_H_
#define REDOUBLE_CORE_THREESCALE_TESTING_AUTHORIZER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/report/listener.h"
#include "redouble/core/threescale/report/worker.h"
#include "redouble/core/threescale/testing/process_for_test.h"

namespace redouble::inline v0_1::threescale {

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
      ASSERT_THAT(this->Run(metrics.Save(metric)), base::IsOk());
    }
  }

  void SaveService(std::string_view version, bool filters = false,
                   std::string_view state = "active") {
    ServiceSave save = {.id = "2", .provider_key = "pk"};
    save.backend_version = version;
    save.referrer_filters_required = filters;
    save.state = state;
    ASSERT_THAT(this->Run(ServiceStore(this->process()).Save(save)), base::IsOk());
  }
  void SaveApplication(std::string_view state, std::optional<std::string_view> redirect = {}) {
    ApplicationSave save = {.service_id = "2", .id = "a1", .state = state};
    save.plan_id = "44";
    save.redirect_url = redirect;
    ASSERT_THAT(this->Run(ApplicationStore(this->process()).Save(save)), base::IsOk());
  }
  void SaveLimit(std::string_view metric_id, Granularity period, std::string_view value) {
    const UsageLimitSave values[] = {{period, value}};
    ASSERT_THAT(this->Run(UsageLimitStore(this->process()).Save({"2", "44"}, metric_id, values)),
                base::IsOk());
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
  // Returns "" for an authorized request, the code of a rejection, or "error " and the code of an
  // error.
  static std::string Verdict(const absl::StatusOr<Authorization>& answer) {
    if (answer.ok()) {
      return answer->rejection ? std::string(SpecOf(answer->rejection->code).name) : "";
    }
    const std::optional<ErrorCode> code = ErrorCodeOf(answer.status());
    return "error " + (code ? std::string(SpecOf(*code).name) : answer.status().ToString());
  }
  std::string VerdictOn(AuthRequest request) { return Verdict(Authorize(std::move(request))); }

  // Runs the enqueued jobs.
  void RunJobs() { ASSERT_THAT(this->Run(Worker(this->process()).RunAll(queue_)), base::IsOk()); }
  // Counts usage as a report does.
  void Count(Usage usage) {
    ReportJob job;
    job.service_id = "2";
    job.transactions.push_back({.app_id = "a1", .usage = std::move(usage)});
    ASSERT_THAT(this->Run(Worker(this->process()).Run(std::move(job))), base::IsOk());
  }

  InProcessJobQueue queue_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TESTING_AUTHORIZER_FOR_TEST_H_
