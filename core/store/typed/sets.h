// Typed commands of Redis sets.
//
//   absl::StatusOr<bool> known = co_await store::SIsMember(store, "seen", "event-17");
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if a key holds another type, and those of
// the store (errors.h). A missing key is an empty set; removing the last member deletes the key.
// Members are returned in no particular order.
// Source: Redis 7.0, the command of the same name.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_SETS_H_
#define REDOUBLE_CORE_STORE_TYPED_SETS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

// Adds members and returns how many of them are new. `members` must not be empty.
base::Task<absl::StatusOr<int64_t>> SAdd(Store& store, std::string_view key,
                                         std::span<const std::string_view> members);
// Adds one member and returns whether it is new.
base::Task<absl::StatusOr<bool>> SAdd(Store& store, std::string_view key, std::string_view member);
// Removes members and returns how many of them existed.
base::Task<absl::StatusOr<int64_t>> SRem(Store& store, std::string_view key,
                                         std::span<const std::string_view> members);
// Removes one member and returns whether it existed.
base::Task<absl::StatusOr<bool>> SRem(Store& store, std::string_view key, std::string_view member);
// Moves a member atomically; returns false if `from` does not have it.
base::Task<absl::StatusOr<bool>> SMove(Store& store, std::string_view from, std::string_view to,
                                       std::string_view member);
// Removes and returns a random member, or nullopt if the set is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> SPop(Store& store, std::string_view key);

// Returns whether the set has the member.
base::Task<absl::StatusOr<bool>> SIsMember(Store& store, std::string_view key,
                                           std::string_view member);
// Returns the number of members.
base::Task<absl::StatusOr<int64_t>> SCard(Store& store, std::string_view key);
// Returns all members. O(size).
base::Task<absl::StatusOr<std::vector<std::string>>> SMembers(Store& store, std::string_view key);

// Return the members of all sets (SInter), of any set (SUnion), or of the first set and no other
// (SDiff).
base::Task<absl::StatusOr<std::vector<std::string>>> SInter(Store& store,
                                                            std::span<const std::string_view> keys);
base::Task<absl::StatusOr<std::vector<std::string>>> SUnion(Store& store,
                                                            std::span<const std::string_view> keys);
base::Task<absl::StatusOr<std::vector<std::string>>> SDiff(Store& store,
                                                           std::span<const std::string_view> keys);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_SETS_H_
