// RuleTable: the key families and rules of several systems, compiled for the inspector.
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
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::sim {

// One end of a relation at a key: the values that the two keys share, as a text that is equal for
// equal values.
struct RelationEnd {
  size_t relation;  // The index in RuleTable::relations.
  std::string common;
};

// The family of a key and its relations.
struct KeyReading {
  const store::KeyFamily* family;
  bool has_type;                      // The key has the type of the family.
  bool must_expire;                   // The family requires a TTL.
  std::vector<RelationEnd> needed;    // Without these other keys this one is an orphan.
  std::vector<RelationEnd> provided;  // The relations in which other keys need this one.
};

class RuleTable {
 public:
  // Compiles the rules. Families, relations and rows must outlive the table. `bindings` replace the
  // defaults of the named placeholders. Errors: InvalidArgument for a binding that no system has,
  // and for a relation or row with an unknown family or placeholder; those of
  // store::FamilyTable::Add.
  static absl::StatusOr<RuleTable> Create(std::span<const store::KeyRules> systems,
                                          std::span<const store::KeyBinding> bindings = {});

  // Returns the family of a key: the first one whose pattern and type match, otherwise the first
  // one whose pattern matches; nullopt if none does. Linear in the number of families.
  std::optional<KeyReading> Read(std::string_view key, store::KeyType type) const;

  const store::FamilyTable& family_table() const { return table_; }
  std::vector<const store::KeyFamily*> families() const { return table_.families(); }
  const store::KeyRelation& relation(size_t index) const { return *relations_[index].relation; }
  size_t relation_count() const { return relations_.size(); }
  // Returns the needed key if the shared values determine it; nullopt if there may be several.
  std::optional<std::string> NeededKey(const RelationEnd& end) const;

 private:
  struct Relation {
    const store::KeyRelation* relation;
    // The positions of the shared placeholders in each of the two patterns, in pairs.
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

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_INSPECT_RULE_TABLE_H_
