// DataProfile: what an engine's keys are, whatever systems they belong to: families by the shape of
// their names, sizes, and the largest keys.
//
// Use it on a copy of production's data (memory::LoadRdbFile) to see what takes the memory, and
// which keys never expire. `redouble inspect dump.rdb` prints it.
//
//   const DataProfile profile = ProfileOf(engine, {.listed = 20});
//   std::cout << ProfileTable(profile);
//
//   FAMILY       TYPE    KEYS    ELEMENTS  MEMORY    LARGEST  NO TTL
//   session:*    string  20000   1.2 MB    3.1 MB    310 B    0
//   user:*:cart  hash    812     9031      702.4 kB  4.1 kB   812
//
// A part of a name, between colons, slashes or dots, that has a digit becomes "*".
//
// Thread-safety: the engine's.
#ifndef REDOUBLE_SIM_INSPECT_DATA_PROFILE_H_
#define REDOUBLE_SIM_INSPECT_DATA_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::sim {

struct DataProfile {
  struct Family {
    std::string pattern;  // "user:*:cart"
    store::KeyType type = store::KeyType::kNone;
    int64_t keys = 0;
    int64_t elements = 0;  // Of collections; the bytes of strings.
    int64_t bytes = 0;     // As MEMORY USAGE counts them.
    int64_t largest_bytes = 0;
    int64_t without_ttl = 0;
  };
  struct Key {
    int db = 0;
    std::string name;
    store::KeyType type = store::KeyType::kNone;
    std::string encoding;
    int64_t elements = 0;
    int64_t bytes = 0;
    int64_t ttl_ms = -1;  // -1: it never expires.
  };

  int64_t keys = 0;
  int64_t bytes = 0;
  int64_t without_ttl = 0;
  std::vector<Family> families;   // The largest first.
  std::vector<Key> largest_keys;  // The same; at most as many as were asked for.
};

struct ProfileOptions {
  size_t listed = 20;  // How many of the largest keys are listed.
  // The time from which TTLs are counted; the engine's if nullopt.
  std::optional<absl::Time> now = std::nullopt;
};

// Reads all keys of all databases. Linear in their number.
DataProfile ProfileOf(memory::Engine& engine, const ProfileOptions& options = {});

// The name with "*" for each part that has a digit.
std::string FamilyPattern(std::string_view key);

// A table, an object of the same values, and a self-contained HTML page. Keys are in the format of
// sim/json/bytes.h. `title` is the name of the file.
std::string ProfileTable(const DataProfile& profile);
std::string ProfileJson(const DataProfile& profile);
std::string ProfilePage(const DataProfile& profile, std::string_view title);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_INSPECT_DATA_PROFILE_H_
