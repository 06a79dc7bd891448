#include <array>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/gateway/reservation.h"
#include "redouble/sim/migrate/family_move.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::KeyLayout;

// A reservation names the counters that it changes.
absl::StatusOr<std::vector<MovedKey>> MoveReservation(const Conversion& conversion) {
  const std::optional<std::string> key = conversion.Spell();
  if (!key) return absl::InvalidArgumentError("the other layout has no such key");
  KeyValue value = *conversion.values[0];
  if (value.type == store::KeyType::kString) {
    const auto respell = [&](std::string_view named) {
      return conversion.translator.Translate(named);
    };
    REDOUBLE_ASSIGN_OR_RETURN(value.parts[0], gateway::RespellReservation(value.parts[0], respell));
  }
  return std::vector<MovedKey>{{*key, std::move(value)}};
}

constexpr std::array kMoves = {
    FamilyMove{"gateway.reservation", KeyLayout::kCluster, MoveReservation},
    FamilyMove{"gateway.reservation", KeyLayout::kDocumented, MoveReservation},
};

}  // namespace

std::span<const FamilyMove> GatewayMoves() { return kMoves; }

}  // namespace redouble::inline v0_1::sim
