// Replies of sorted set commands: scores, and members with their scores.
//
// Scores are doubles in RESP3, and members with scores are pairs; RESP2 writes both as bulk
// strings.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SETS_SORTED_SET_REPLIES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SETS_SORTED_SET_REPLIES_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/shortest_double.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

// A score as the version writes it.
inline std::string ScoreText(const EngineCore& engine, double score) {
  return engine.Has(Feature::kShortestScores) ? base::FormatShortestDouble(score)
                                              : base::FormatDouble(score);
}

inline store::Reply ScoreReply(const CommandContext& context, double score) {
  return store::Reply::Double(ScoreText(context.engine(), score));
}

// Appends the member, and its score if `with_score`.
inline void AppendMember(const CommandContext& context, std::vector<store::Reply>& out,
                         std::string_view member, double score, bool with_score) {
  out.push_back(store::Reply::Bulk(member));
  if (with_score) out.push_back(ScoreReply(context, score));
}

// The same for an array that MembersArray made.
inline void AddMember(const CommandContext& context, ReplyArray& out, std::string_view member,
                      double score, bool with_score) {
  out.AddBulk(member);
  if (with_score) out.Add(ScoreReply(context, score));
}

// An array of so many members, with their scores if `with_scores`.
inline ReplyArray MembersArray(const CommandContext& context, std::optional<size_t> members,
                               bool with_scores) {
  if (with_scores && members) *members *= 2;
  return ReplyArray(
      context, with_scores ? store::Reply::Shape::kPairs : store::Reply::Shape::kPlain, members);
}

// The reply with the elements that AppendMember appended.
inline store::Reply MembersReply(std::vector<store::Reply> members, bool with_scores) {
  return with_scores ? store::Reply::Pairs(std::move(members))
                     : store::Reply::Array(std::move(members));
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SETS_SORTED_SET_REPLIES_H_
