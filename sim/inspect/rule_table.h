// RuleTable: the families and rules of several systems, compiled, as the inspector asks them.
//
//   absl::StatusOr<RuleTable> table =
//       RuleTable::Create({relayna::KeyRules()}, {{"status_prefix", "task"}});
//   std::optional<KeyReading> reading = table->Read("task:event:t1:e1", store::KeyType::kString);
//   reading->family->id      // "relayna.event"
//   reading->must_expire     // true
//   reading->needed[0]       // the relation to relayna.history, and "t1"
//
// Thread-safety: constant after Create.
#ifndef REDOUBLE_SIM_INSPECT_RULE_TABLE_H_
#define REDOUBLE_SIM_INSPECT_RULE_TABLE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/store/key_family.h"
#include "core/store/key_rules.h"

namespace redouble::sim {

// One side of a relation at a key: what the two keys have in common, as text that is equal for
// equal values.
struct RelationEnd {
  size_t relation;  // Its position in RuleTable::relations.
  std::string common;
};

// What a key is.
struct KeyReading {
  const store::KeyFamily* family;
  bool has_type;                      // The key is of the family's type.
  bool must_expire;                   // The family requires a time to live.
  std::vector<RelationEnd> needed;    // Other keys without which this one is an orphan.
  std::vector<RelationEnd> provided;  // What this key is to others.
};

class RuleTable {
 public:
  // Families, relations and rows must outlive the table. `bindings` replace the defaults of the
  // placeholders that they name. Errors: InvalidArgument for a binding that no system has, and as
  // store::FamilyTable::Add; a relation or row whose family, or placeholder, there is not.
  static absl::StatusOr<RuleTable> Create(std::span<const store::KeyRules> systems,
                                          std::span<const store::KeyBinding> bindings = {});

  // The family of a key: the first whose pattern fits and whose type this is, else the first whose
  // pattern fits. None for a key of no family. Linear in the number of families.
  std::optional<KeyReading> Read(std::string_view key, store::KeyType type) const;

  std::vector<const store::KeyFamily*> families() const { return table_.families(); }
  const store::KeyRelation& relation(size_t index) const { return *relations_[index].relation; }
  size_t relation_count() const { return relations_.size(); }
  // The needed key, where the common values are all that its pattern asks for; none when there may
  // be several.
  std::optional<std::string> NeededKey(const RelationEnd& end) const;

 private:
  struct Relation {
    const store::KeyRelation* relation;
    // Where the common placeholders stand in each of the two patterns, pair by pair.
    std::vector<size_t> positions;
    std::vector<size_t> needed_positions;
  };

  RuleTable() = default;

  absl::Status Add(const store::KeyRules& rules, std::span<const store::KeyBinding> bindings);
  absl::Status AddRelation(const store::KeyRelation& relation);
  absl::Status AddExpiring(const store::ExpiringKeys& keys);
  KeyReading Describe(const store::KeyMatch& match, store::KeyType type) const;
  bool MustExpire(const store::KeyMatch& match) const;

  store::FamilyTable table_;
  std::vector<Relation> relations_;
  std::vector<const store::ExpiringKeys*> expiring_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_INSPECT_RULE_TABLE_H_
