// KeyMove: what becomes of one key, and of its value, in the other layout of a system.
//
// A key is spelled as the other layout spells it (KeyTranslator). A value that names keys is
// rewritten by a function of its system. KeyMove refuses to guess: a key that the other layout
// cannot spell, or that can be read in two ways, is an error.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const MovedSystem* system, FindMovedSystem("gateway"));
//   REDOUBLE_ASSIGN_OR_RETURN(const KeyMove move, KeyMove::Create(
//       *system, {KeyLayout::kDocumented, KeyLayout::kCluster}, bindings));
//   move.Translate("rl:req:K:202605091403")   // "rl:req:{K}:202605091403"
//
// Thread-safety: constant data; const functions are safe from any thread.
#ifndef REDOUBLE_SIM_MIGRATE_KEY_MOVE_H_
#define REDOUBLE_SIM_MIGRATE_KEY_MOVE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_translator.h"
#include "redouble/sim/migrate/key_value.h"

namespace redouble::inline v0_1::sim {

// A system whose keys can be moved.
struct MovedSystem {
  std::string_view name;
  std::span<const store::KeyFamily> (*families)(store::KeyLayout layout);
  // Rewrites the keys that a value of the family names. Null if no value names a key.
  absl::Status (*rewrite)(const store::KeyFamily& family, const store::KeyTranslator& translator,
                          KeyValue& value);
};

// The names of the systems whose keys can be moved, separated by ", ".
std::string MovedSystemNames();

// Returns the system of that name; the pointer stays valid. Errors: Unimplemented for another name,
// with those that are supported.
absl::StatusOr<const MovedSystem*> FindMovedSystem(std::string_view name);

struct LayoutPair {
  store::KeyLayout from = store::KeyLayout::kDocumented;
  store::KeyLayout to = store::KeyLayout::kCluster;
};

class KeyMove {
 public:
  // Errors: InvalidArgument for a binding that no pattern has, as FamilyTable::Add.
  static absl::StatusOr<KeyMove> Create(const MovedSystem& system, LayoutPair layouts,
                                        std::span<const store::KeyBinding> bindings = {});

  struct Target {
    const store::KeyFamily* family;
    std::string key;  // In the other layout.
  };
  // Returns the key in the other layout; nullopt for a key of another program. Errors:
  // FailedPrecondition, with the key, if the other layout cannot spell it, if it has two readings,
  // or if two families give it different keys, which bindings of the prefixes decide.
  absl::StatusOr<std::optional<Target>> Translate(std::string_view key) const;

  // Returns the value with the keys that it names in the other layout. Errors: FailedPrecondition,
  // with the target's key, if the value names a key that the other layout cannot spell.
  absl::StatusOr<KeyValue> Rewrite(const Target& target, KeyValue value) const;

 private:
  KeyMove(const MovedSystem& system, store::KeyTranslator translator)
      : system_(&system), translator_(std::move(translator)) {}

  const MovedSystem* system_;
  store::KeyTranslator translator_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_KEY_MOVE_H_
