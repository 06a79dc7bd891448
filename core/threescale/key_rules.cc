#include "redouble/core/threescale/key_rules.h"

#include <array>

#include "redouble/core/threescale/keys.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::KeyRelation;

constexpr std::array kRelations = {
    KeyRelation{"threescale.service_state", "threescale.services_set",
                "a service that is missing in the set of services"},
    KeyRelation{"threescale.service_referrer_filters_required", "threescale.service_state",
                "an attribute of a service half saved or half deleted"},
    KeyRelation{"threescale.service_backend_version", "threescale.service_state",
                "an attribute of a service half saved or half deleted"},
    KeyRelation{"threescale.service_provider_key", "threescale.service_state",
                "an attribute of a service half saved or half deleted"},
    KeyRelation{"threescale.provider_default_service", "threescale.provider_service_ids",
                "a default service of a provider without services"},
    KeyRelation{"threescale.service_token", "threescale.service_state",
                "a token of a deleted service"},
    KeyRelation{"threescale.application_plan_id", "threescale.application_state",
                "an attribute of an application half saved or half deleted"},
    KeyRelation{"threescale.application_plan_name", "threescale.application_state",
                "an attribute of an application half saved or half deleted"},
    KeyRelation{"threescale.application_redirect_url", "threescale.application_state",
                "an attribute of an application half saved or half deleted"},
    KeyRelation{"threescale.application_keys", "threescale.application_state",
                "keys of a deleted application"},
    KeyRelation{"threescale.application_referrer_filters", "threescale.application_state",
                "filters of a deleted application"},
    KeyRelation{"threescale.metric_name", "threescale.metric_ids",
                "a metric that is missing in the set of metrics"},
    KeyRelation{"threescale.metric_parent", "threescale.metric_name",
                "a parent of a deleted metric"},
    KeyRelation{"threescale.usage_limit", "threescale.metric_name", "a limit of a deleted metric"},
    KeyRelation{"threescale.stats_cinstance_metric_eternity", "threescale.application_state",
                "usage counted after the application was deleted"},
    KeyRelation{"threescale.stats_cinstance_metric_period", "threescale.application_state",
                "usage counted after the application was deleted"},
};

constexpr std::array kExpiring = {
    store::ExpiringKeys{"threescale.stats_cinstance_metric_period", "period", "minute"},
    store::ExpiringKeys{"threescale.stats_cinstance_response_code_period", "period", "minute"},
};

}  // namespace

store::KeyRules KeyRules(store::KeyLayout layout) {
  return {.families = KeyFamilies(layout),
          .defaults = {},
          .relations = kRelations,
          .expiring = kExpiring};
}

}  // namespace redouble::inline v0_1::threescale
