// Referrer filters: which referrers an application may be used from.
//
//   MatchesReferrer("*.example.org", "www.example.org")   // true
//   MatchesReferrer("test.org", "testXorg")               // false
//
// Thread-safety: pure functions.
// Source: reference/threescale.md 4.2.
#ifndef REDOUBLE_CORE_THREESCALE_REFERRER_H_
#define REDOUBLE_CORE_THREESCALE_REFERRER_H_

#include <string_view>

namespace redouble::threescale {

enum class ReferrerMatch {
  kWhole,
  kAnyPart,  // The original's legacy option: a part of the referrer is enough.
};

// Whether the filter, literal but for `*`, which is any run of characters without a line feed,
// matches the referrer. A referrer "*" matches every filter.
bool MatchesReferrer(std::string_view filter, std::string_view referrer,
                     ReferrerMatch match = ReferrerMatch::kWhole);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REFERRER_H_
