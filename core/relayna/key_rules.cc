#include "redouble/core/relayna/key_rules.h"

#include <array>

#include "redouble/core/relayna/keys.h"

namespace redouble::inline v0_1::relayna {
namespace {

using store::KeyRelation;

constexpr std::array kRelations = {
    KeyRelation{"relayna.event", "relayna.history", "the event was lost behind its marker"},
    KeyRelation{"relayna.observation_event", "relayna.observation_history",
                "the observation was lost behind its marker"},
    KeyRelation{"relayna.feed_event", "relayna.feed",
                "the feed's list is gone, its events are not"},
    KeyRelation{"relayna.dlq_record", "relayna.dlq_records", "a record that no list names"},
    KeyRelation{"relayna.dlq_replay_lock", "relayna.dlq_record",
                "a lock on a record that is not there"},
    KeyRelation{"relayna.workflow_inflight", "relayna.workflow_dedup",
                "the entry outlived every marker of its task"},
};

constexpr std::array<store::KeyBinding, 5> kDefaults = {{
    {"status_prefix", kRelaynaPrefix},
    {"observation_prefix", kObservationPrefix},
    {"feed_prefix", kFeedPrefix},
    {"dlq_prefix", kRelaynaPrefix},
    {"workflow_prefix", kRelaynaPrefix},
}};

}  // namespace

store::KeyRules KeyRules(store::KeyLayout layout) {
  return {.families = KeyFamilies(layout),
          .defaults = kDefaults,
          .relations = kRelations,
          .expiring = {}};
}

}  // namespace redouble::inline v0_1::relayna
