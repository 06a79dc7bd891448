#include <array>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/studio/events/service_event.h"
#include "redouble/sim/migrate/family_move.h"

namespace redouble::inline v0_1::sim {
namespace {

// The service of an event is in its document, and in the key of the cluster layout.
absl::StatusOr<std::vector<MovedKey>> MoveEvent(const Conversion& conversion) {
  const KeyValue& value = *conversion.values[0];
  if (value.type != store::KeyType::kString) {
    return absl::InvalidArgumentError("an event must be a string");
  }
  REDOUBLE_ASSIGN_OR_RETURN(const studio::ControlPlaneEvent event,
                            studio::ParseControlPlaneEvent(value.parts[0]));
  const store::KeyBinding service[] = {{"service_id", event.service_id}};
  std::optional<std::string> key = conversion.Spell(service);
  if (!key) return absl::InvalidArgumentError("the other layout has no such key");
  return std::vector<MovedKey>{{*std::move(key), value}};
}

constexpr std::array kMoves = {
    FamilyMove{"studio.event", store::KeyLayout::kCluster, MoveEvent},
};

}  // namespace

std::span<const FamilyMove> StudioMoves() { return kMoves; }

}  // namespace redouble::inline v0_1::sim
