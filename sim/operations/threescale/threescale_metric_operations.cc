#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"
#include "redouble/sim/operations/threescale/threescale_store_operation.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;
using threescale::AlertLimitStore;
using threescale::Granularity;
using threescale::Metric;
using threescale::MetricNames;
using threescale::MetricStore;
using threescale::PlanRef;
using threescale::UsageLimitStore;

using Session = std::shared_ptr<ThreescaleSession>;
using OptionalText = std::optional<std::string>;

Json ToJson(const MetricNames& names) {
  Json json = Json::array();
  for (const OptionalText& name : names) json.push_back(TextOrNull(name));
  return json;
}

// Returns a JSON number if the value fits, otherwise a text.
Json ToJson(threescale::Integer value) {
  const auto narrow = static_cast<int64_t>(value);
  return narrow == value ? Json(narrow) : Json(threescale::FormatInteger(value));
}

Json ToJson(const Metric& metric) {
  return {{"service_id", metric.service_id},
          {"id", metric.id},
          {"parent_id", TextOrNull(metric.parent_id)},
          {"name", metric.name}};
}

Json ToJson(const std::optional<Metric>& metric) { return metric ? ToJson(*metric) : Json(); }

Json HierarchyToJson(const threescale::MetricHierarchy& hierarchy) {
  Json json = Json::object();
  for (const auto& [parent, children] : hierarchy) json[parent.value_or("")] = ToJson(children);
  return json;
}

Metric ReadMetric(ArgumentReader& reader) {
  Metric metric;
  metric.service_id = Text(reader, "service_id").value_or("");
  metric.id = Text(reader, "id").value_or("");
  metric.name = Text(reader, "name").value_or("");
  metric.parent_id = Text(reader, "parent_id");
  if (const Json* children = reader.Find("children")) {
    for (const Json& child : *children) {
      ArgumentReader child_reader(child, "/children");
      metric.children.push_back(ReadMetric(child_reader));
      if (!child_reader.Finish().ok()) reader.Refuse("children", "expected metrics");
    }
  }
  return metric;
}

base::Task<OperationResult> Save(Session session, OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Metric metric = ReadMetric(reader);
  const threescale::Process process = session->Begin(context, reader);
  MetricStore metrics(process, ReadThreescaleHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_RETURN_IF_ERROR(co_await metrics.Save(metric));
  co_return ToJson(metric);
}

// The plan and the metric of a usage limit.
struct LimitArguments {
  std::string service_id;
  std::string plan_id;
  std::string metric_id;

  PlanRef plan() const { return {service_id, plan_id}; }
};

LimitArguments ReadLimit(ArgumentReader& reader) {
  LimitArguments arguments;
  arguments.service_id = Text(reader, "service_id").value_or("");
  arguments.plan_id = Text(reader, "plan_id").value_or("");
  arguments.metric_id = Text(reader, "metric_id").value_or("");
  return arguments;
}

Granularity ReadPeriod(ArgumentReader& reader) {
  const std::optional<Granularity> period = threescale::FindGranularity(reader.String("period"));
  if (!period) reader.Refuse("period", "expected a period, \"minute\" to \"eternity\"");
  return period.value_or(Granularity::kEternity);
}

base::Task<OperationResult> SaveLimit(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  const LimitArguments limit = ReadLimit(reader);
  std::vector<std::pair<Granularity, std::string>> texts;
  for (const Granularity period : threescale::LimitGranularities()) {
    const OptionalText value = Text(reader, threescale::GranularityName(period));
    if (value) texts.emplace_back(period, *value);
  }
  reader.Find("second");  // Taken, and never looked at.
  UsageLimitStore limits(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  std::vector<threescale::UsageLimitSave> values;
  for (const auto& [period, text] : texts) values.push_back({period, text});
  REDOUBLE_CO_RETURN_IF_ERROR(co_await limits.Save(limit.plan(), limit.metric_id, values));
  co_return Json("ok");
}

base::Task<OperationResult> DeleteLimit(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const LimitArguments limit = ReadLimit(reader);
  const Granularity period = ReadPeriod(reader);
  UsageLimitStore limits(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_RETURN_IF_ERROR(co_await limits.Delete(limit.plan(), limit.metric_id, period));
  co_return Json("ok");
}

base::Task<OperationResult> LoadLimit(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  const LimitArguments limit = ReadLimit(reader);
  const Granularity period = ReadPeriod(reader);
  UsageLimitStore limits(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<threescale::Integer> value,
                               co_await limits.LoadValue(limit.plan(), limit.metric_id, period));
  co_return value ? ToJson(*value) : Json();
}

base::Task<OperationResult> LoadAllLimits(Session session, OperationContext context,
                                          const Json& arguments) {
  ArgumentReader reader(arguments);
  const LimitArguments plan = ReadLimit(reader);
  UsageLimitStore limits(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<threescale::UsageLimit> loaded,
                               co_await limits.LoadAll(plan.plan()));
  Json json = Json::array();
  for (const threescale::UsageLimit& limit : loaded) {
    json.push_back({{"service_id", plan.service_id},
                    {"plan_id", plan.plan_id},
                    {"metric_id", limit.metric_id},
                    {"period", threescale::GranularityName(limit.period)},
                    {"value", ToJson(limit.value)}});
  }
  co_return json;
}

base::Task<OperationResult> SaveAlertLimit(Session session, OperationContext context,
                                           const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  const std::string value = Text(reader, "value").value_or("");
  AlertLimitStore limits(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<int> saved,
                               co_await limits.Save(service_id, value));
  if (!saved) co_return Json();
  Json json = {{"service_id", service_id}, {"value", *saved}};
  co_return json;
}

base::Task<OperationResult> LoadAlertLimits(Session session, OperationContext context,
                                            const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  AlertLimitStore limits(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<int> levels, co_await limits.LoadAll(service_id));
  Json json = Json::array();
  for (const int level : levels) json.push_back({{"service_id", service_id}, {"value", level}});
  co_return json;
}

void AddLimits(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  AddThreescale(table, sessions, "usage_limit.save", SaveLimit);
  AddThreescale(table, sessions, "usage_limit.delete", DeleteLimit);
  AddThreescale(table, sessions, "usage_limit.load_value", LoadLimit);
  AddThreescale(table, sessions, "usage_limit.load_all", LoadAllLimits);
  AddThreescale(table, sessions, "alert_limit.save", SaveAlertLimit);
  AddThreescale(table, sessions, "alert_limit.delete",
                OnStore<AlertLimitStore>(
                    {"service_id", "value"},
                    [](AlertLimitStore& limits, const Words& words) {
                      return limits.Delete(words[0], words[1]);
                    },
                    [](std::optional<bool> deleted) { return deleted ? Json(*deleted) : Json(); }));
  AddThreescale(table, sessions, "alert_limit.load_all", LoadAlertLimits);
}

}  // namespace

void AddThreescaleMetrics(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  using Store = MetricStore;
  const auto add = [&](std::string name, std::string_view subject, auto ask, auto write) {
    AddThreescale(table, sessions, std::move(name),
                  OnStore<Store>({"service_id", subject}, ask, write));
  };
  const auto names_to_json = [](const MetricNames& names) { return ToJson(names); };
  AddThreescale(table, sessions, "metric.save", Save);
  add(
      "metric.load", "id",
      [](Store& store, const Words& words) {
        return store.Load({words[0], words[1]});
      },
      [](const std::optional<Metric>& metric) { return ToJson(metric); });
  add(
      "metric.delete", "id",
      [](Store& store, const Words& words) {
        return store.Delete({words[0], words[1]});
      },
      AsItIs());
  add(
      "metric.load_name", "id",
      [](Store& store, const Words& words) {
        return store.LoadName({words[0], words[1]});
      },
      TextOrNull);
  add(
      "metric.load_parent_id", "id",
      [](Store& store, const Words& words) {
        return store.LoadParentId({words[0], words[1]});
      },
      TextOrNull);
  add(
      "metric.load_id", "name",
      [](Store& store, const Words& words) {
        return store.LoadId({words[0], words[1]});
      },
      TextOrNull);
  AddThreescale(table, sessions, "metric.load_all_ids",
                OnStore<Store>({"service_id"}, [](Store& store, const Words& words) {
                  return store.LoadIds(words[0]);
                }));
  AddThreescale(table, sessions, "metric.hierarchy",
                OnStore<Store>(
                    {"service_id"},
                    [](Store& store, const Words& words) { return store.Hierarchy(words[0]); },
                    HierarchyToJson));
  add(
      "metric.descendants", "name",
      [](Store& store, const Words& words) {
        return store.Descendants({words[0], words[1]});
      },
      names_to_json);
  add(
      "metric.ascendants", "name",
      [](Store& store, const Words& words) {
        return store.Ascendants({words[0], words[1]});
      },
      names_to_json);
  AddLimits(table, sessions);
}

}  // namespace redouble::inline v0_1::scenarios
