#include "redouble/backends/memory/compatibility/compatibility.h"

#include <bitset>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::Since;

constexpr FeatureSpec kFeatures[] = {
#define REDOUBLE_FEATURE(id, versions, what) {Feature::k##id, #id, versions, what},
#include "redouble/backends/memory/compatibility/features.inc"
#undef REDOUBLE_FEATURE
};

}  // namespace

std::span<const FeatureSpec> AllFeatures() { return kFeatures; }

Compatibility::Compatibility(store::Version version,
                             const std::map<std::string, std::string>& new_names)
    : version_(version), commands_(&store::SpecsOf(version)) {
  static_assert(std::size(kFeatures) <= kMostFeatures);
  // Of each version.
  static const std::vector<std::bitset<kMostFeatures>>& features =
      *new std::vector<std::bitset<kMostFeatures>>([] {
        std::vector<std::bitset<kMostFeatures>> made;
        for (const store::VersionSpec& spec : store::AllVersions()) {
          std::bitset<kMostFeatures>& set = made.emplace_back();
          for (const FeatureSpec& feature : kFeatures) {
            set.set(static_cast<size_t>(feature.id), feature.versions.Has(spec.id));
          }
        }
        return made;
      }());
  features_ = features[static_cast<size_t>(version)];
  for (const auto& [name, new_name] : new_names) renamed_.emplace(name, CommandId::kUnknown);
  for (const auto& [name, new_name] : new_names) {
    const CommandId id = store::FindCommand(name);
    if (id == CommandId::kUnknown) continue;
    if (new_name.empty()) {
      nameless_.set(static_cast<size_t>(id));
    } else {
      renamed_[new_name] = id;
    }
  }
}

CommandId Compatibility::FindCommand(std::string_view name) const {
  if (renames_commands()) {
    const auto found = renamed_.find(absl::AsciiStrToLower(base::ToAbsl(name)));
    if (found != renamed_.end()) return found->second;
  }
  const CommandId id = store::FindCommand(name);
  return id == CommandId::kUnknown || HasCommand(id) ? id : CommandId::kUnknown;
}

}  // namespace redouble::inline v0_1::memory
