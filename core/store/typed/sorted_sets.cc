#include "redouble/core/store/typed/sorted_sets.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::store {
namespace {

// Decodes alternating members and scores.
absl::StatusOr<std::vector<ScoredMember>> DecodeScored(absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> flat, DecodeArray(std::move(reply)));
  std::vector<ScoredMember> members;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    REDOUBLE_ASSIGN_OR_RETURN(std::string member, DecodeString(std::move(flat[i])));
    REDOUBLE_ASSIGN_OR_RETURN(const double score, DecodeDouble(std::move(flat[i + 1])));
    members.push_back({std::move(member), score});
  }
  return members;
}

absl::StatusOr<std::optional<double>> DecodeDoubleOrNil(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_nil()) return std::nullopt;
  REDOUBLE_ASSIGN_OR_RETURN(const double score, DecodeDouble(std::move(reply)));
  return score;
}

Command RankCommand(CommandId id, std::string_view key, int64_t first, int64_t last) {
  Command command(id, {key});
  command.AddInteger(first).AddInteger(last);
  return command;
}

Command PopCommand(CommandId id, std::string_view key, int64_t count) {
  Command command(id, {key});
  command.AddInteger(count);
  return command;
}

Command AddCommand(std::string_view key, std::span<const ScoredView> members,
                   const ZAddOptions& options) {
  Command command(CommandId::kZAdd, {key});
  if (options.condition == ZAddOptions::Condition::kIfAbsent) command.Add("NX");
  if (options.condition == ZAddOptions::Condition::kIfPresent) command.Add("XX");
  if (options.comparison == ZAddOptions::Comparison::kIfGreater) command.Add("GT");
  if (options.comparison == ZAddOptions::Comparison::kIfLess) command.Add("LT");
  if (options.count_changed) command.Add("CH");
  for (const ScoredView& member : members) {
    command.AddOwned(base::FormatDouble(member.score)).Add(member.member);
  }
  return command;
}

}  // namespace

base::Task<absl::StatusOr<int64_t>> ZAdd(Store& store, std::string_view key,
                                         std::span<const ScoredView> members, ZAddOptions options) {
  const Command command = AddCommand(key, members, options);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<double>> ZIncrBy(Store& store, std::string_view key, double increment,
                                           std::string_view member) {
  Command command(CommandId::kZIncrBy, {key});
  command.AddOwned(base::FormatDouble(increment)).Add(member);
  co_return DecodeDouble(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> ZRem(Store& store, std::string_view key,
                                         std::span<const std::string_view> members) {
  Command command(CommandId::kZRem, {key});
  command.AddAll(members);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> ZCard(Store& store, std::string_view key) {
  const Command command(CommandId::kZCard, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<double>>> ZScore(Store& store, std::string_view key,
                                                         std::string_view member) {
  const Command command(CommandId::kZScore, {key, member});
  co_return DecodeDoubleOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<int64_t>>> ZRank(Store& store, std::string_view key,
                                                         std::string_view member) {
  const Command command(CommandId::kZRank, {key, member});
  co_return DecodeIntegerOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> ZRange(Store& store, std::string_view key,
                                                            int64_t first, int64_t last) {
  const Command command = RankCommand(CommandId::kZRange, key, first, last);
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZRangeWithScores(Store& store,
                                                                       std::string_view key,
                                                                       int64_t first,
                                                                       int64_t last) {
  Command command = RankCommand(CommandId::kZRange, key, first, last);
  command.Add("WITHSCORES");
  co_return DecodeScored(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> ZRevRange(Store& store, std::string_view key,
                                                               int64_t first, int64_t last) {
  const Command command = RankCommand(CommandId::kZRevRange, key, first, last);
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> ZRangeByScore(Store& store,
                                                                   std::string_view key,
                                                                   ScoreQuery query) {
  Command command(CommandId::kZRangeByScore, {key, query.min, query.max});
  if (query.offset != 0 || query.limit >= 0) {
    command.Add("LIMIT").AddInteger(query.offset).AddInteger(query.limit);
  }
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> ZCount(Store& store, std::string_view key, ScoreQuery query) {
  const Command command(CommandId::kZCount, {key, query.min, query.max});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> ZRemRangeByScore(Store& store, std::string_view key,
                                                     ScoreQuery query) {
  const Command command(CommandId::kZRemRangeByScore, {key, query.min, query.max});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> ZRemRangeByRank(Store& store, std::string_view key,
                                                    int64_t first, int64_t last) {
  const Command command = RankCommand(CommandId::kZRemRangeByRank, key, first, last);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZPopMin(Store& store, std::string_view key,
                                                              int64_t count) {
  const Command command = PopCommand(CommandId::kZPopMin, key, count);
  co_return DecodeScored(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<ScoredMember>>> ZPopMax(Store& store, std::string_view key,
                                                              int64_t count) {
  const Command command = PopCommand(CommandId::kZPopMax, key, count);
  co_return DecodeScored(co_await store.Execute(command));
}

}  // namespace redouble::inline v0_1::store
