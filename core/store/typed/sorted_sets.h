// Typed commands of Redis sorted sets.
//
//   const ScoredView due[] = {{"job-1", 1700000000}};
//   co_await store::ZAdd(store, "delayed", due);
//   auto jobs = co_await store::ZRangeByScore(store, "delayed", {.max = "1700000060"});
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if the key holds another type, and those
// of the store (errors.h). A missing key is an empty sorted set; removing the last member deletes
// the key. Members are ordered by score, and by their bytes if scores are equal. Ranks count from
// 0, negative ones from the end.
// Source: Redis 7.0, the command of the same name, unless a function says otherwise.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_SORTED_SETS_H_
#define REDOUBLE_CORE_STORE_TYPED_SORTED_SETS_H_

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

// A member and its score, as an argument.
struct ScoredView {
  std::string_view member;
  double score = 0;
};

// A member and its score, as a result.
struct ScoredMember {
  std::string member;
  double score = 0;

  friend bool operator==(const ScoredMember&, const ScoredMember&) = default;
};

struct ZAddOptions {
  enum class Condition { kAlways, kIfAbsent, kIfPresent };
  enum class Comparison { kAny, kIfGreater, kIfLess };
  Condition condition = Condition::kAlways;
  // Changes a score only to a greater (GT) or a smaller (LT) one; new members are added in any
  // case. Not together with kIfAbsent.
  Comparison comparison = Comparison::kAny;
  // Counts members whose score changed as well as new ones (CH).
  bool count_changed = false;
};

// Adds members or changes their scores, and returns how many are new. `members` must not be empty.
// Errors: InvalidArgument if a score is NaN or the options exclude each other.
base::Task<absl::StatusOr<int64_t>> ZAdd(Store& store, std::string_view key,
                                         std::span<const ScoredView> members,
                                         ZAddOptions options = {});
// Adds to a member's score and returns the new score; a missing member counts as 0. Errors:
// InvalidArgument if the sum is NaN.
base::Task<absl::StatusOr<double>> ZIncrBy(Store& store, std::string_view key, double increment,
                                           std::string_view member);
// Removes members and returns how many of them existed.
base::Task<absl::StatusOr<int64_t>> ZRem(Store& store, std::string_view key,
                                         std::span<const std::string_view> members);

// Returns the number of members.
base::Task<absl::StatusOr<int64_t>> ZCard(Store& store, std::string_view key);
// Returns the member's score, or nullopt if it does not exist.
base::Task<absl::StatusOr<std::optional<double>>> ZScore(Store& store, std::string_view key,
                                                         std::string_view member);
// Returns the member's rank from the lowest score up, or nullopt if it does not exist. O(log size).
base::Task<absl::StatusOr<std::optional<int64_t>>> ZRank(Store& store, std::string_view key,
                                                         std::string_view member);

// Return the members from rank `first` to `last`, both included.
base::Task<absl::StatusOr<std::vector<std::string>>> ZRange(Store& store, std::string_view key,
                                                            int64_t first, int64_t last);
base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZRangeWithScores(Store& store,
                                                                       std::string_view key,
                                                                       int64_t first, int64_t last);
// As ZRange, with ranks from the highest score down.
base::Task<absl::StatusOr<std::vector<std::string>>> ZRevRange(Store& store, std::string_view key,
                                                               int64_t first, int64_t last);

// The bounds of a range of scores.
struct ScoreQuery {
  // In Redis's notation: "1.5"; "(1.5", which excludes 1.5; "-inf" and "+inf".
  std::string_view min = "-inf";
  std::string_view max = "+inf";
  int64_t offset = 0;  // How many to skip.
  int64_t limit = -1;  // How many to return at most; negative: all.
};

// Returns the members with scores within the bounds, from the lowest up. Errors: InvalidArgument if
// a bound is not a number.
base::Task<absl::StatusOr<std::vector<std::string>>> ZRangeByScore(Store& store,
                                                                   std::string_view key,
                                                                   ScoreQuery query);
// Returns how many members have scores within the bounds; ignores offset and limit. O(log size).
base::Task<absl::StatusOr<int64_t>> ZCount(Store& store, std::string_view key, ScoreQuery query);
// Removes the members with scores within the bounds, and returns how many there were; ignores
// offset and limit.
base::Task<absl::StatusOr<int64_t>> ZRemRangeByScore(Store& store, std::string_view key,
                                                     ScoreQuery query);
// Removes the members from rank `first` to `last`, and returns how many there were.
base::Task<absl::StatusOr<int64_t>> ZRemRangeByRank(Store& store, std::string_view key,
                                                    int64_t first, int64_t last);

// Remove up to `count` members with the lowest (ZPopMin) or highest (ZPopMax) scores, and return
// them in the order of removal.
base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZPopMin(Store& store, std::string_view key,
                                                              int64_t count = 1);
base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZPopMax(Store& store, std::string_view key,
                                                              int64_t count = 1);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_SORTED_SETS_H_
