// MatchesReferrer: checks the referrer of a request against a referrer filter of its application.
//
// The validators call it for each filter; a request passes if one of them matches.
//
//   MatchesReferrer("*.example.org", "www.example.org")   // true
//   MatchesReferrer("test.org", "testXorg")               // false
//
// Thread-safety: pure functions.
// Source: docs/systems/threescale.md 4.12.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_REFERRER_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_REFERRER_H_

#include <string_view>

namespace redouble::inline v0_1::threescale {

enum class ReferrerMatch {
  kWhole,
  kAnyPart,  // The legacy option of the original: a part of the referrer is enough.
};

// Whether `filter` matches `referrer`. A filter is literal text, except that `*` matches any number
// of characters other than line feeds. The referrer "*" matches every filter.
bool MatchesReferrer(std::string_view filter, std::string_view referrer,
                     ReferrerMatch match = ReferrerMatch::kWhole);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_REFERRER_H_
