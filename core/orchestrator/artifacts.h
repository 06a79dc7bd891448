// Artifacts: where the outputs of nodes are kept, outside of this system. Redis holds references.
//
// A coordinator needs the output itself only to evaluate conditions, and stores one only when a
// signal brings the data rather than a reference.
//
// Thread-safety: of the implementation; used by one coordinator at a time.
// Source: reference/orchestrator.md sections 2.2 and 2.4.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_ARTIFACTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_ARTIFACTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/base/task.h"

namespace redouble::orchestrator {

class Artifacts {
 public:
  virtual ~Artifacts() = default;

  // Keeps an output and gives the reference to it. Equal outputs may share a reference; storing one
  // twice does no harm. Any error leaves the signal where it is, for another attempt.
  virtual base::Task<absl::StatusOr<std::string>> Put(std::string_view output_json) = 0;

  // The output; none when there is none of that reference, which a condition takes as no output.
  virtual base::Task<absl::StatusOr<std::optional<std::string>>> Get(std::string_view ref) = 0;
};

// The reference of an output by its content: "cas://sha256:" and 64 digits.
std::string ContentRef(std::string_view output_json);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_ARTIFACTS_H_
