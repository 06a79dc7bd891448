// Usage: what one transaction adds to which metrics, as text, and the arithmetic of it.
//
// A value is a number of digits that is added ("5"), or, behind a `#`, one that replaces the
// counter ("#5"). Values stay text until they are written, because the documented system looks at
// the text: only a `#` that is the very first character sets, so that " #5" is accepted but adds 0,
// and a set value is 0 to whoever adds to it.
//
//   const Usage usage = {{"hits", "5"}, {"search", "#7"}};
//   absl::Status valid = CheckUsageValue(usage[0]);
//   IsSet("#7")                          // true
//   AmountOf("#7")                       // 7
//   ApplyUsage(/*current=*/10, "5")      // 15
//   ApplyUsage(/*current=*/10, "#7")     // 7
//
// Thread-safety: values and pure functions.
// Source: reference/threescale.md 4.3, 4.6 and 5.1.
#ifndef REDOUBLE_CORE_THREESCALE_USAGE_H_
#define REDOUBLE_CORE_THREESCALE_USAGE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/threescale/integer.h"

namespace redouble::threescale {

// One metric's share of a usage. Of the client's usage the metric is a name, of a parsed one an id.
struct UsageEntry {
  std::string metric;
  std::string value;

  friend bool operator==(const UsageEntry&, const UsageEntry&) = default;
};

// In the order in which metrics were first named, which is the order of writes. Each metric once.
using Usage = std::vector<UsageEntry>;

// Sets the metric's value: in place when the usage has it, at the end otherwise.
void PutUsage(Usage& usage, std::string_view metric, std::string_view value);

// The value of a metric; null when the usage does not have it.
const std::string* FindUsage(const Usage& usage, std::string_view metric);

// OK, or the error UsageValueInvalid: the value is neither digits nor `#` and digits, white space
// around the whole aside.
absl::Status CheckUsageValue(const UsageEntry& entry);

// Whether the value replaces a counter rather than adding to it: its first character is `#`.
bool IsSet(std::string_view value);

// How much the value adds, or what it sets to.
Integer AmountOf(std::string_view value);

// The same as decimal digits, exact whatever their number.
std::string AmountText(std::string_view value);

// A counter behind the value.
Integer ApplyUsage(Integer current, std::string_view value);

// The usage without the entries whose text is exactly "0", which nobody reports.
Usage WithoutZeros(const Usage& usage);

// The usage with what it means for parent metrics. `ancestors` has, for each entry of `usage`, the
// ids of its parent, the parent's parent and so on. Entry by entry, each ancestor is set to the
// same text by a value that sets, and otherwise increased from what its text begins with; so a set
// that an increment follows is lost on the parent. Parents that the usage did not name follow it.
Usage PropagateUsage(const Usage& usage, std::span<const std::vector<std::string>> ancestors);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_USAGE_H_
