// ReportingTest: a fixture for tests of reports, typed over both backends.
//
// It has service 2 of the provider "pkey", its application "app" with plan 44, and its metrics
// "hits" (6) and the child "search" (7), at the time kStart.
//
//   template <typename Backend>
//   class WorkerTest : public ReportingTest<Backend> {};
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_THREESCALE_TESTING_REPORTING_FOR_TEST_H_
#define REDOUBLE_CORE_THREESCALE_TESTING_REPORTING_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/testing/process_for_test.h"

namespace redouble::inline v0_1::threescale {

template <typename Backend>
class ReportingTest : public ProcessTest<Backend> {
 protected:
  void SetUp() override {
    ProcessTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    tests::LayoutTest<Backend>::AdvanceTo(kStart);
    ServiceSave service;
    service.id = "2";
    service.provider_key = "pkey";
    ASSERT_THAT(this->Run(ServiceStore(this->process()).Save(service)), base::IsOk());
    SaveApplication("app");
    SaveMetric("6", "hits");
    SaveMetric("7", "search", "6");
  }

  // Later than the start of the backend's clock. A Wednesday, as in the documented example.
  static inline const absl::Time kStart = base::ParseRfc3339("2026-06-17T17:42:39Z").value();

  void SaveApplication(std::string_view id) {
    ApplicationSave save;
    save.service_id = "2";
    save.id = id;
    save.state = "active";
    save.plan_id = "44";
    ASSERT_THAT(this->Run(ApplicationStore(this->process()).Save(save)), base::IsOk());
  }
  void SaveMetric(std::string id, std::string name, std::string parent = "") {
    Metric metric{"2", std::move(id), std::move(name)};
    if (!parent.empty()) metric.parent_id = std::move(parent);
    ASSERT_THAT(this->Run(MetricStore(this->process()).Save(metric)), base::IsOk());
  }
  void SaveLimit(std::string_view metric_id, Granularity period, std::string_view value) {
    const UsageLimitSave limits[] = {{period, value}};
    ASSERT_THAT(this->Run(UsageLimitStore(this->process()).Save({"2", "44"}, metric_id, limits)),
                base::IsOk());
  }
  void Allow(std::string_view level) {
    this->Ask({"SADD", "alerts/service_id:2/allowed_set", level});
  }
  // The value of a counter of the application. `segment` is the last segment of its key.
  std::string Counter(std::string_view metric_id, std::string_view segment) {
    return this->Value(this->keys().Counter(
        {.service_id = "2", .application_id = "app", .metric_id = metric_id}, segment));
  }
  // The types of all events.
  std::vector<std::string> EventTypes() {
    std::vector<std::string> types;
    const auto events = this->Run(EventQueue(this->process()).List());
    if (!events.ok()) return {std::string(events.status().message())};
    for (const std::string& event : *events) {
      const size_t type = event.find("\"type\":\"") + 8;
      types.push_back(event.substr(type, event.find('"', type) - type));
    }
    return types;
  }
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TESTING_REPORTING_FOR_TEST_H_
