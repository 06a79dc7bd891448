#include "redouble/sim/operations/key_layout.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {

store::KeyLayout ReadKeyLayout(ArgumentReader& reader) {
  const std::optional<std::string> name = reader.OptionalString("layout");
  if (!name) return store::KeyLayout::kDocumented;
  const absl::StatusOr<store::KeyLayout> layout = store::ParseKeyLayout(*name);
  if (layout.ok()) return *layout;
  reader.Refuse("layout", base::ToStd(layout.status().message()));
  return store::KeyLayout::kDocumented;
}

}  // namespace redouble::inline v0_1::sim
