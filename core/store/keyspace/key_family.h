// KeyFamily: one row of a system's key table; FamilyTable: finds the family of a key.
//
// The key table of a system is data, from which everything else is derived: builders and parsers
// (KeyPattern), the tables in docs/systems, the family names in faults and traces, and the property
// tests (key_family_testing.h).
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
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_FAMILY_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_FAMILY_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_pattern.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::store {

// One family of keys, as constant data. Texts without a format below are free text for readers.
struct KeyFamily {
  std::string_view id;              // "gateway.daily_budget"; unique in all systems.
  std::string_view system;          // "gateway"
  std::string_view pattern;         // See key_pattern.h.
  KeyType type = KeyType::kString;  // kNone: a Pub/Sub channel.
  std::string_view ttl_rule;        // When the TTL is set, or why there is none.
  std::optional<absl::Duration> ttl = std::nullopt;  // The TTL, if it is constant.
  std::string_view lifecycle;                        // When the key is created and removed.
  std::string_view purpose;
  std::string_view source;  // The section of docs/systems.
  // The ids, separated by spaces, of families whose pattern a key of this family can match too,
  // because the documented patterns are ambiguous. One of the two declares the overlap.
  std::string_view overlaps = {};
};

// A family that a key matches, with the values of its placeholders.
struct KeyMatch {
  const KeyFamily* family;
  const KeyPattern* pattern;
  KeyValues values;  // Views into the key.
};

struct Recognition {
  // In the order of the table; empty if the key belongs to no family.
  std::vector<KeyMatch> matches;
  // Two of the matches belong to the same system and do not declare their overlap, which is a
  // mistake in the key table. Families of different systems may overlap; their configuration keeps
  // them apart.
  bool undeclared_overlap = false;
};

// A constant value for a placeholder, such as a configured prefix.
struct KeyBinding {
  std::string_view placeholder;
  std::string_view value;
};

class FamilyTable {
 public:
  // Adds rows. Each binding is applied to all patterns that have its placeholder. The rows must
  // outlive the table. Errors: InvalidArgument, with nothing added, for a malformed pattern, an id
  // that the table already has, a binding whose placeholder no row has, or an invalid value.
  absl::Status Add(std::span<const KeyFamily> families, std::span<const KeyBinding> bindings = {});

  // Returns all families that `key` matches. O(families).
  Recognition Recognise(std::string_view key) const;

  // Return the row with that id, and its pattern with the bindings applied; null if there is none.
  const KeyFamily* Find(std::string_view id) const;
  const KeyPattern* PatternOf(std::string_view id) const;

  // Returns the rows in the order in which they were added.
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

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_FAMILY_H_
