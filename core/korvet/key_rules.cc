#include "redouble/core/korvet/key_rules.h"

#include <array>
#include <cstddef>

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

// In the cluster layout a partition's scripts read the copy.
constexpr KeyRelation kNeedsCopy = {"korvet.stream", "korvet.topic_copy",
                                    "a partition whose producers and readers find no topic"};

// The relations of the cluster layout.
constexpr auto kClusterRelations = [] {
  std::array<KeyRelation, kRelations.size() + 1> relations = {};
  relations[0] = kNeedsCopy;
  for (size_t i = 0; i < kRelations.size(); ++i) relations[i + 1] = kRelations[i];
  return relations;
}();

constexpr std::array<store::KeyBinding, 1> kDefaults = {{
    {"keyspace", kDefaultKeyspace},
}};

}  // namespace

store::KeyRules KeyRules(store::KeyLayout layout) {
  store::KeyRules rules = {.families = KeyFamilies(layout),
                           .defaults = kDefaults,
                           .relations = kRelations,
                           .expiring = {}};
  if (layout == store::KeyLayout::kCluster) rules.relations = kClusterRelations;
  return rules;
}

}  // namespace redouble::inline v0_1::korvet
