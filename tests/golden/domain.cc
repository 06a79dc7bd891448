#include "tests/golden/domain.h"

#include "tests/golden/gateway_domain.h"
#include "tests/golden/korvet_domain.h"
#include "tests/golden/orchestrator_domain.h"
#include "tests/golden/relayna_domain.h"
#include "tests/golden/threescale_domain.h"

namespace redouble::golden {

std::optional<Domain> FindDomain(System system) {
  if (system == System::kGateway) return GatewayDomain();
  if (system == System::kOrchestrator) return OrchestratorDomain();
  if (system == System::kRelayna) return RelaynaDomain();
  if (system == System::kThreescale) return ThreescaleDomain();
  if (system == System::kKorvet) return KorvetDomain();
  return std::nullopt;
}

}  // namespace redouble::golden
