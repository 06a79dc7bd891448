// Typed commands of Redis lists.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors common to all: WRONGTYPE (FailedPrecondition) when a key holds another
// type, and those of the store itself (errors.h). A key that does not exist is an empty list; a
// list that loses its last element is gone. Positions count from 0, negative ones from the end.
// Source: Redis 7.0, the command of the same name.
//
//   co_await store::RPush(store, "queue", "job-1");
//   const std::string_view queues[] = {"urgent", "queue"};
//   absl::StatusOr<std::optional<store::PoppedElement>> job =
//       co_await store::BLPop(store, queues, absl::Seconds(5));
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_LISTS_H_
#define REDOUBLE_CORE_STORE_LISTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::store {

enum class ListEnd { kLeft, kRight };

// Adds elements at the left (LPush: the last one comes to stand first) or the right end; gives the
// new length. `elements` must not be empty.
base::Task<absl::StatusOr<int64_t>> LPush(Store& store, std::string_view key,
                                          std::span<const std::string_view> elements);
base::Task<absl::StatusOr<int64_t>> LPush(Store& store, std::string_view key,
                                          std::string_view element);
base::Task<absl::StatusOr<int64_t>> RPush(Store& store, std::string_view key,
                                          std::span<const std::string_view> elements);
base::Task<absl::StatusOr<int64_t>> RPush(Store& store, std::string_view key,
                                          std::string_view element);

// Removes the element at that end; none when the list is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> LPop(Store& store, std::string_view key);
base::Task<absl::StatusOr<std::optional<std::string>>> RPop(Store& store, std::string_view key);

// What LMove moves: from an end of one list to an end of another, or of the same.
struct ListMove {
  std::string_view from;
  std::string_view to;
  ListEnd from_end = ListEnd::kLeft;
  ListEnd to_end = ListEnd::kRight;
};
// Moves an element in one atomic step and gives it; none when `from` is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> LMove(Store& store, ListMove move);

// The number of elements.
base::Task<absl::StatusOr<int64_t>> LLen(Store& store, std::string_view key);
// The element at a position; none when there is no such position. O(distance from the end).
base::Task<absl::StatusOr<std::optional<std::string>>> LIndex(Store& store, std::string_view key,
                                                              int64_t index);
// The elements from `first` to `last`, both included.
base::Task<absl::StatusOr<std::vector<std::string>>> LRange(Store& store, std::string_view key,
                                                            int64_t first, int64_t last);
// Replaces the element at a position. Errors: InvalidArgument when there is no such position, or
// no such key.
base::Task<absl::Status> LSet(Store& store, std::string_view key, int64_t index,
                              std::string_view element);
// Keeps only the elements from `first` to `last`.
base::Task<absl::Status> LTrim(Store& store, std::string_view key, int64_t first, int64_t last);
// Removes up to `count` elements equal to `element`, from the left; from the right when `count` is
// negative; all when it is 0. Gives how many there were.
base::Task<absl::StatusOr<int64_t>> LRem(Store& store, std::string_view key, int64_t count,
                                         std::string_view element);

struct PoppedElement {
  std::string key;
  std::string element;

  friend bool operator==(const PoppedElement&, const PoppedElement&) = default;
};

// Removes an element at the left or right end of the first list that is not empty; waits for one
// when all are. None when `timeout` passes; InfiniteDuration() waits for ever, and so does anything
// that is not positive. The store's connection does nothing else while it waits.
base::Task<absl::StatusOr<std::optional<PoppedElement>>> BLPop(
    Store& store, std::span<const std::string_view> keys, absl::Duration timeout);
base::Task<absl::StatusOr<std::optional<PoppedElement>>> BRPop(
    Store& store, std::span<const std::string_view> keys, absl::Duration timeout);
// As LMove, waiting as BLPop does.
base::Task<absl::StatusOr<std::optional<std::string>>> BLMove(Store& store, ListMove move,
                                                              absl::Duration timeout);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_LISTS_H_
