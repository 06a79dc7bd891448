// Compatibility: the version that an engine answers as, and the features that it therefore has.
//
// EngineOptions::compatibility chooses the version; the engine keeps one Compatibility for its
// whole life, so that asking for a feature is reading a bit:
//
//   const Compatibility compatibility(store::Version::kRedis80);
//   compatibility.Has(Feature::kClientLibrary);        // true; feature.h has the names
//   compatibility.spec().redis_version;                // "8.0.2"
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_COMPATIBILITY_H_
#define REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_COMPATIBILITY_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "redouble/core/store/table/command_table.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

enum class Feature : uint8_t;  // feature.h

// A row of features.inc.
struct FeatureSpec {
  Feature id;
  std::string_view name;
  store::VersionSet versions;
  std::string_view what;
};

// Returns all features, in the order of the table.
std::span<const FeatureSpec> AllFeatures();

class Compatibility {
 public:
  // `new_names` are those of EngineOptions::renamed_commands.
  explicit Compatibility(store::Version version,
                         const std::map<std::string, std::string>& new_names = {});

  store::Version version() const { return version_; }
  const store::VersionSpec& spec() const { return store::SpecOf(version_); }
  bool Has(Feature feature) const { return features_[static_cast<size_t>(feature)]; }

  // The row of a command as this version has it.
  const store::CommandSpec& SpecOf(store::CommandId id) const {
    return (*commands_)[static_cast<size_t>(id)];
  }
  // Whether the version has the command, and it has a name.
  bool HasCommand(store::CommandId id) const {
    return SpecOf(id).versions.Has(version_) && !nameless_[static_cast<size_t>(id)];
  }
  // As store::FindCommand, for the commands of this version by their new names.
  store::CommandId FindCommand(std::string_view name) const;
  bool renames_commands() const { return !renamed_.empty(); }

 private:
  static constexpr size_t kMostFeatures = 128;

  store::Version version_;
  std::bitset<kMostFeatures> features_;
  const std::array<store::CommandSpec, store::kCommandCount>* commands_;
  // The new names, and the former ones with kUnknown.
  std::map<std::string, store::CommandId> renamed_;
  std::bitset<store::kCommandCount> nameless_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_COMPATIBILITY_H_
