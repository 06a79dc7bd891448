// The table of options: names, places in a URI, values and meanings. Internal to Options.
//
// To add an option, add a field to Options and a row here. Parsing, printing, validation and
// docs/live_options.md follow from the row.
//
//   for (const OptionRow& row : OptionTable()) {
//     if (row.name == name && !row.read(text, options)) return Refused(row);
//   }
//
// Thread-safety: constants and free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_OPTION_TABLE_H_
#define REDOUBLE_BACKENDS_REDIS_OPTION_TABLE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redouble/backends/redis/options.h"

namespace redouble::inline v0_1::redis {

struct OptionRow {
  // The part of the URI that holds the option.
  enum class Place { kUser, kPassword, kHost, kPort, kSocket, kDatabase, kQuery };
  // The options that this one requires.
  enum class Scope { kAny, kTcp, kTls, kCluster, kSentinel, kSeveral };

  std::string_view name;
  Place place;
  Scope scope;
  std::string_view written;   // The written form in a URI.
  std::string_view expected;  // The valid values.
  std::string_view meaning;
  // Parses a decoded text into the option. Returns false if the text is invalid.
  bool (*read)(std::string_view text, Options& options);
  // The text that parses to the same value; a password is hidden. nullopt if the option is not set.
  std::optional<std::string> (*write)(const Options& options);
};

// All options, in the order of the documentation.
std::span<const OptionRow> OptionTable();

// Whether `options` contain what an option of this scope requires.
bool Applies(OptionRow::Scope scope, const Options& options);

// The text that an option of this scope requires in a URI: "rediss://".
std::string_view ScopeText(OptionRow::Scope scope);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OPTION_TABLE_H_
