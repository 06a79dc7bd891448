// The ids of tokens: pure functions of where a token comes from, so that a retry repeats them.
//
// An id begins with a root and ends with what the signal that answers the token has to bring back,
// because a worker echoes nothing but the id: how many tokens of the counter it stands for (a join
// that fired), and the iteration of each loop that the run is in.
//
//   7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d                 an ordinary token
//   7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d.k2              stands for two tokens
//   7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d.iR:2            behind the second iteration of loop R
//   approval_7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d        the token that a decided approval gives back
//
// The root is a hash by default. TokenIdForm::kPath writes it out, as the documents do
// ("token_001/process/email"), for people to read; paths grow without bound in loops.
//
// Thread-safety: pure functions and plain values.
// Source: reference/orchestrator.md sections 2.3, 6.2 and 6.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_TOKEN_IDS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_TOKEN_IDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace redouble::orchestrator {

enum class TokenIdForm { kHashed, kPath };

// How often each loop that a token is inside of went round, by the loop's node id; from 1 on.
using LoopCounts = std::map<std::string, int64_t, std::less<>>;

// What an id says beside its root.
struct TokenMark {
  int64_t join_count = 1;
  LoopCounts loops;

  friend bool operator==(const TokenMark&, const TokenMark&) = default;
};

// ".k2.iR:2"; empty for a mark that says nothing.
std::string FormatTokenMark(const TokenMark& mark);
// The mark of any token's id, and of the id of an approval's token as ApprovalIdOf made it. An id
// from elsewhere has the mark that says nothing.
TokenMark ParseTokenMark(std::string_view token_id);

// A token that follows another one. `ordinal` tells tokens of one parent and target apart.
struct ChildToken {
  std::string_view parent_id;  // The run's id for a token that begins the run.
  std::string_view target;     // The node's id.
  int64_t ordinal = 0;
};
std::string ChildTokenId(TokenIdForm form, ChildToken child, const TokenMark& mark);

// The token that a join publishes once `arrival_id` has completed it.
struct JoinFiring {
  std::string_view join;
  std::string_view arrival_id;
};
std::string JoinTokenId(TokenIdForm form, JoinFiring firing, const TokenMark& mark);

// The id of the approval that the token with this id asks for. Letters, digits and `_` only.
std::string ApprovalIdOf(std::string_view token_id);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_TOKEN_IDS_H_
