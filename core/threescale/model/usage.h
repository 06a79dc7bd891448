// Usage: the amounts that one transaction reports for its metrics, as text, and their arithmetic.
//
// A value is a number of digits that is added to a counter ("5"), or a number after a `#` that
// replaces it ("#5"). Values stay text until they are written, because the documented system uses
// the text: only a `#` that is the very first character replaces, so " #5" is valid but adds 0. An
// increment of an ancestor reads a replacing value as 0.
//
//   const Usage usage = {{"hits", "5"}, {"search", "#7"}};
//   absl::Status valid = CheckUsageValue(usage[0]);
//   IsSet("#7")                          // true
//   AmountOf("#7")                       // 7
//   ApplyUsage(/*current=*/10, "5")      // 15
//   ApplyUsage(/*current=*/10, "#7")     // 7
//
// Thread-safety: values and pure functions.
// Source: docs/systems/threescale.md 2.4, 4.13, 4.15.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_USAGE_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_USAGE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {

// The value of one metric. `metric` is a name in the usage of a client, and an id after parsing.
struct UsageEntry {
  std::string metric;
  std::string value;

  friend bool operator==(const UsageEntry&, const UsageEntry&) = default;
};

// Each metric once, in the order of its first appearance, which is the order of the writes.
using Usage = std::vector<UsageEntry>;

// Sets the value of a metric: at its place if the usage has it, otherwise at the end.
void PutUsage(Usage& usage, std::string_view metric, std::string_view value);

// Returns the value of a metric, or null if the usage does not have it.
const std::string* FindUsage(const Usage& usage, std::string_view metric);

// Returns OK if the value is digits, or `#` and digits, with optional white space around the whole.
// Otherwise returns UsageValueInvalid.
absl::Status CheckUsageValue(const UsageEntry& entry);

// Whether the value replaces a counter: its first character is `#`.
bool IsSet(std::string_view value);

// Returns the number that the value adds or sets.
Integer AmountOf(std::string_view value);

// Returns the same number as decimal digits. Exact for any number of digits.
std::string AmountText(std::string_view value);

// Returns a counter after the value was applied to it.
Integer ApplyUsage(Integer current, std::string_view value);

// Returns the usage without the entries whose text is exactly "0", which are not reported.
Usage WithoutZeros(const Usage& usage);

// Returns the usage with the amounts for ancestors. `ancestors` contains, for each entry of
// `usage`, the ids of its parent, the parent's parent and so on. The entries are applied in their
// order. A replacing value sets each ancestor to the same text. Another value adds to the number at
// the beginning of the ancestor's text, so it discards an earlier replacing value. Ancestors that
// the usage did not name are appended.
// Source: docs/systems/threescale.md 2.4.
Usage PropagateUsage(const Usage& usage, std::span<const std::vector<std::string>> ancestors);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_USAGE_H_
