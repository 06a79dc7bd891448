#include "tests/golden/domain.h"

#include "tests/golden/gateway_domain.h"

namespace redouble::golden {

std::optional<Domain> FindDomain(System system) {
  if (system == System::kGateway) return GatewayDomain();
  return std::nullopt;
}

}  // namespace redouble::golden
