#include "redouble/core/korvet/key_rules.h"

#include <array>

#include "redouble/core/korvet/keys.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::KeyRelation;

constexpr std::array kRelations = {
    KeyRelation{"korvet.stream", "korvet.topic",
                "a write to a topic that was deleted or is half made"},
    KeyRelation{"korvet.topic", "korvet.topics", "a topic that is missing in the set of names"},
    KeyRelation{"korvet.topic", "korvet.topic_ids", "a topic that is missing in the index of ids"},
    KeyRelation{"korvet.group_members", "korvet.group", "members of a group that was deleted"},
    KeyRelation{"korvet.group_partitions", "korvet.group",
                "partitions of a group that was deleted"},
};

constexpr std::array<store::KeyBinding, 1> kDefaults = {{
    {"keyspace", kDefaultKeyspace},
}};

}  // namespace

store::KeyRules KeyRules() {
  return {
      .families = KeyFamilies(), .defaults = kDefaults, .relations = kRelations, .expiring = {}};
}

}  // namespace redouble::inline v0_1::korvet
