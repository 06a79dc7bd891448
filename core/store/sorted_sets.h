// Typed commands of Redis sorted sets.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors common to all: WRONGTYPE (FailedPrecondition) when the key holds
// another type, and those of the store itself (errors.h). A key that does not exist is an empty
// sorted set; one that loses its last member is gone. Members are ordered by score, members of
// equal score by their bytes; ranks count from 0, negative ones from the end. Source: Redis 7.0,
// the command of the same name, unless a function says otherwise.
//
//   const ScoredView due[] = {{"job-1", 1700000000}};
//   co_await store::ZAdd(store, "delayed", due);
//   auto jobs = co_await store::ZRangeByScore(store, "delayed", {.max = "1700000060"});
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_SORTED_SETS_H_
#define REDOUBLE_CORE_STORE_SORTED_SETS_H_

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

struct ScoredView {
  std::string_view member;
  double score = 0;
};

struct ScoredMember {
  std::string member;
  double score = 0;

  friend bool operator==(const ScoredMember&, const ScoredMember&) = default;
};

struct ZAddOptions {
  enum class Condition { kAlways, kIfAbsent, kIfPresent };
  enum class Comparison { kAny, kIfGreater, kIfLess };
  Condition condition = Condition::kAlways;
  // Changes a score only to a greater or a lesser one; new members are added whatever it says. Not
  // together with kIfAbsent.
  Comparison comparison = Comparison::kAny;
  // Counts members whose score changed beside the new ones.
  bool count_changed = false;
};

// Adds members or changes their scores; gives how many are new. `members` must not be empty.
// Errors: InvalidArgument when a score is NaN or the options do not go together.
base::Task<absl::StatusOr<int64_t>> ZAdd(Store& store, std::string_view key,
                                         std::span<const ScoredView> members,
                                         ZAddOptions options = {});
// Adds to a member's score; a missing one counts as 0. The new score. Errors: InvalidArgument when
// the sum is NaN.
base::Task<absl::StatusOr<double>> ZIncrBy(Store& store, std::string_view key, double increment,
                                           std::string_view member);
// Removes members; gives how many of them there were.
base::Task<absl::StatusOr<int64_t>> ZRem(Store& store, std::string_view key,
                                         std::span<const std::string_view> members);

// How many members there are.
base::Task<absl::StatusOr<int64_t>> ZCard(Store& store, std::string_view key);
// The member's score; none when there is no such member.
base::Task<absl::StatusOr<std::optional<double>>> ZScore(Store& store, std::string_view key,
                                                         std::string_view member);
// The member's rank from the lowest score up; none when there is no such member. O(log size).
base::Task<absl::StatusOr<std::optional<int64_t>>> ZRank(Store& store, std::string_view key,
                                                         std::string_view member);

// The members from rank `first` to `last`, both included.
base::Task<absl::StatusOr<std::vector<std::string>>> ZRange(Store& store, std::string_view key,
                                                            int64_t first, int64_t last);
base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZRangeWithScores(Store& store,
                                                                       std::string_view key,
                                                                       int64_t first, int64_t last);
// As ZRange, ranks counted from the highest score down.
base::Task<absl::StatusOr<std::vector<std::string>>> ZRevRange(Store& store, std::string_view key,
                                                               int64_t first, int64_t last);

struct ScoreQuery {
  // As Redis writes bounds: "1.5", "(1.5" without 1.5 itself, "-inf", "+inf".
  std::string_view min = "-inf";
  std::string_view max = "+inf";
  int64_t offset = 0;  // How many to skip.
  int64_t limit = -1;  // At most so many; negative: all.
};

// The members whose scores are within the bounds, from the lowest up. Errors: InvalidArgument when
// a bound is no number.
base::Task<absl::StatusOr<std::vector<std::string>>> ZRangeByScore(Store& store,
                                                                   std::string_view key,
                                                                   ScoreQuery query);
// How many members' scores are within the bounds; offset and limit mean nothing. O(log size).
base::Task<absl::StatusOr<int64_t>> ZCount(Store& store, std::string_view key, ScoreQuery query);
// Removes them; gives how many there were.
base::Task<absl::StatusOr<int64_t>> ZRemRangeByScore(Store& store, std::string_view key,
                                                     ScoreQuery query);
// Removes the members from rank `first` to `last`; gives how many there were.
base::Task<absl::StatusOr<int64_t>> ZRemRangeByRank(Store& store, std::string_view key,
                                                    int64_t first, int64_t last);

// Removes up to `count` members of the lowest (ZPopMin) or highest scores, and gives them in the
// order of removal.
base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZPopMin(Store& store, std::string_view key,
                                                              int64_t count = 1);
base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZPopMax(Store& store, std::string_view key,
                                                              int64_t count = 1);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_SORTED_SETS_H_
