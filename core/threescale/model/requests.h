// Requests that several stores of the package send: MGET of many keys, and batches of writes.
//
// This is a part of the stores in this folder; it is not for use on its own.
//
//   absl::StatusOr<OptionalTexts> values = co_await GetAll(store, {"k1", "k2"});
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_THREESCALE_MODEL_REQUESTS_H_
#define REDOUBLE_CORE_THREESCALE_MODEL_REQUESTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::threescale {

using OptionalTexts = std::vector<std::optional<std::string>>;

// Returns the values of the keys in their order. MGET: one round trip, or zero without keys.
base::Task<absl::StatusOr<OptionalTexts>> GetAll(store::Store& store,
                                                 std::vector<std::string> keys);

// Sends the batch and returns the first error among its replies. An error does not stop the
// commands after it.
base::Task<absl::Status> ExecuteAll(store::Store& store, const store::Batch& batch);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_MODEL_REQUESTS_H_
