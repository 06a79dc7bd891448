// Typed commands of Redis lists.
//
//   co_await store::RPush(store, "queue", "job-1");
//   const std::string_view queues[] = {"urgent", "queue"};
//   absl::StatusOr<std::optional<store::PoppedElement>> job =
//       co_await store::BLPop(store, queues, absl::Seconds(5));
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if a key holds another type, and those of
// the store (errors.h). A missing key is an empty list; removing the last element deletes the key.
// Positions count from 0, negative ones from the end.
// Source: Redis 7.0, the command of the same name.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_LISTS_H_
#define REDOUBLE_CORE_STORE_TYPED_LISTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

// The head (left) or the tail (right) of a list.
enum class ListEnd { kLeft, kRight };

// Add elements one after the other at the left end (so that LPush's last element becomes the first
// of the list) or at the right end, and return the new length. `elements` must not be empty.
base::Task<absl::StatusOr<int64_t>> LPush(Store& store, std::string_view key,
                                          std::span<const std::string_view> elements);
base::Task<absl::StatusOr<int64_t>> LPush(Store& store, std::string_view key,
                                          std::string_view element);
base::Task<absl::StatusOr<int64_t>> RPush(Store& store, std::string_view key,
                                          std::span<const std::string_view> elements);
base::Task<absl::StatusOr<int64_t>> RPush(Store& store, std::string_view key,
                                          std::string_view element);

// Remove and return the element at the left or right end; nullopt if the list is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> LPop(Store& store, std::string_view key);
base::Task<absl::StatusOr<std::optional<std::string>>> RPop(Store& store, std::string_view key);

// The source and destination of LMove. Both may be the same list.
struct ListMove {
  std::string_view from;
  std::string_view to;
  ListEnd from_end = ListEnd::kLeft;
  ListEnd to_end = ListEnd::kRight;
};
// Moves an element atomically and returns it; nullopt if `from` is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> LMove(Store& store, ListMove move);

// Returns the number of elements.
base::Task<absl::StatusOr<int64_t>> LLen(Store& store, std::string_view key);
// Returns the element at a position, or nullopt if it is out of range. O(distance from the nearer
// end).
base::Task<absl::StatusOr<std::optional<std::string>>> LIndex(Store& store, std::string_view key,
                                                              int64_t index);
// Returns the elements from `first` to `last`, both included.
base::Task<absl::StatusOr<std::vector<std::string>>> LRange(Store& store, std::string_view key,
                                                            int64_t first, int64_t last);
// Replaces the element at a position. Errors: InvalidArgument if the position is out of range or
// the key does not exist.
base::Task<absl::Status> LSet(Store& store, std::string_view key, int64_t index,
                              std::string_view element);
// Keeps only the elements from `first` to `last`.
base::Task<absl::Status> LTrim(Store& store, std::string_view key, int64_t first, int64_t last);
// Removes up to `count` elements that equal `element`, from the left; from the right if `count` is
// negative; all if it is 0. Returns how many were removed.
base::Task<absl::StatusOr<int64_t>> LRem(Store& store, std::string_view key, int64_t count,
                                         std::string_view element);

// The key of a list and the element removed from it.
struct PoppedElement {
  std::string key;
  std::string element;

  friend bool operator==(const PoppedElement&, const PoppedElement&) = default;
};

// Remove and return the element at the left or right end of the first list that is not empty. If
// all are empty, the commands block until one is not, and return nullopt after `timeout`.
// InfiniteDuration() and durations that are not positive block without a timeout. The connection
// does nothing else while the command is blocked.
base::Task<absl::StatusOr<std::optional<PoppedElement>>> BLPop(
    Store& store, std::span<const std::string_view> keys, absl::Duration timeout);
base::Task<absl::StatusOr<std::optional<PoppedElement>>> BRPop(
    Store& store, std::span<const std::string_view> keys, absl::Duration timeout);
// As LMove; blocks as BLPop if `from` is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> BLMove(Store& store, ListMove move,
                                                              absl::Duration timeout);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_LISTS_H_
