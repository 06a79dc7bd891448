// RulesFile: key families and rules of one's own, read from a JSON file.
//
// The inspector judges a database by the key tables of the systems in this project. A rules file
// adds the table of another system:
//
//   {"system": "shop",
//    "families": [
//      {"id": "shop.user", "pattern": "{prefix}:user:{user}", "type": "string"},
//      {"id": "shop.cart", "pattern": "{prefix}:cart:{user}", "type": "hash", "ttl": "30m"},
//      {"id": "shop.stock", "pattern": "{prefix}:stock:{day}", "type": "hash"}],
//    "defaults": {"prefix": "shop"},
//    "relations": [{"family": "shop.cart", "needs": "shop.user", "without": "nobody's cart"}],
//    "expiring": [{"family": "shop.stock"}]}
//
//   absl::StatusOr<RulesFile> shop = RulesFile::Parse(text);
//   absl::StatusOr<RuleTable> table = RuleTable::Create({{shop->rules()}});
//
// core/store/keyspace/key_pattern.h has the format of patterns. `type` is a name that TYPE returns,
// or "channel". Keys of a family with `ttl` must expire; a relation says which key another one
// needs, by equal values of the placeholders that both patterns have. `purpose`, `ttl_rule`,
// `lifecycle` and `source` of a family are texts for readers.
//
// Thread-safety: constant after Parse; may be moved.
#ifndef REDOUBLE_SIM_INSPECT_RULES_FILE_H_
#define REDOUBLE_SIM_INSPECT_RULES_FILE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::sim {

class RulesFile {
 public:
  // Errors: InvalidArgument with a line for each mistake, which begins with its JSON pointer; also
  // for rules that RuleTable::Create refuses, such as a relation with an unknown family.
  static absl::StatusOr<RulesFile> Parse(std::string_view text);

  RulesFile(RulesFile&&) noexcept;
  RulesFile& operator=(RulesFile&&) noexcept;
  ~RulesFile();

  // Views of this object, which stay valid when it is moved.
  store::KeyRules rules() const;

 private:
  struct Data;

  explicit RulesFile(std::unique_ptr<Data> data);

  std::unique_ptr<Data> data_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_INSPECT_RULES_FILE_H_
