// Artifacts: the interface to the store that holds the outputs of nodes, outside of Redis. Redis
// holds references only.
//
// Implement it for the artifact store of a deployment and pass it in CoordinatorOptions, or use
// MemoryArtifacts for tests and FileArtifacts (core/orchestrator/results/file_artifacts.h). A
// coordinator loads an output only to evaluate conditions, and stores one only if a signal carries
// data instead of a reference.
//
// Thread-safety: that of the implementation; one coordinator uses it at a time.
// Source: docs/systems/orchestrator.md 2.2, 2.4 and 4.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_ARTIFACTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_ARTIFACTS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"

namespace redouble::inline v0_1::orchestrator {

class Artifacts {
 public:
  virtual ~Artifacts() = default;

  // Stores an output and returns its reference. Equal outputs may share a reference, and storing an
  // output twice must be harmless. An error leaves the signal in the processing list.
  virtual base::Task<absl::StatusOr<std::string>> Put(std::string_view output_json) = 0;

  // Returns the output, or nullopt if the reference is unknown; conditions then see no output.
  virtual base::Task<absl::StatusOr<std::optional<std::string>>> Get(std::string_view ref) = 0;
};

// Keeps the outputs in memory, by content.
class MemoryArtifacts final : public Artifacts {
 public:
  base::Task<absl::StatusOr<std::string>> Put(std::string_view output_json) override;
  base::Task<absl::StatusOr<std::optional<std::string>>> Get(std::string_view ref) override;

 private:
  std::map<std::string, std::string, std::less<>> outputs_;  // By reference.
};

// The reference of an output by content: "cas://sha256:" and the 64 hexadecimal digits of its
// SHA-256.
std::string ContentRef(std::string_view output_json);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_ARTIFACTS_H_
