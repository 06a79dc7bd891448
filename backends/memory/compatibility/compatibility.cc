#include "redouble/backends/memory/compatibility/compatibility.h"

#include <bitset>
#include <iterator>

#include "absl/strings/ascii.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/per_version.h"

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
  using Features = std::bitset<kMostFeatures>;
  static const auto& features = *new store::PerVersion<Features>([](store::Version of) {
    Features made;
    for (const FeatureSpec& feature : kFeatures) {
      made.set(static_cast<size_t>(feature.id), feature.versions.Has(of));
    }
    return made;
  });
  features_ = features[version];
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
