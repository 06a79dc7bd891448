#include <algorithm>
#include <array>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/sim/migrate/family_move.h"

namespace redouble::inline v0_1::sim {
namespace {

// The run of an approval is in its hash, and in the key of the cluster layout.
absl::StatusOr<std::vector<MovedKey>> MoveApproval(const Conversion& conversion) {
  const KeyValue& value = *conversion.values[0];
  orchestrator::HashFields fields;
  for (size_t i = 0; value.type == store::KeyType::kHash && i + 1 < value.parts.size(); i += 2) {
    fields.emplace_back(value.parts[i], value.parts[i + 1]);
  }
  REDOUBLE_ASSIGN_OR_RETURN(const orchestrator::Approval approval,
                            orchestrator::ParseApproval(fields));
  const store::KeyBinding run[] = {{"run_id", approval.run_id}};
  std::optional<std::string> key = conversion.Spell(run);
  if (!key) return absl::InvalidArgumentError("its run_id is not the id of a run");
  return std::vector<MovedKey>{{*std::move(key), value}};
}

constexpr std::array kMoves = {
    FamilyMove{"orchestrator.approval", store::KeyLayout::kCluster, MoveApproval},
};

}  // namespace

std::span<const FamilyMove> OrchestratorMoves() { return kMoves; }

}  // namespace redouble::inline v0_1::sim
