#include "core/orchestrator/artifacts.h"

#include "core/base/digest.h"

namespace redouble::orchestrator {

std::string ContentRef(std::string_view output_json) {
  return "cas://sha256:" + base::Sha256Hex(output_json);
}

}  // namespace redouble::orchestrator
