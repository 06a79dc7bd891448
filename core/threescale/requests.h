// Requests that several stores of the package send. Part of the stores; not for use on their own.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_THREESCALE_REQUESTS_H_
#define REDOUBLE_CORE_THREESCALE_REQUESTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/batch.h"
#include "core/store/store.h"

namespace redouble::threescale {

using OptionalTexts = std::vector<std::optional<std::string>>;

// MGET, in the order of the keys; no command for no keys.
base::Task<absl::StatusOr<OptionalTexts>> GetAll(store::Store& store,
                                                 std::vector<std::string> keys);

// Sends the batch and gives the first error among its replies, which does not stop the others.
base::Task<absl::Status> ExecuteAll(store::Store& store, const store::Batch& batch);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REQUESTS_H_
