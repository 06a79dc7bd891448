#include "redouble/backends/memory/compatibility/compatibility.h"

#include <iterator>

#include "redouble/backends/memory/compatibility/feature.h"

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

Compatibility::Compatibility(store::Version version)
    : version_(version), commands_(&store::SpecsOf(version)) {
  static_assert(std::size(kFeatures) <= kMostFeatures);
  for (const FeatureSpec& feature : kFeatures) {
    features_.set(static_cast<size_t>(feature.id), feature.versions.Has(version));
  }
}

CommandId Compatibility::FindCommand(std::string_view name) const {
  const CommandId id = store::FindCommand(name);
  return id == CommandId::kUnknown || HasCommand(id) ? id : CommandId::kUnknown;
}

}  // namespace redouble::inline v0_1::memory
