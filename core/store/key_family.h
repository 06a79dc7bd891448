// KeyFamily: one row of a key inventory; FamilyTable: which family a key belongs to.
//
// Why it exists: a system's documentation lists its keys in a table. Here that table is data, and
// everything else comes from it: builders and parsers (KeyPattern), the printed inventory
// (key_inventory.h), the family that a fault or a trace names, and the property tests
// (key_family_testing.h).
//
//   constexpr KeyFamily kFamilies[] = {{
//       .id = "relayna.history", .system = "relayna", .pattern = "{prefix}:history:{task_id}",
//       .type = KeyType::kList, .ttl_rule = "every write", .ttl = absl::Seconds(86400), ...}};
//
//   FamilyTable table;
//   absl::Status added = table.Add(kFamilies, {{{"prefix", "relayna"}}});
//   Recognition recognition = table.Recognise("relayna:history:task-7");
//   recognition.matches[0].family->id                                  // "relayna.history"
//   recognition.matches[0].values[0]                                   // "task-7"
//
// Thread-safety: plain values; const functions are safe from any thread.
#ifndef REDOUBLE_CORE_STORE_KEY_FAMILY_H_
#define REDOUBLE_CORE_STORE_KEY_FAMILY_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/store/key_pattern.h"
#include "core/store/key_type.h"

namespace redouble::store {

// Constant data; the texts are sentences or words for people but for those with a rule here.
struct KeyFamily {
  std::string_view id;              // "gateway.daily_budget": unique among all systems.
  std::string_view system;          // "gateway"
  std::string_view pattern;         // See key_pattern.h.
  KeyType type = KeyType::kString;  // kNone: a Pub/Sub channel, which is named like a key.
  std::string_view ttl_rule;        // When the time to live is set, or why there is none.
  std::optional<absl::Duration> ttl = std::nullopt;  // Where it is a constant.
  std::string_view lifecycle;                        // Who creates the key, when; what removes it.
  std::string_view purpose;
  std::string_view source;  // Where the documents say so.
  // Ids, separated by spaces, of families that keys of this one can be mistaken for, because the
  // documented patterns are ambiguous. Declaring it on one of the two is enough.
  std::string_view overlaps = {};
};

// One reading of a key.
struct KeyMatch {
  const KeyFamily* family;
  const KeyPattern* pattern;
  KeyValues values;  // Views into the key.
};

struct Recognition {
  // In the order of the table; empty for a key of no family.
  std::vector<KeyMatch> matches;
  // Two of the matches are families of one system that did not declare each other: the inventory is
  // wrong. Families of different systems share a key space only by configuration, which is theirs
  // to keep apart.
  bool undeclared_overlap = false;
};

// A placeholder's value where the families are in use, as a configured prefix is.
struct KeyBinding {
  std::string_view placeholder;
  std::string_view value;
};

class FamilyTable {
 public:
  // Adds rows, with every binding applied to each pattern that has its placeholder. The rows must
  // outlive the table. Errors: InvalidArgument, and nothing added: a malformed pattern, an id that
  // the table already has, a binding that no row takes or whose value its placeholder refuses.
  absl::Status Add(std::span<const KeyFamily> families, std::span<const KeyBinding> bindings = {});

  // All readings of `key`. Linear in the number of families.
  Recognition Recognise(std::string_view key) const;

  // The row of an id and its pattern with the bindings applied; null when there is no such family.
  const KeyFamily* Find(std::string_view id) const;
  const KeyPattern* PatternOf(std::string_view id) const;

  // The rows, in the order they were added.
  std::vector<const KeyFamily*> families() const;

 private:
  struct Entry {
    const KeyFamily* family;
    KeyPattern pattern;
  };
  const Entry* FindEntry(std::string_view id) const;

  // A deque, because matches point to patterns.
  std::deque<Entry> entries_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_KEY_FAMILY_H_
