// PerVersion: a value for each version of the server, for tables that are made once.
//
//   static const PerVersion<Features>& features = *new PerVersion<Features>(MakeFeatures);
//   return features[version];                       // MakeFeatures(version), made before
//
// Thread-safety: as const T after construction.
#ifndef REDOUBLE_CORE_STORE_TABLE_PER_VERSION_H_
#define REDOUBLE_CORE_STORE_TABLE_PER_VERSION_H_

#include <cstddef>
#include <vector>

#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::store {

template <typename T>
class PerVersion {
 public:
  // Calls `make` with each version.
  explicit PerVersion(T (*make)(Version version)) {
    for (const VersionSpec& spec : AllVersions()) values_.push_back(make(spec.id));
  }

  const T& operator[](Version version) const { return values_[static_cast<size_t>(version)]; }

 private:
  std::vector<T> values_;  // In the order of Version.
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TABLE_PER_VERSION_H_
