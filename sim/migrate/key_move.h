// KeyMove: what becomes of one key, and of its value, in the other layout of a system.
//
// A key is spelled as the other layout spells it (KeyTranslator), and its value is carried as it
// is; FamilyMove has the exceptions. KeyMove refuses to guess: a key that the other layout cannot
// spell, or that can be read in two ways, is an error.
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
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/keyspace/key_translator.h"
#include "redouble/sim/migrate/family_move.h"
#include "redouble/sim/migrate/key_value.h"

namespace redouble::inline v0_1::sim {

// A system whose keys can be moved.
struct MovedSystem {
  std::string_view name;
  std::span<const store::KeyFamily> (*families)(store::KeyLayout layout);
  // The prefixes of the system's settings, for placeholders that the caller does not bind. Empty
  // for a system whose patterns are distinct with any prefix.
  std::span<const store::KeyBinding> defaults;
  std::span<const FamilyMove> (*moves)();  // Null: no family is an exception.
  // Returns why the cluster layout would not give the key this name; empty if it would. May be
  // null.
  std::string_view (*refuse_cluster_key)(std::string_view key);
};

// The names of the systems whose keys can be moved, separated by ", ".
std::string MovedSystemNames();

// Returns the system of that name; the pointer stays valid. Errors: InvalidArgument for another
// name, with those that exist.
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
    std::string key;         // In the other layout; empty if `move` decides.
    const FamilyMove* move;  // Null: the value is carried as it is.

    bool is_carried() const { return move == nullptr; }
    // The key follows from others, and has no counterpart.
    bool is_derived() const { return move != nullptr && move->convert == nullptr; }
    // Returns the keys whose values Convert takes.
    std::vector<std::string> SourcesOf(std::string_view own_key) const;
  };
  // Returns what becomes of a key; nullopt for a key of another program. Errors:
  // FailedPrecondition, with the key, if the other layout cannot spell it, if it has two readings,
  // or if two families give it different keys, which bindings of the prefixes decide.
  absl::StatusOr<std::optional<Target>> Translate(std::string_view key) const;

  // Returns the keys that a key with such a target, which is not carried or derived, becomes.
  // Errors: FailedPrecondition, with the key, if the value cannot be translated.
  absl::StatusOr<std::vector<MovedKey>> Convert(
      const Target& target, std::string_view key,
      std::span<const std::optional<KeyValue>> values) const;

  // Returns the key in the other layout that a key without a carried target comes from, or follows
  // from; nullopt if only its value says so.
  std::optional<std::string> OriginOf(const Target& target, std::string_view key) const;

 private:
  KeyMove(const MovedSystem& system, store::KeyLayout to, store::KeyTranslator translator)
      : system_(&system), to_(to), translator_(std::move(translator)) {}

  const FamilyMove* FindMove(std::string_view family) const;
  absl::StatusOr<Target> TargetOf(std::string_view key,
                                  store::KeyTranslator::Translation translation) const;

  const MovedSystem* system_;
  store::KeyLayout to_;
  store::KeyTranslator translator_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_KEY_MOVE_H_
