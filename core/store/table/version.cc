#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::store {

std::span<const VersionSpec> AllVersions() { return internal::kVersions; }

std::optional<Version> VersionNamed(std::string_view name) {
  for (const VersionSpec& spec : internal::kVersions) {
    if (spec.name == name) return spec.id;
  }
  return std::nullopt;
}

std::string_view ProductTitle(Version version) {
  return SpecOf(version).product == Product::kValkey ? "Valkey" : "Redis";
}

}  // namespace redouble::inline v0_1::store
