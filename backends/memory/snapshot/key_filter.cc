#include "redouble/backends/memory/snapshot/key_filter.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/text/glob.h"

namespace redouble::inline v0_1::memory {

KeyFilter KeysLike(std::vector<std::string> patterns) {
  return [patterns = std::move(patterns)](std::string_view key) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return base::GlobMatch(pattern, key); });
  };
}

bool IsOfFamily(const store::KeyFamily& family, std::string_view name) {
  return name == family.id || name == family.system;
}

KeyFilter KeysOfFamilies(const store::FamilyTable& families, std::vector<std::string> names) {
  return [&families, names = std::move(names)](std::string_view key) {
    const store::Recognition recognition = families.Recognise(key);
    return std::any_of(recognition.matches.begin(), recognition.matches.end(),
                       [&](const store::KeyMatch& match) {
                         return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
                           return IsOfFamily(*match.family, name);
                         });
                       });
  };
}

}  // namespace redouble::inline v0_1::memory
