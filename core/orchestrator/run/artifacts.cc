#include "redouble/core/orchestrator/run/artifacts.h"

#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::orchestrator {

std::string ContentRef(std::string_view output_json) {
  return "cas://sha256:" + base::Sha256Hex(output_json);
}

base::Task<absl::StatusOr<std::string>> MemoryArtifacts::Put(std::string_view output_json) {
  std::string ref = ContentRef(output_json);
  outputs_.emplace(ref, output_json);
  co_return ref;
}

base::Task<absl::StatusOr<std::optional<std::string>>> MemoryArtifacts::Get(std::string_view ref) {
  const auto found = outputs_.find(ref);
  if (found == outputs_.end()) co_return std::nullopt;
  co_return found->second;
}

}  // namespace redouble::inline v0_1::orchestrator
