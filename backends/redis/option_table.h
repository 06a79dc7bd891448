// The one table of options: names, places in a URI, values, meanings. Internal to Options.
//
// Adding an option is adding a field of Options and a row here: reading, printing, checking and the
// documentation follow.
//
// Thread-safety: constants and free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_OPTION_TABLE_H_
#define REDOUBLE_BACKENDS_REDIS_OPTION_TABLE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/redis/options.h"

namespace redouble::redis {

struct OptionRow {
  // Where it stands in a URI.
  enum class Place { kUser, kPassword, kHost, kPort, kSocket, kDatabase, kQuery };
  // Beside what it has a meaning.
  enum class Scope { kAny, kTcp, kTls, kCluster, kSentinel, kSeveral };

  std::string_view name;
  Place place;
  Scope scope;
  std::string_view written;   // How it stands in a URI.
  std::string_view expected;  // What a value has to be.
  std::string_view meaning;
  // Takes a decoded text; false: refused.
  bool (*read)(std::string_view text, Options& options);
  // The text that reads back as the same value, a password's hidden; none: not set.
  std::optional<std::string> (*write)(const Options& options);
};

// All options, in the order of the documentation.
std::span<const OptionRow> OptionTable();

// Whether an option of this scope has a meaning among these options.
bool Applies(OptionRow::Scope scope, const Options& options);

// What has to be written for options of this scope to have a meaning: "rediss://".
std::string_view ScopeText(OptionRow::Scope scope);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OPTION_TABLE_H_
