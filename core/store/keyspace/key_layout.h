// KeyLayout: whether a system's keys are spelled as documented, or so that a Redis Cluster can
// serve them.
//
// A cluster refuses a command, script or transaction whose keys hash to several slots, and the
// documented keys carry no hash tags. In the cluster layout the keys of one unit of work, such as a
// virtual key or a run, have that unit as their tag, and the units spread over all nodes. A
// deployment chooses one layout and keeps it: the two name different keys.
//
//   constexpr LayoutRow kRows[] = {
//       {{.id = "orchestrator.ir", .pattern = "ir:{run_id:id}", ...}, "ir:{{{run_id:id}}}"}, ...};
//   const LayoutTable table(kRows);
//   table.pattern(KeyLayout::kCluster, kIr).Build("run_123");         // "ir:{run_123}"
//   table.Parse(KeyLayout::kCluster, "ir:{run_123}")->family->id      // "orchestrator.ir"
//
// A tag must not contain `}`: Redis would hash the text before it only. KeyPattern refuses such a
// value, because it contains the text that follows it in the pattern.
//
// Thread-safety: constant data and pure functions; const functions are safe from any thread.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_KEY_LAYOUT_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_KEY_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::store {

enum class KeyLayout : uint8_t {
  kDocumented,  // Byte for byte as the original writes them.
  kCluster,     // With hash tags.
};

// The names of settings and of the program's options, in the order of KeyLayout.
inline constexpr std::array<std::string_view, 2> kKeyLayoutNames = {"documented", "cluster"};
// Returns "documented" or "cluster".
std::string_view KeyLayoutName(KeyLayout layout);
// Parses such a name. Errors: InvalidArgument that names what was expected and found.
absl::StatusOr<KeyLayout> ParseKeyLayout(std::string_view name);

// Reads a layout for a row of base::VariableRow; keeps the default if the value is blank.
// kMember is a pointer to a KeyLayout member of Settings.
template <typename Settings, KeyLayout Settings::*kMember>
absl::Status ReadKeyLayout(std::string_view value, Settings& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, ParseKeyLayout(value));
  return absl::OkStatus();
}

// A family, with its pattern in each layout.
struct LayoutRow {
  KeyFamily family;                       // In the documented layout.
  std::string_view cluster_pattern = {};  // Empty: the same in both layouts.
};

// The families of a system in both layouts, with the same ids in the same order.
class LayoutTable {
 public:
  // Copies the rows; the texts that they refer to must outlive this. Aborts the program if a
  // pattern is malformed or an id occurs twice, because rows are constants.
  explicit LayoutTable(std::span<const LayoutRow> rows);
  LayoutTable(const LayoutTable&) = delete;
  LayoutTable& operator=(const LayoutTable&) = delete;

  // Returns the families of a layout.
  std::span<const KeyFamily> families(KeyLayout layout) const { return In(layout).families; }
  // Returns the compiled pattern of the row at an index.
  const KeyPattern& pattern(KeyLayout layout, size_t row) const {
    return *In(layout).patterns[row];
  }
  // Returns the first family that `key` matches in a layout, with its values; nullopt if none does.
  std::optional<KeyMatch> Parse(KeyLayout layout, std::string_view key) const;

 private:
  struct Inventory {
    std::vector<KeyFamily> families;
    FamilyTable table;
    std::vector<const KeyPattern*> patterns;
  };
  const Inventory& In(KeyLayout layout) const { return inventories_[static_cast<size_t>(layout)]; }

  std::array<Inventory, kKeyLayoutNames.size()> inventories_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_KEY_LAYOUT_H_
