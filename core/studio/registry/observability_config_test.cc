#include "redouble/core/studio/registry/observability_config.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::studio {
namespace {

python::Value Json(std::string_view text) { return python::ParseJson(text).value(); }

std::string Text(const absl::StatusOr<python::Value>& value) {
  return value.ok() ? python::PydanticJson(*value).value() : value.status().ToString();
}

TEST(LogConfig, HasItsDefaultsAndItsOrder) {
  EXPECT_EQ(Text(ReadLogConfig(Json(R"({"service_selector_labels": {" app ": " pay "},
                                        "base_url": "HTTP://loki.test/", "tenant_id": " "})"))),
            R"({"provider":"loki","base_url":"http://loki.test","tenant_id":null,)"
            R"("service_selector_labels":{"app":"pay"},"source_label":null,"task_id_label":null,)"
            R"("correlation_id_label":null,"level_label":null,"task_match_mode":"label",)"
            R"("task_match_template":null})");
}

TEST(MetricsConfig, HasItsDefaultsAndItsOrder) {
  EXPECT_EQ(Text(ReadMetricsConfig(Json(R"({"base_url": "http://m.test", "namespace": " ns ",
                                            "service_selector_labels": {"app": "pay"}})"))),
            R"({"provider":"prometheus","base_url":"http://m.test","namespace":"ns",)"
            R"("service_selector_labels":{"app":"pay"},"runtime_service_label_value":null,)"
            R"("namespace_label":"namespace","pod_label":"pod","container_label":"container",)"
            R"("step_seconds":30,"task_window_padding_seconds":120})");
}

TEST(TraceConfig, HasItsDefaultsAndItsOrder) {
  EXPECT_EQ(
      Text(ReadTraceConfig(Json(R"({"base_url": "http://t.test", "query_path": " x/{trace_id}",
                                          "public_base_url": "http://P.test/"})"))),
      R"({"provider":"tempo","base_url":"http://t.test","public_base_url":"http://p.test",)"
      R"("tenant_id":null,"query_path":"/x/{trace_id}"})");
}

TEST(Configs, RefuseNullForAMemberWithADefault) {
  const struct {
    absl::StatusOr<python::Value> (*read)(const python::Value&);
    const char* members;
    std::vector<std::string_view> names;
  } kModels[] = {
      {ReadLogConfig,
       R"({"base_url": "http://l.test", "service_selector_labels": {"a": "b"}})",
       {"provider", "task_match_mode"}},
      {ReadMetricsConfig,
       R"({"base_url": "http://m.test", "namespace": "n", "service_selector_labels": {"a": "b"}})",
       {"provider", "namespace_label", "step_seconds", "task_window_padding_seconds"}},
      {ReadTraceConfig, R"({"base_url": "http://t.test"})", {"provider", "query_path"}},
  };
  for (const auto& model : kModels) {
    EXPECT_TRUE(model.read(Json(model.members)).ok());
    for (const std::string_view name : model.names) {
      python::Value config = Json(model.members);
      config.object()->Set(name, nullptr);
      EXPECT_EQ(python::ErrorType(model.read(config).status()), "ValidationError") << name;
    }
  }
}

// pydantic does not validate the default.
TEST(Configs, HaveNoLabelsIfTheMemberIsMissing) {
  for (const auto& config :
       {ReadLogConfig(Json(R"({"base_url": "http://l.test"})")),
        ReadMetricsConfig(Json(R"({"base_url": "http://m.test", "namespace": "n"})"))}) {
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_TRUE(config->Find("service_selector_labels")->object()->empty());
  }
}

TEST(Configs, RefuseWhatTheirModelsRefuse) {
  for (const char* config :
       {"[]", "{}", R"({"base_url": "x", "service_selector_labels": {"a": "b"}})",
        R"({"base_url": "http://l.test", "service_selector_labels": {}})",
        R"({"base_url": "http://l.test", "service_selector_labels": {"a": " "}})",
        R"({"base_url": "http://l.test", "service_selector_labels": {"a": 1}})",
        R"({"base_url": "http://l.test", "service_selector_labels": {"a": "b"},
            "task_match_mode": "glob"})",
        R"({"base_url": "http://l.test", "service_selector_labels": {"a": "b"},
            "provider": "other"})"}) {
    EXPECT_EQ(python::ErrorType(ReadLogConfig(Json(config)).status()), "ValidationError") << config;
  }
  for (const char* config :
       {R"({"base_url": "http://m.test", "service_selector_labels": {"a": "b"}})",
        R"({"base_url": "http://m.test", "namespace": "n",
            "service_selector_labels": {"task_id": "b"}})",
        R"({"base_url": "http://m.test", "namespace": "n", "pod_label": "worker_id",
            "service_selector_labels": {"a": "b"}})",
        R"({"base_url": "http://m.test", "namespace": "n", "step_seconds": 4,
            "service_selector_labels": {"a": "b"}})",
        R"({"base_url": "http://m.test", "namespace": "n", "step_seconds": 3601,
            "service_selector_labels": {"a": "b"}})",
        R"({"base_url": "http://m.test", "namespace": "n", "step_seconds": 5.5,
            "service_selector_labels": {"a": "b"}})"}) {
    EXPECT_EQ(python::ErrorType(ReadMetricsConfig(Json(config)).status()), "ValidationError")
        << config;
  }
  for (const char* config : {R"({"base_url": "http://t.test", "query_path": "/x"})",
                             R"({"base_url": "http://t.test", "public_base_url": "ftp://x"})"}) {
    EXPECT_EQ(python::ErrorType(ReadTraceConfig(Json(config)).status()), "ValidationError")
        << config;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
