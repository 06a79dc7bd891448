// Version: which server an engine answers as: a version of Redis or of Valkey.
//
// The rows of command_table.inc and of the engine's features say since when something exists, and
// Since() turns that into the set of versions that have it:
//
//   VersionSet since = Since("7.4.0");                 // redis-7.4, redis-8.0
//   since.Has(Version::kRedis80);                      // true
//   since = Since("valkey 8.0.0");                     // valkey-8.0, valkey-8.1
//   VersionNamed("redis-7.2");                         // Version::kRedis72
//   SpecOf(Version::kValkey80).redis_version;          // "7.2.4"
//
// Thread-safety: constants and pure functions.
#ifndef REDOUBLE_CORE_STORE_TABLE_VERSION_H_
#define REDOUBLE_CORE_STORE_TABLE_VERSION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace redouble::inline v0_1::store {

enum class Version : uint8_t {
#define REDOUBLE_VERSION(id, ...) k##id,
#include "redouble/core/store/table/version.inc"
#undef REDOUBLE_VERSION
};

// Who makes the server.
enum class Product : uint8_t { kRedis, kValkey };

// A row of version.inc.
struct VersionSpec {
  Version id;
  std::string_view name;  // "redis-7.0"
  Product product;
  std::string_view version;        // Of the product: "8.0.1".
  std::string_view redis_version;  // Of the Redis whose behavior it has: "7.2.4".
  int rdb_version;
};

// "7.2.4" as Redis writes it in REDIS_VERSION_NUM: 0x00070204. A part that is missing is 0.
constexpr uint32_t VersionNumber(std::string_view text) {
  uint32_t number = 0;
  uint32_t part = 0;
  for (const char c : text) {
    if (c == '.') {
      number = (number << 8) + part;
      part = 0;
    } else {
      part = part * 10 + static_cast<uint32_t>(c - '0');
    }
  }
  return (number << 8) + part;
}

namespace internal {
inline constexpr VersionSpec kVersions[] = {
#define REDOUBLE_VERSION(id, name, product, version, redis_version, rdb_version) \
  {Version::k##id, name, Product::product, version, redis_version, rdb_version},
#include "redouble/core/store/table/version.inc"
#undef REDOUBLE_VERSION
};
}  // namespace internal

// A set of versions.
class VersionSet {
 public:
  constexpr VersionSet() = default;
  constexpr VersionSet(Version version) : bits_(Bit(version)) {}
  constexpr bool Has(Version version) const { return (bits_ & Bit(version)) != 0; }
  constexpr VersionSet operator|(VersionSet other) const {
    VersionSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  // Those that are not in `other`.
  constexpr VersionSet operator-(VersionSet other) const {
    VersionSet rest;
    rest.bits_ = bits_ & static_cast<uint8_t>(~other.bits_);
    return rest;
  }
  constexpr bool operator==(const VersionSet&) const = default;

 private:
  static constexpr uint8_t Bit(Version version) {
    return static_cast<uint8_t>(1u << static_cast<unsigned>(version));
  }
  uint8_t bits_ = 0;
};

// Returns the versions that have what appeared in a version of Redis ("7.2.0") or of Valkey
// ("valkey 8.0.0").
constexpr VersionSet Since(std::string_view since) {
  constexpr std::string_view kValkeyPrefix = "valkey ";
  const bool is_valkeys = since.starts_with(kValkeyPrefix);
  if (is_valkeys) since.remove_prefix(kValkeyPrefix.size());
  VersionSet set;
  for (const VersionSpec& spec : internal::kVersions) {
    if (is_valkeys && spec.product != Product::kValkey) continue;
    const std::string_view own = is_valkeys ? spec.version : spec.redis_version;
    if (VersionNumber(own) >= VersionNumber(since)) set = set | spec.id;
  }
  return set;
}

// Returns the versions that still have what disappeared in a version, which is named as for Since.
constexpr VersionSet Until(std::string_view since) { return Since("1.0.0") - Since(since); }

// Returns the row of a version.
constexpr const VersionSpec& SpecOf(Version version) {
  return internal::kVersions[static_cast<unsigned>(version)];
}
// Returns all rows, oldest first.
std::span<const VersionSpec> AllVersions();
// Returns the version with that name, "redis-7.0"; nullopt for other names.
std::optional<Version> VersionNamed(std::string_view name);
// Returns "Redis" or "Valkey", as texts name the server.
std::string_view ProductTitle(Version version);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TABLE_VERSION_H_
