#include <array>

#include "core/threescale/keys.h"

namespace redouble::threescale {
namespace {

using store::KeyFamily;
using store::KeyType;

constexpr std::string_view kSystem = "threescale";
constexpr std::string_view kNoTtl = "none";
constexpr std::string_view kMinuteTtl =
    "minutes: 180 s, set anew by every write but a deletion, from the time of processing; the "
    "other "
    "periods: none";

constexpr std::array kFamilies = {
    KeyFamily{
        .id = "threescale.services_set",
        .system = kSystem,
        .pattern = "services_set",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member comes with the first save of a service and goes with its deletion",
        .purpose = "the ids of all services",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.provider_keys_set",
        .system = kSystem,
        .pattern = "provider_keys_set",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "a member comes with the first service of a provider; never removed, also when "
            "the key changes",
        .purpose = "the keys of all providers that ever had a service",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.service_state",
        .system = kSystem,
        .pattern = "service/id:{service_id:any}/state",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by every save of the service; deleted with it",
        .purpose = "active or suspended",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.service_referrer_filters_required",
        .system = kSystem,
        .pattern = "service/id:{service_id:any}/referrer_filters_required",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by every save of the service; deleted with it",
        .purpose = "1 when requests need an allowed referrer, else 0",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.service_backend_version",
        .system = kSystem,
        .pattern = "service/id:{service_id:any}/backend_version",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by every save of the service; deleted with it",
        .purpose = "how applications authenticate: 1 by user key, 2 by id and key, oauth by OpenID "
                   "Connect",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.service_provider_key",
        .system = kSystem,
        .pattern = "service/id:{service_id:any}/provider_key",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by every save of the service; deleted with it",
        .purpose = "the provider that the service belongs to; a service exists while this does",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.provider_service_ids",
        .system = kSystem,
        .pattern = "service/provider_key:{provider_key:any}/ids",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "a member comes with a save and goes with the deletion of a service; moved when "
            "the key changes",
        .purpose = "the ids of the services of a provider",
        .source = "seed Services; reference 3.1",
    },
    KeyFamily{
        .id = "threescale.provider_default_service",
        .system = kSystem,
        .pattern = "service/provider_key:{provider_key:any}/id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "written when a service becomes the default one; deleted with it; moved when the "
            "key changes",
        .purpose = "the id of the default service of a provider (the seed calls it a set; it is a "
                   "string)",
        .source = "seed Services; reference 3.1, 8 D2",
    },
    KeyFamily{
        .id = "threescale.service_applications",
        .system = kSystem,
        .pattern = "service_id:{service_id:any}/applications",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member comes with a save and goes with the deletion of an application; "
                     "outlives the service",
        .purpose = "the ids of the applications of a service",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.service_token",
        .system = kSystem,
        .pattern = "service_token/token:{token:any}/service_id:{service_id:any}",
        .type = KeyType::kHash,
        .ttl_rule = kNoTtl,
        .lifecycle = "written and deleted by the system; outlives the service",
        .purpose = "that a token may be used for a service",
        .source = "seed Services; reference 3.2",
    },
    KeyFamily{
        .id = "threescale.application_state",
        .system = kSystem,
        .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/state",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by a save that gives it; deleted with the application",
        .purpose = "active, or any other text; an application exists while this does",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.application_plan_id",
        .system = kSystem,
        .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/plan_id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by a save that gives it; deleted with the application",
        .purpose = "the plan whose limits hold",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.application_plan_name",
        .system = kSystem,
        .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/plan_name",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by a save that gives it; deleted with the application",
        .purpose = "the name of the plan, for answers",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.application_redirect_url",
        .system = kSystem,
        .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/redirect_url",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by a save that gives it; deleted with the application",
        .purpose = "where OAuth may redirect to",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.application_keys",
        .system = kSystem,
        .pattern = "application/service_id:{service_id:any}/id:{application_id:any}/keys",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member per key; outlives the application",
        .purpose = "the secrets of an application",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.application_referrer_filters",
        .system = kSystem,
        .pattern =
            "application/service_id:{service_id:any}/id:{application_id:any}/referrer_filters",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member per filter; outlives the application",
        .purpose = "the referrers that an application may be used from",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.application_user_key",
        .system = kSystem,
        .pattern = "application/service_id:{service_id:any}/key:{user_key:any}/id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written and deleted by the system; outlives the application",
        .purpose = "from a user key to the id of its application",
        .source = "seed Applications; reference 3.3",
    },
    KeyFamily{
        .id = "threescale.metric_id",
        .system = kSystem,
        .pattern = "metric/service_id:{service_id:any}/name:{name:any}/id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by every save of the metric; deleted with it and when it is renamed",
        .purpose = "from the name of a metric to its id",
        .source = "seed Metrics; reference 3.4",
    },
    KeyFamily{
        .id = "threescale.metric_name",
        .system = kSystem,
        .pattern = "metric/service_id:{service_id:any}/id:{metric_id:any}/name",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by every save of the metric; deleted with it",
        .purpose = "the name of a metric",
        .source = "seed Metrics; reference 3.4",
    },
    KeyFamily{
        .id = "threescale.metric_parent",
        .system = kSystem,
        .pattern = "metric/service_id:{service_id:any}/id:{metric_id:any}/parent_id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written by a save that gives it; deleted with the metric, but not with its "
                     "parent",
        .purpose = "the metric that the usage of this one adds to",
        .source = "seed Metrics; reference 3.4",
    },
    KeyFamily{
        .id = "threescale.metric_ids",
        .system = kSystem,
        .pattern = "metrics/service_id:{service_id:any}/ids",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member comes with the first save of a metric and goes with its deletion",
        .purpose = "the ids of the metrics of a service, without which no limit is found",
        .source = "reference 2, 3.4, 8 D7; not in the seed",
    },
    KeyFamily{
        .id = "threescale.usage_limit",
        .system = kSystem,
        .pattern = "usage_limit/service_id:{service_id:any}/plan_id:{plan_id:any}/"
                   "metric_id:{metric_id:any}/{period:minute|hour|day|week|month|year|eternity}",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "written and deleted by the system; outlives plan and metric",
        .purpose = "how much of a metric a plan allows in a period",
        .source = "seed Usage limits; reference 3.5",
    },
    KeyFamily{
        .id = "threescale.stats_cinstances",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstances",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member comes with the first traffic of an application; never removed",
        .purpose = "the applications of a service that ever had traffic",
        .source = "seed Stats; reference 5.3",
    },
    KeyFamily{
        .id = "threescale.stats_metric_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/metric:{metric_id:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "created by the first report; deleted when the stats of the service are cleaned",
        .purpose = "usage of a metric of a service, ever",
        .source = "seed Stats; reference 5.2",
        .overlaps = "threescale.stats_response_code_eternity "
                    "threescale.stats_cinstance_metric_eternity "
                    "threescale.stats_cinstance_response_code_eternity",
    },
    KeyFamily{
        .id = "threescale.stats_metric_period",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/metric:{metric_id:any}/"
                   "{period:month|week|day|hour}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report in the period; deleted when the stats of the "
                     "service are cleaned",
        .purpose = "usage of a metric of a service in one period",
        .source = "seed Stats; reference 5.2",
        .overlaps =
            "threescale.stats_response_code_period threescale.stats_cinstance_metric_period "
            "threescale.stats_cinstance_response_code_period",
    },
    KeyFamily{
        .id = "threescale.stats_response_code_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/response_code:{code:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "created by the first report; deleted when the stats of the service are cleaned",
        .purpose = "answers with a response code, or a group of them of a service, ever",
        .source = "seed Stats; reference 5.2",
        .overlaps = "threescale.stats_cinstance_metric_eternity "
                    "threescale.stats_cinstance_response_code_eternity",
    },
    KeyFamily{
        .id = "threescale.stats_response_code_period",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/response_code:{code:any}/"
                   "{period:month|week|day|hour}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first report in the period; deleted when the stats of the "
                     "service are cleaned",
        .purpose = "answers with a response code, or a group of them of a service in one period",
        .source = "seed Stats; reference 5.2",
        .overlaps = "threescale.stats_cinstance_metric_period "
                    "threescale.stats_cinstance_response_code_period",
    },
    KeyFamily{
        .id = "threescale.stats_cinstance_metric_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
                   "metric:{metric_id:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "created by the first report; deleted when the stats of the service are cleaned",
        .purpose = "usage of a metric of one application, ever",
        .source = "seed Stats; reference 5.2",
        .overlaps = "threescale.stats_cinstance_response_code_eternity",
    },
    KeyFamily{
        .id = "threescale.stats_cinstance_metric_period",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
                   "metric:{metric_id:any}/{period:month|week|day|hour|year|minute}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kMinuteTtl,
        .lifecycle = "created by the first report in the period; deleted when the stats of the "
                     "service are cleaned; minutes expire",
        .purpose = "usage of a metric of one application in one period",
        .source = "seed Stats; reference 5.2",
        .overlaps = "threescale.stats_cinstance_response_code_period",
    },
    KeyFamily{
        .id = "threescale.stats_cinstance_response_code_eternity",
        .system = kSystem,
        .pattern = "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
                   "response_code:{code:any}/eternity",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "created by the first report; deleted when the stats of the service are cleaned",
        .purpose = "answers with a response code, or a group of them of one application, ever",
        .source = "seed Stats; reference 5.2",
    },
    KeyFamily{
        .id = "threescale.stats_cinstance_response_code_period",
        .system = kSystem,
        .pattern =
            "stats/{{service:{service_id:any}}}/cinstance:{application_id:any}/"
            "response_code:{code:any}/{period:month|week|day|hour|year|minute}:{stamp:d8-12}",
        .type = KeyType::kString,
        .ttl_rule = kMinuteTtl,
        .lifecycle = "created by the first report in the period; deleted when the stats of the "
                     "service are cleaned; minutes expire",
        .purpose = "answers with a response code, or a group of them of one application in one "
                   "period",
        .source = "seed Stats; reference 5.2",
    },
    KeyFamily{
        .id = "threescale.daily_traffic",
        .system = kSystem,
        .pattern = "daily_traffic/service:{service_id:any}/cinstance:{application_id:any}/{day:d8}",
        .type = KeyType::kString,
        .ttl_rule = "set when the key is created",
        .ttl = absl::Hours(48),
        .lifecycle = "created by the first report that is processed on a day; expires",
        .purpose = "marks the first traffic of an application on a day; no count of requests",
        .source = "seed Daily traffic; reference 5.3, 8 D6",
    },
    KeyFamily{
        .id = "threescale.events_id",
        .system = kSystem,
        .pattern = "events/id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first event; counts up",
        .purpose = "the id of the latest event",
        .source = "seed Events; reference 5.4",
    },
    KeyFamily{
        .id = "threescale.events_queue",
        .system = kSystem,
        .pattern = "events/queue",
        .type = KeyType::kSortedSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "an event comes with what happened and goes when the system has fetched it",
        .purpose = "the events that the system has not fetched, by id",
        .source = "seed Events; reference 5.4",
    },
    KeyFamily{
        .id = "threescale.events_ping",
        .system = kSystem,
        .pattern = "events/ping",
        .type = KeyType::kString,
        .ttl_rule = "set when the key is created",
        .ttl = absl::Seconds(60),
        .lifecycle = "taken behind a processed job when an events hook is configured; expires",
        .purpose = "that the system has been called about new events",
        .source = "seed Events; reference 5.6, 8 D4",
    },
    KeyFamily{
        .id = "threescale.alerts_current_id",
        .system = kSystem,
        .pattern = "alerts/current_id",
        .type = KeyType::kString,
        .ttl_rule = kNoTtl,
        .lifecycle = "created by the first alert; counts up",
        .purpose = "the id of the latest alert",
        .source = "seed Alerts; reference 5.5",
    },
    KeyFamily{
        .id = "threescale.alerts_allowed_set",
        .system = kSystem,
        .pattern = "alerts/service_id:{service_id:any}/allowed_set",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "members come and go with alert limits; outlives the service",
        .purpose = "the levels of utilization at which a service wants alerts",
        .source = "seed Alerts; reference 3.6",
    },
    KeyFamily{
        .id = "threescale.alerts_already_notified",
        .system = kSystem,
        .pattern = "alerts/service_id:{service_id:any}/app_id:{application_id:any}/{level:int}/"
                   "already_notified",
        .type = KeyType::kString,
        .ttl_rule = "set with the alert",
        .ttl = absl::Hours(24),
        .lifecycle = "created by an alert; expires",
        .purpose = "that the level has been alerted within a day",
        .source = "seed Alerts; reference 5.5",
    },
    KeyFamily{
        .id = "threescale.notify_batch",
        .system = kSystem,
        .pattern = "notify/aggregator/batch",
        .type = KeyType::kList,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "an element per authorization or report when a master service is configured; cut "
            "when a batch is full",
        .purpose = "usage of the backend itself that has not been reported to the master service",
        .source = "seed Notify keys; reference 5.7",
    },
    KeyFamily{
        .id = "threescale.errors",
        .system = kSystem,
        .pattern = "errors/service_id:{service_id:any}",
        .type = KeyType::kList,
        .ttl_rule = kNoTtl,
        .lifecycle =
            "an element per failed request or job, the newest 1000; deleted with the service",
        .purpose = "what went wrong for a service, newest first",
        .source = "reference 2, 3.8, 8 D7; not in the seed",
    },
    KeyFamily{
        .id = "threescale.services_to_clean",
        .system = kSystem,
        .pattern = "set_with_services_marked_for_deletion",
        .type = KeyType::kSet,
        .ttl_rule = kNoTtl,
        .lifecycle = "a member comes when a deletion is asked for and goes when it is done",
        .purpose = "the services whose stats shall be deleted",
        .source = "reference 2, 6, 8 D7; not in the seed",
    },
};

}  // namespace

std::span<const KeyFamily> KeyFamilies() { return kFamilies; }

}  // namespace redouble::threescale
