// What the sorted set commands reply: scores, and members with them.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SET_REPLIES_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SET_REPLIES_H_

#include <string_view>
#include <utility>
#include <vector>

#include "core/base/redis_number.h"
#include "core/store/reply.h"

namespace redouble::memory {

inline store::Reply ScoreReply(double score) {
  return store::Reply::Double(base::FormatDouble(score));
}

// Appends the member, and its score when asked for.
inline void AppendMember(std::vector<store::Reply>& out, std::string_view member, double score,
                         bool with_score) {
  out.push_back(store::Reply::Bulk(member));
  if (with_score) out.push_back(ScoreReply(score));
}

// What AppendMember appended.
inline store::Reply MembersReply(std::vector<store::Reply> members, bool with_scores) {
  return with_scores ? store::Reply::Pairs(std::move(members))
                     : store::Reply::Array(std::move(members));
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_SORTED_SET_REPLIES_H_
