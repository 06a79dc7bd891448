#include "tests/golden/domain.h"

#include "tests/golden/gateway_domain.h"
#include "tests/golden/relayna_domain.h"

namespace redouble::golden {

std::optional<Domain> FindDomain(System system) {
  if (system == System::kGateway) return GatewayDomain();
  if (system == System::kRelayna) return RelaynaDomain();
  return std::nullopt;
}

}  // namespace redouble::golden
