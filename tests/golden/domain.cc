#include "tests/golden/domain.h"

#include "tests/golden/gateway_domain.h"
#include "tests/golden/korvet_domain.h"
#include "tests/golden/orchestrator_domain.h"
#include "tests/golden/relayna_domain.h"
#include "tests/golden/threescale_domain.h"

namespace redouble::golden {

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

}  // namespace redouble::golden
