// FamilyMove: a family whose keys or values differ between the layouts in more than the spelling
// of the key.
//
// Most keys are spelled as the other layout spells them, and their values are copied as they are.
// A row of this type says what to do with the others: a value that names keys, a key that contains
// what its value says, a list that the other layout divides, and keys that follow from others.
//
//   constexpr FamilyMove kMoves[] = {
//       {.family = "gateway.reservation", .to = KeyLayout::kCluster, .convert = Respell}};
//
// Thread-safety: constant data and pure functions.
#ifndef REDOUBLE_SIM_MIGRATE_FAMILY_MOVE_H_
#define REDOUBLE_SIM_MIGRATE_FAMILY_MOVE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_translator.h"
#include "redouble/sim/migrate/key_value.h"

namespace redouble::inline v0_1::sim {

// What a conversion has to do.
struct Conversion {
  const store::KeyTranslator& translator;
  std::string_view family;  // The id.
  std::string_view key;
  // The values of the keys that FamilyMove::sources returns, or of `key` alone if it is null.
  // Nullopt: that key does not exist. At least one exists.
  std::span<const std::optional<KeyValue>> values;

  // The key in the other layout, with values that the key does not contain; as Spell.
  std::optional<std::string> Spell(std::span<const store::KeyBinding> more = {}) const {
    return translator.Spell(key, family, family, more);
  }
};

struct FamilyMove {
  std::string_view family;  // The id.
  store::KeyLayout to = store::KeyLayout::kCluster;
  // Returns the keys of the new layout. The error is the reason why the key cannot be moved. Null
  // with `follows_from`.
  absl::StatusOr<std::vector<MovedKey>> (*convert)(const Conversion& conversion) = nullptr;
  // Returns the keys that are read together and become the same keys. Null: the key alone.
  std::span<const std::string> (*sources)() = nullptr;
  // A key that only the layout that is left has, and that follows from a key of this family.
  std::string_view follows_from = {};
};

// The rows of the systems that have any.
std::span<const FamilyMove> GatewayMoves();
std::span<const FamilyMove> KorvetMoves();
std::span<const FamilyMove> OrchestratorMoves();
std::span<const FamilyMove> StudioMoves();
std::span<const FamilyMove> ThreescaleMoves();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_FAMILY_MOVE_H_
