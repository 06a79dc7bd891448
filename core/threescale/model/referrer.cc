#include "redouble/core/threescale/model/referrer.h"

#include <cstddef>
#include <vector>

namespace redouble::inline v0_1::threescale {
namespace {

constexpr char kWildcard = '*';

}  // namespace

bool MatchesReferrer(std::string_view filter, std::string_view referrer, ReferrerMatch match) {
  if (referrer.size() == 1 && referrer[0] == kWildcard) return true;
  const bool anywhere = match == ReferrerMatch::kAnyPart;
  // reached[i]: the part of the filter that was processed can match the first i characters.
  std::vector<bool> reached(referrer.size() + 1, anywhere);
  reached[0] = true;
  for (const char c : filter) {
    std::vector<bool> next(referrer.size() + 1, false);
    for (size_t i = 0; i <= referrer.size(); ++i) {
      if (c == kWildcard) {
        next[i] = reached[i] || (i > 0 && next[i - 1] && referrer[i - 1] != '\n');
      } else {
        next[i] = i > 0 && reached[i - 1] && referrer[i - 1] == c;
      }
    }
    reached = next;
  }
  if (!anywhere) return reached.back();
  for (const bool end : reached) {
    if (end) return true;
  }
  return false;
}

}  // namespace redouble::inline v0_1::threescale
