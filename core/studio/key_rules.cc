#include "redouble/core/studio/key_rules.h"

#include <array>

#include "redouble/core/studio/keys.h"

namespace redouble::inline v0_1::studio {
namespace {

using store::KeyRelation;

constexpr std::array kRelations = {
    KeyRelation{"studio.service_record", "studio.service_ids", "a service that no list shows"},
    KeyRelation{"studio.service_history", "studio.service_record",
                "history of a service that was deleted"},
    KeyRelation{"studio.task_history", "studio.service_record",
                "history of a task of a service that was deleted"},
    KeyRelation{"studio.task_latest_timestamp", "studio.task_history",
                "a timestamp that turns away events of a task without any"},
    KeyRelation{"studio.latest_status_timestamp", "studio.service_history",
                "a timestamp of a service without events"},
    KeyRelation{"studio.latest_observation_timestamp", "studio.service_history",
                "a timestamp of a service without events"},
    KeyRelation{"studio.latest_ingested_timestamp", "studio.service_history",
                "a timestamp of a service without events"},
    KeyRelation{"studio.pull_cursor", "studio.service_record",
                "a service registered anew goes on from the old one's cursor"},
    KeyRelation{"studio.health", "studio.service_record",
                "health of a service that was deleted, for ever"},
    KeyRelation{"studio.task_document", "studio.task_documents", "a task that no search finds"},
    KeyRelation{"studio.task_service", "studio.service_record",
                "tasks of a service that was deleted"},
    KeyRelation{"studio.service_document", "studio.service_record",
                "a search finds a service that was deleted"},
    KeyRelation{"studio.service_document", "studio.service_documents",
                "a service that no search finds"},
};

}  // namespace

store::KeyRules KeyRules(store::KeyLayout layout) {
  return {.families = KeyFamilies(layout),
          .defaults = DefaultBindings(),
          .relations = kRelations,
          .expiring = {}};
}

}  // namespace redouble::inline v0_1::studio
