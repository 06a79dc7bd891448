#include "redouble/core/store/keyspace/key_family.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::store {
namespace {

bool Declares(const KeyFamily& family, const KeyFamily& other) {
  for (const absl::string_view id : absl::StrSplit(base::ToAbsl(family.overlaps), ' ')) {
    if (base::ToStd(id) == other.id) return true;
  }
  return false;
}

bool IsUndeclaredOverlap(const KeyFamily& a, const KeyFamily& b) {
  return a.system == b.system && !Declares(a, b) && !Declares(b, a);
}

// Returns the row's pattern with the bindings applied, and counts in `uses` how often each was
// used.
absl::StatusOr<KeyPattern> Bound(const KeyFamily& family, std::span<const KeyBinding> bindings,
                                 std::vector<int>& uses) {
  absl::StatusOr<KeyPattern> pattern = KeyPattern::Compile(family.pattern, family.id);
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (!pattern.ok()) break;
    if (!pattern->IndexOf(bindings[i].placeholder)) continue;
    ++uses[i];
    pattern = pattern->Bind(bindings[i].placeholder, bindings[i].value);
  }
  return pattern;
}

}  // namespace

absl::Status FamilyTable::Add(std::span<const KeyFamily> families,
                              std::span<const KeyBinding> bindings) {
  std::vector<int> uses(bindings.size());
  std::vector<Entry> added;
  for (const KeyFamily& family : families) {
    const bool again = std::any_of(added.begin(), added.end(), [&](const Entry& entry) {
      return entry.family->id == family.id;
    });
    if (again || Find(family.id) != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two key families ", base::ToAbsl(family.id)));
    }
    REDOUBLE_ASSIGN_OR_RETURN(KeyPattern pattern, Bound(family, bindings, uses));
    added.push_back({&family, std::move(pattern)});
  }
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (uses[i] == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("no key family has a placeholder ", base::ToAbsl(bindings[i].placeholder)));
    }
  }
  for (Entry& entry : added) entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

Recognition FamilyTable::Recognise(std::string_view key) const {
  Recognition result;
  for (const Entry& entry : entries_) {
    std::optional<KeyValues> values = entry.pattern.Parse(key);
    if (!values) continue;
    for (const KeyMatch& match : result.matches) {
      result.undeclared_overlap |= IsUndeclaredOverlap(*match.family, *entry.family);
    }
    result.matches.push_back({entry.family, &entry.pattern, *std::move(values)});
  }
  return result;
}

const FamilyTable::Entry* FamilyTable::FindEntry(std::string_view id) const {
  for (const Entry& entry : entries_) {
    if (entry.family->id == id) return &entry;
  }
  return nullptr;
}

const KeyFamily* FamilyTable::Find(std::string_view id) const {
  const Entry* entry = FindEntry(id);
  return entry == nullptr ? nullptr : entry->family;
}

const KeyPattern* FamilyTable::PatternOf(std::string_view id) const {
  const Entry* entry = FindEntry(id);
  return entry == nullptr ? nullptr : &entry->pattern;
}

std::vector<const KeyFamily*> FamilyTable::families() const {
  std::vector<const KeyFamily*> families;
  for (const Entry& entry : entries_) families.push_back(entry.family);
  return families;
}

}  // namespace redouble::inline v0_1::store
