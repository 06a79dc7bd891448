// KeyTranslator: spells a key of one layout as the other layout does.
//
// Use it to copy a database from one layout to the other, and in tests that name keys in one layout
// and run in both.
//
//   absl::StatusOr<KeyTranslator> to_cluster = KeyTranslator::Create(
//       KeyFamilies(KeyLayout::kDocumented), KeyFamilies(KeyLayout::kCluster));
//   to_cluster->Translate("ir:run_123");   // "ir:{run_123}"
//
// Thread-safety: const functions are safe from any thread.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_TRANSLATOR_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_TRANSLATOR_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/store/keyspace/key_family.h"

namespace redouble::inline v0_1::store {

class KeyTranslator {
 public:
  // The families of the two layouts, with equal ids, and the prefixes of both. The rows must
  // outlive this. Errors: those of FamilyTable::Add.
  static absl::StatusOr<KeyTranslator> Create(std::span<const KeyFamily> from,
                                              std::span<const KeyFamily> to,
                                              std::span<const KeyBinding> bindings = {});

  // Returns the key with the pattern of the first family that it matches. Nullopt if it matches no
  // family; if the other pattern has a placeholder whose value the key does not contain; or if the
  // other pattern does not accept a value, such as a tag with a brace.
  std::optional<std::string> Translate(std::string_view key) const;

  // A family that a key matches.
  struct Translation {
    const KeyFamily* family;         // The row of `from`.
    std::optional<std::string> key;  // As Translate, for this family.
    // The key has other values for the placeholders of this family as well (KeyPattern), and the
    // two patterns differ, so that it may have another translation.
    bool is_ambiguous;
  };
  // Returns one translation for each family that the key matches, in the order of the rows. For
  // programs that must not guess.
  std::vector<Translation> Translations(std::string_view key) const;

  // Returns the key with the values that it has in the pattern of family `from`, spelled with the
  // other layout's pattern of family `to`. `more` are values of placeholders that the key does not
  // contain, such as a tag that its value names. Nullopt as in Translate.
  std::optional<std::string> Spell(std::string_view key, std::string_view from, std::string_view to,
                                   std::span<const KeyBinding> more) const;

 private:
  std::optional<std::string> TranslateMatch(const KeyMatch& match) const;
  std::optional<std::string> SpellValues(const KeyPattern& from, const KeyValues& values,
                                         std::string_view to,
                                         std::span<const KeyBinding> more) const;

  FamilyTable from_;
  FamilyTable to_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_TRANSLATOR_H_
