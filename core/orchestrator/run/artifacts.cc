#include "redouble/core/orchestrator/run/artifacts.h"

#include "redouble/core/base/hash/digest.h"

namespace redouble::orchestrator {

std::string ContentRef(std::string_view output_json) {
  return "cas://sha256:" + base::Sha256Hex(output_json);
}

}  // namespace redouble::orchestrator
