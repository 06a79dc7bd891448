// ReportingTest: a backend that has service 2 of the provider "pkey", its application "app" with
// plan 44, and its metrics "hits" (6) and below it "search" (7), at the time of the seed's example.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_THREESCALE_REPORTING_FOR_TEST_H_
#define REDOUBLE_CORE_THREESCALE_REPORTING_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/threescale/application.h"
#include "core/threescale/events.h"
#include "core/threescale/metric.h"
#include "core/threescale/process_for_test.h"
#include "core/threescale/service.h"
#include "core/threescale/usage_limit.h"

namespace redouble::threescale {

template <typename Backend>
class ReportingTest : public ProcessTest<Backend> {
 protected:
  void SetUp() override {
    ProcessTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    tests::BackendTest<Backend>::AdvanceTo(kStart);
    ServiceSave service;
    service.id = "2";
    service.provider_key = "pkey";
    ASSERT_TRUE(this->Run(ServiceStore(this->process()).Save(service)).ok());
    SaveApplication("app");
    SaveMetric("6", "hits");
    SaveMetric("7", "search", "6");
  }

  // Later than the backend's own start, which is after the seed's example: a Wednesday as well.
  static inline const absl::Time kStart = *base::ParseRfc3339("2026-06-17T17:42:39Z");

  void SaveApplication(std::string_view id) {
    ApplicationSave save;
    save.service_id = "2";
    save.id = id;
    save.state = "active";
    save.plan_id = "44";
    ASSERT_TRUE(this->Run(ApplicationStore(this->process()).Save(save)).ok());
  }
  void SaveMetric(std::string id, std::string name, std::string parent = "") {
    Metric metric{"2", std::move(id), std::move(name)};
    if (!parent.empty()) metric.parent_id = std::move(parent);
    ASSERT_TRUE(this->Run(MetricStore(this->process()).Save(metric)).ok());
  }
  void SaveLimit(std::string_view metric_id, Granularity period, std::string_view value) {
    const UsageLimitSave limits[] = {{period, value}};
    ASSERT_TRUE(
        this->Run(UsageLimitStore(this->process()).Save({"2", "44"}, metric_id, limits)).ok());
  }
  void Allow(std::string_view level) {
    this->Ask({"SADD", "alerts/service_id:2/allowed_set", level});
  }
  // A counter of the application by its last segment.
  std::string Counter(std::string_view metric_id, std::string_view segment) {
    return this->Value(
        CounterKey({.service_id = "2", .application_id = "app", .metric_id = metric_id}, segment));
  }
  // The events, each as its type and id: "alert 3".
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

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORTING_FOR_TEST_H_
