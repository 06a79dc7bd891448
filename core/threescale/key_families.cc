#include <array>

#include "redouble/core/threescale/key_table.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::KeyType;
using store::LayoutRow;

constexpr std::string_view kSystem = "threescale";
constexpr std::string_view kNoTtl = "none";
constexpr std::string_view kMinuteTtl =
    "minutes: 180 s from the processing of the last write, except a deletion; other periods: "
    "none";

constexpr std::array kRows = {
    LayoutRow{{
        .id = "threescale.services_set",
        .system = kSystem,
        .pattern = "services_set",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "a member is added with the first save of a service and removed with its deletion",
        .purpose = "the ids of all services",
        .source = "docs/systems/threescale.md 4.1, 4.2",
    }},
    LayoutRow{{
        .id = "threescale.provider_keys_set",
        .system = kSystem,
        .pattern = "provider_keys_set",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member is added with the first service of a provider and never removed, "
                     "also not when "
                     "the key changes",
        .purpose = "the keys of all providers that ever had a service",
        .source = "docs/systems/threescale.md 4.1, 4.2",
    }},
    LayoutRow{{
                  .id = "threescale.service_state",
                  .system = kSystem,
                  .pattern = "service/id:{service_id:any}/state",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written by every save of the service; deleted with it",
                  .purpose = "active or suspended",
                  .source = "docs/systems/threescale.md 4.1, 4.2",
              },
              "service/{{service:{service_id:any}}}/state"},
    LayoutRow{{
                  .id = "threescale.service_referrer_filters_required",
                  .system = kSystem,
                  .pattern = "service/id:{service_id:any}/referrer_filters_required",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written by every save of the service; deleted with it",
                  .purpose = "1 if requests need an allowed referrer, otherwise 0",
                  .source = "docs/systems/threescale.md 4.1, 4.2",
              },
              "service/{{service:{service_id:any}}}/referrer_filters_required"},
    LayoutRow{
        {
            .id = "threescale.service_backend_version",
            .system = kSystem,
            .pattern = "service/id:{service_id:any}/backend_version",
            .type = KeyType::kString,
            .ttl_rule = kNoTtl,
            .lifecycle = "written by every save of the service; deleted with it",
            .purpose =
                "how applications authenticate: 1 by user key, 2 by id and key, oauth by OpenID "
                "Connect",
            .source = "docs/systems/threescale.md 4.1, 4.2",
        },
        "service/{{service:{service_id:any}}}/backend_version"},
    LayoutRow{{
                  .id = "threescale.service_provider_key",
                  .system = kSystem,
                  .pattern = "service/id:{service_id:any}/provider_key",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written by every save of the service; deleted with it",
                  .purpose = "the provider of the service; a service exists while this key exists",
                  .source = "docs/systems/threescale.md 4.1, 4.2",
              },
              "service/{{service:{service_id:any}}}/provider_key"},
    LayoutRow{{
        .id = "threescale.provider_service_ids",
        .system = kSystem,
        .pattern = "service/provider_key:{provider_key:any}/ids",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member is added by a save and removed with the deletion of a service; "
                     "moved when the "
                     "provider key changes",
        .purpose = "the ids of the services of a provider",
        .source = "docs/systems/threescale.md 4.1, 4.2",
    }},
    LayoutRow{{
        .id = "threescale.provider_default_service",
        .system = kSystem,
        .pattern = "service/provider_key:{provider_key:any}/id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written when a service becomes the default; deleted with it; moved when the "
                     "provider key "
                     "changes",
        .purpose = "the id of the default service of a provider",
        .source = "docs/systems/threescale.md 4.1, 4.2, D2",
    }},
    LayoutRow{
        {
            .id = "threescale.service_applications",
            .system = kSystem,
            .pattern = "service_id:{service_id:any}/applications",
            .type = KeyType::kSet,
            .ttl_rule = kNoTtl,
            .lifecycle =
                "a member is added by a save and removed with the deletion of an application; "
                "outlives the service",
            .purpose = "the ids of the applications of a service",
            .source = "docs/systems/threescale.md 4.4",
        },
        "applications/{{service:{service_id:any}}}"},
    LayoutRow{{
                  .id = "threescale.service_token",
                  .system = kSystem,
                  .pattern = "service_token/token:{token:any}/service_id:{service_id:any}",
                  .type = KeyType::kHash,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written and deleted by system; outlives the service",
                  .purpose = "a token that is valid for a service",
                  .source = "docs/systems/threescale.md 4.3",
              },
              "service_token/{{service:{service_id:any}}}/token:{token:any}"},
    LayoutRow{
        {
            .id = "threescale.application_state",
            .system = kSystem,
            .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/state",
            .type = KeyType::kString,
            .ttl_rule = kNoTtl,
            .lifecycle = "written by a save that gives it; deleted with the application",
            .purpose = "active or any other text; an application exists while this key exists",
            .source = "docs/systems/threescale.md 4.4",
        },
        "application/{{service:{service_id:any}}}/id:{application_id:any}/state"},
    LayoutRow{
        {
            .id = "threescale.application_plan_id",
            .system = kSystem,
            .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/plan_id",
            .type = KeyType::kString,
            .ttl_rule = kNoTtl,
            .lifecycle = "written by a save that gives it; deleted with the application",
            .purpose = "the plan whose limits apply",
            .source = "docs/systems/threescale.md 4.4",
        },
        "application/{{service:{service_id:any}}}/id:{application_id:any}/plan_id"},
    LayoutRow{
        {
            .id = "threescale.application_plan_name",
            .system = kSystem,
            .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/plan_name",
            .type = KeyType::kString,
            .ttl_rule = kNoTtl,
            .lifecycle = "written by a save that gives it; deleted with the application",
            .purpose = "the name of the plan, for answers",
            .source = "docs/systems/threescale.md 4.4",
        },
        "application/{{service:{service_id:any}}}/id:{application_id:any}/plan_name"},
    LayoutRow{
        {
            .id = "threescale.application_redirect_url",
            .system = kSystem,
            .pattern =
                "application/service_id:{service_id:any}/id:{application_id:any}/redirect_url",
            .type = KeyType::kString,
            .ttl_rule = kNoTtl,
            .lifecycle = "written by a save that gives it; deleted with the application",
            .purpose = "the redirect URL of OAuth",
            .source = "docs/systems/threescale.md 4.4",
        },
        "application/{{service:{service_id:any}}}/id:{application_id:any}/redirect_url"},
    LayoutRow{{
                  .id = "threescale.application_keys",
                  .system = kSystem,
                  .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/keys",
                  .type = KeyType::kSet,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "a member per key; outlives the application",
                  .purpose = "the secrets of an application",
                  .source = "docs/systems/threescale.md 4.4",
              },
              "application/{{service:{service_id:any}}}/id:{application_id:any}/keys"},
    LayoutRow{
        {
            .id = "threescale.application_referrer_filters",
            .system = kSystem,
            .pattern =
                "application/service_id:{service_id:any}/id:{application_id:any}/referrer_filters",
            .type = KeyType::kSet,
            .ttl_rule = kNoTtl,
            .lifecycle = "a member per filter; outlives the application",
            .purpose = "the allowed referrers of an application",
            .source = "docs/systems/threescale.md 4.4",
        },
        "application/{{service:{service_id:any}}}/id:{application_id:any}/referrer_filters"},
    LayoutRow{{
                  .id = "threescale.application_user_key",
                  .system = kSystem,
                  .pattern = "application/service_id:{service_id:any}/key:{user_key:any}/id",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written and deleted by system; outlives the application",
                  .purpose = "maps a user key to the id of its application",
                  .source = "docs/systems/threescale.md 4.4",
              },
              "application/{{service:{service_id:any}}}/key:{user_key:any}/id"},
    LayoutRow{{
                  .id = "threescale.metric_id",
                  .system = kSystem,
                  .pattern = "metric/service_id:{service_id:any}/name:{name:any}/id",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle =
                      "written by every save of the metric; deleted with it and when it is renamed",
                  .purpose = "maps the name of a metric to its id",
                  .source = "docs/systems/threescale.md 4.5",
              },
              "metric/{{service:{service_id:any}}}/name:{name:any}/id"},
    LayoutRow{{
                  .id = "threescale.metric_name",
                  .system = kSystem,
                  .pattern = "metric/service_id:{service_id:any}/id:{metric_id:any}/name",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written by every save of the metric; deleted with it",
                  .purpose = "the name of a metric",
                  .source = "docs/systems/threescale.md 4.5",
              },
              "metric/{{service:{service_id:any}}}/id:{metric_id:any}/name"},
    LayoutRow{{
                  .id = "threescale.metric_parent",
                  .system = kSystem,
                  .pattern = "metric/service_id:{service_id:any}/id:{metric_id:any}/parent_id",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle =
                      "written by a save that gives it; deleted with the metric, but not with its "
                      "parent",
                  .purpose = "the parent, to which the usage of the metric is added",
                  .source = "docs/systems/threescale.md 4.5",
              },
              "metric/{{service:{service_id:any}}}/id:{metric_id:any}/parent_id"},
    LayoutRow{
        {
            .id = "threescale.metric_ids",
            .system = kSystem,
            .pattern = "metrics/service_id:{service_id:any}/ids",
            .type = KeyType::kSet,
            .ttl_rule = kNoTtl,
            .lifecycle =
                "a member is added with the first save of a metric and removed with its deletion",
            .purpose = "the ids of the metrics of a service; limits are found only through them",
            .source = "docs/systems/threescale.md 1, 4.5, D7",
        },
        "metrics/{{service:{service_id:any}}}/ids"},
    LayoutRow{{
                  .id = "threescale.usage_limit",
                  .system = kSystem,
                  .pattern =
                      "usage_limit/service_id:{service_id:any}/plan_id:{plan_id:any}/"
                      "metric_id:{metric_id:any}/{period:minute|hour|day|week|month|year|eternity}",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "written and deleted by system; outlives plan and metric",
                  .purpose = "the greatest usage of a metric that a plan allows in a period",
                  .source = "docs/systems/threescale.md 4.6",
              },
              "usage_limit/{{service:{service_id:any}}}/plan_id:{plan_id:any}/"
              "metric_id:{metric_id:any}/{period:minute|hour|day|week|month|year|eternity}"},
    LayoutRow{{
        .id = "threescale.stats_cinstances",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstances",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member is added with the first traffic of an application and never removed",
        .purpose = "the applications of a service that ever had traffic",
        .source = "docs/systems/threescale.md 4.20",
    }},
    LayoutRow{{
        .id = "threescale.stats_metric_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/metric:{metric_id:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report; deleted with the statistics of the service",
        .purpose = "usage of a metric of a service, ever",
        .source = "docs/systems/threescale.md 4.19",
        .overlaps = "threescale.stats_response_code_eternity "
                    "threescale.stats_cinstance_metric_eternity "
                    "threescale.stats_cinstance_response_code_eternity",
    }},
    LayoutRow{{
        .id = "threescale.stats_metric_period",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/metric:{metric_id:any}/"
                   "{period:month|week|day|hour}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report in the period; deleted when the statistics "
                     "of the service are deleted",
        .purpose = "usage of a metric of a service in one period",
        .source = "docs/systems/threescale.md 4.19",
        .overlaps =
            "threescale.stats_response_code_period threescale.stats_cinstance_metric_period "
            "threescale.stats_cinstance_response_code_period",
    }},
    LayoutRow{{
        .id = "threescale.stats_response_code_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/response_code:{code:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report; deleted with the statistics of the service",
        .purpose = "responses of a service with one response code or class, ever",
        .source = "docs/systems/threescale.md 4.19",
        .overlaps = "threescale.stats_cinstance_metric_eternity "
                    "threescale.stats_cinstance_response_code_eternity",
    }},
    LayoutRow{{
        .id = "threescale.stats_response_code_period",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/response_code:{code:any}/"
                   "{period:month|week|day|hour}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report in the period; deleted when the statistics "
                     "of the service are deleted",
        .purpose = "responses of a service with one response code or class in one period",
        .source = "docs/systems/threescale.md 4.19",
        .overlaps = "threescale.stats_cinstance_metric_period "
                    "threescale.stats_cinstance_response_code_period",
    }},
    LayoutRow{{
        .id = "threescale.stats_cinstance_metric_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
                   "metric:{metric_id:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report; deleted with the statistics of the service",
        .purpose = "usage of a metric of one application, ever",
        .source = "docs/systems/threescale.md 4.19",
        .overlaps = "threescale.stats_cinstance_response_code_eternity",
    }},
    LayoutRow{{
        .id = "threescale.stats_cinstance_metric_period",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
                   "metric:{metric_id:any}/{period:month|week|day|hour|year|minute}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kMinuteTtl,
        .lifecycle = "created by the first report in the period; deleted when the statistics "
                     "of the service are deleted; minutes expire",
        .purpose = "usage of a metric of one application in one period",
        .source = "docs/systems/threescale.md 4.19",
        .overlaps = "threescale.stats_cinstance_response_code_period",
    }},
    LayoutRow{{
        .id = "threescale.stats_cinstance_response_code_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
                   "response_code:{code:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report; deleted with the statistics of the service",
        .purpose = "responses of one application with one response code or class, ever",
        .source = "docs/systems/threescale.md 4.19",
    }},
    LayoutRow{{
        .id = "threescale.stats_cinstance_response_code_period",
        .system = kSystem,
        .pattern =
            "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
            "response_code:{code:any}/{period:month|week|day|hour|year|minute}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kMinuteTtl,
        .lifecycle = "created by the first report in the period; deleted when the statistics "
                     "of the service are deleted; minutes expire",
        .purpose = "responses of one application with one response code or class in one period",
        .source = "docs/systems/threescale.md 4.19",
    }},
    LayoutRow{
        {
            .id = "threescale.daily_traffic",
            .system = kSystem,
            .pattern =
                "daily_traffic/service:{service_id:any}/cinstance:{application_id:any}/{day:d8}",
            .type = KeyType::kString,
            .ttl_rule = "set when the key is created",
            .ttl = absl::Hours(48),
            .lifecycle = "created by the first report that is processed on a day; expires",
            .purpose =
                "marks the first traffic of an application on a day; not a number of requests",
            .source = "docs/systems/threescale.md 4.20, D6",
        },
        "daily_traffic/{{service:{service_id:any}}}/cinstance:{application_id:any}/{day:d8}"},
    LayoutRow{{
        .id = "threescale.counted_job",
        .system = kSystem,
        .pattern = "counted_jobs/{{service:{service_id:any}}}/id:{job_id:any}",
        .type = KeyType::kString,
        .ttl_rule = "set with each counted slice",
        .ttl = absl::Hours(48),
        .lifecycle = "only with count_jobs_once: written with each counted slice of a job; expires",
        .purpose = "the number of slices of a job that have been counted",
        .source = "docs/systems/threescale.md 4.19, D25",
    }},
    LayoutRow{{
                  .id = "threescale.events_id",
                  .system = kSystem,
                  .pattern = "events/id",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "created by the first event; incremented by each event",
                  .purpose = "the id of the latest event",
                  .source = "docs/systems/threescale.md 4.8",
              },
              "{{events}}/id"},
    LayoutRow{
        {
            .id = "threescale.events_queue",
            .system = kSystem,
            .pattern = "events/queue",
            .type = KeyType::kSortedSet,
            .ttl_rule = kNoTtl,
            .lifecycle =
                "an event is added when it is published and removed when system has fetched it",
            .purpose = "the events that system has not fetched yet, by id",
            .source = "docs/systems/threescale.md 4.8",
        },
        "{{events}}/queue"},
    LayoutRow{{
                  .id = "threescale.events_ping",
                  .system = kSystem,
                  .pattern = "events/ping",
                  .type = KeyType::kString,
                  .ttl_rule = "set when the key is created",
                  .ttl = absl::Seconds(60),
                  .lifecycle = "set after a processed job if an events hook is configured; expires",
                  .purpose = "marks that system was notified of new events",
                  .source = "docs/systems/threescale.md 4.9, D4",
              },
              "{{events}}/ping"},
    LayoutRow{{
                  .id = "threescale.alerts_current_id",
                  .system = kSystem,
                  .pattern = "alerts/current_id",
                  .type = KeyType::kString,
                  .ttl_rule = kNoTtl,
                  .lifecycle = "created by the first alert; incremented by each alert",
                  .purpose = "the id of the latest alert",
                  .source = "docs/systems/threescale.md 4.21",
              },
              "alerts/{{events}}/current_id"},
    LayoutRow{
        {
            .id = "threescale.alerts_allowed_set",
            .system = kSystem,
            .pattern = "alerts/service_id:{service_id:any}/allowed_set",
            .type = KeyType::kSet,
            .ttl_rule = kNoTtl,
            .lifecycle = "members are added and removed with alert limits; outlives the service",
            .purpose = "the utilization levels at which a service allows alerts",
            .source = "docs/systems/threescale.md 4.7",
        },
        "alerts/{{service:{service_id:any}}}/allowed_set"},
    LayoutRow{
        {
            .id = "threescale.alerts_already_notified",
            .system = kSystem,
            .pattern = "alerts/service_id:{service_id:any}/app_id:{application_id:any}/{level:int}/"
                       "already_notified",
            .type = KeyType::kString,
            .ttl_rule = "set with the alert",
            .ttl = absl::Hours(24),
            .lifecycle = "created by an alert; expires",
            .purpose = "marks that an alert of the level was raised in the last day",
            .source = "docs/systems/threescale.md 4.21",
        },
        "alerts/{{service:{service_id:any}}}/app_id:{application_id:any}/{level:int}/"
        "already_notified"},
    LayoutRow{
        {
            .id = "threescale.notify_batch",
            .system = kSystem,
            .pattern = "notify/aggregator/batch",
            .type = KeyType::kList,
            .ttl_rule = kNoTtl,
            .lifecycle =
                "an element per authorization or report if a master service is configured; "
                "trimmed when a "
                "batch is full",
            .purpose =
                "usage of the backend itself that has not been reported to the master service",
            .source = "docs/systems/threescale.md 4.22",
        },
        "notify/aggregator/{{batch:{shard:int}}}"},
    LayoutRow{
        {
            .id = "threescale.errors",
            .system = kSystem,
            .pattern = "errors/service_id:{service_id:any}",
            .type = KeyType::kList,
            .ttl_rule = kNoTtl,
            .lifecycle =
                "an element per failed request or job, the newest 1000; deleted with the service",
            .purpose = "the latest errors of a service, newest first",
            .source = "docs/systems/threescale.md 1, 4.10, D7",
        },
        "errors/{{service:{service_id:any}}}"},
    LayoutRow{{
        .id = "threescale.services_to_clean",
        .system = kSystem,
        .pattern = "set_with_services_marked_for_deletion",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member is added when a deletion is requested and removed when it is done",
        .purpose = "the services whose statistics are to be deleted",
        .source = "docs/systems/threescale.md 1, 4.23, D7",
    }},
};

}  // namespace

const store::LayoutTable& KeyTable() {
  static const store::LayoutTable& table = *new store::LayoutTable(kRows);
  return table;
}

std::span<const store::KeyFamily> KeyFamilies(store::KeyLayout layout) {
  return KeyTable().families(layout);
}

}  // namespace redouble::inline v0_1::threescale
