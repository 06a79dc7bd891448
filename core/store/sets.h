// Typed commands of Redis sets.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors common to all: WRONGTYPE (FailedPrecondition) when a key holds another
// type, and those of the store itself (errors.h). A key that does not exist is an empty set; a set
// that loses its last member is gone. Members come in no order. Source: Redis 7.0, the command of
// the same name.
//
//   absl::StatusOr<bool> known = co_await store::SIsMember(store, "seen", "event-17");
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_SETS_H_
#define REDOUBLE_CORE_STORE_SETS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::store {

// Adds members, which must not be none; gives how many of them are new.
base::Task<absl::StatusOr<int64_t>> SAdd(Store& store, std::string_view key,
                                         std::span<const std::string_view> members);
// Adds one member; true when it is new.
base::Task<absl::StatusOr<bool>> SAdd(Store& store, std::string_view key, std::string_view member);
// Removes members; gives how many of them there were.
base::Task<absl::StatusOr<int64_t>> SRem(Store& store, std::string_view key,
                                         std::span<const std::string_view> members);
// Removes one member; true when there was one.
base::Task<absl::StatusOr<bool>> SRem(Store& store, std::string_view key, std::string_view member);
// Moves a member in one atomic step; false when `from` has no such member.
base::Task<absl::StatusOr<bool>> SMove(Store& store, std::string_view from, std::string_view to,
                                       std::string_view member);
// Removes a random member; none when the set is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> SPop(Store& store, std::string_view key);

base::Task<absl::StatusOr<bool>> SIsMember(Store& store, std::string_view key,
                                           std::string_view member);
// How many members there are.
base::Task<absl::StatusOr<int64_t>> SCard(Store& store, std::string_view key);
// All members. O(size).
base::Task<absl::StatusOr<std::vector<std::string>>> SMembers(Store& store, std::string_view key);

// The members that all sets have, that any has, that the first has and no other.
base::Task<absl::StatusOr<std::vector<std::string>>> SInter(Store& store,
                                                            std::span<const std::string_view> keys);
base::Task<absl::StatusOr<std::vector<std::string>>> SUnion(Store& store,
                                                            std::span<const std::string_view> keys);
base::Task<absl::StatusOr<std::vector<std::string>>> SDiff(Store& store,
                                                           std::span<const std::string_view> keys);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_SETS_H_
