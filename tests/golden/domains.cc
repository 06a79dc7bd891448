#include "redouble/tests/golden/domains.h"

#include "redouble/tests/golden/gateway/gateway_domain.h"
#include "redouble/tests/golden/korvet/korvet_domain.h"
#include "redouble/tests/golden/orchestrator/orchestrator_domain.h"
#include "redouble/tests/golden/relayna/relayna_domain.h"
#include "redouble/tests/golden/threescale/threescale_domain.h"

namespace redouble::inline v0_1::golden {

Domain DomainOf(System system) {
  switch (system) {
    case System::kGateway:
      return GatewayDomain();
    case System::kKorvet:
      return KorvetDomain();
    case System::kOrchestrator:
      return OrchestratorDomain();
    case System::kRelayna:
      return RelaynaDomain();
    case System::kThreescale:
      return ThreescaleDomain();
  }
  return GatewayDomain();
}

}  // namespace redouble::inline v0_1::golden
