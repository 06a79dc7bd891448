// Token ids: pure functions of the origin of a token, so that a retry produces the same id.
//
// An id consists of a root and a mark. The mark holds the data that must come back with the signal,
// because a worker repeats nothing but the id: the number of counted tokens that the token
// represents (after a join), and the iteration of each loop that the run is in.
//
//   7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d                 an ordinary token
//   7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d.k2              represents two tokens
//   7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d.iR:2            after the second iteration of loop R
//   approval_7c9e6679f0ce4a1f8d1b2f2c5a6b7c8d        the token that a decided approval returns
//
// The root is a hash by default. TokenIdForm::kPath writes a readable path instead, as in
// "token_001/process/email"; paths grow without bound in loops.
//
// Thread-safety: pure functions and plain values.
// Source: docs/systems/orchestrator.md 2.8.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_TOKEN_IDS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_TOKEN_IDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::orchestrator {

enum class TokenIdForm { kHashed, kPath };

// The iteration, from 1, of each loop that a token is inside of, by the node id of the loop.
using LoopCounts = std::map<std::string, int64_t, std::less<>>;

// The part of an id after its root.
struct TokenMark {
  int64_t join_count = 1;
  LoopCounts loops;

  friend bool operator==(const TokenMark&, const TokenMark&) = default;
};

// For example ".k2.iR:2"; empty for a default mark.
std::string FormatTokenMark(const TokenMark& mark);
// The mark of a token id, or of the id of an approval's token if ApprovalIdOf made the approval id.
// Any other id has a default mark.
TokenMark ParseTokenMark(std::string_view token_id);

// A token that follows another one. `ordinal` distinguishes tokens of one parent to one target.
struct ChildToken {
  std::string_view parent_id;  // The run id for an entry token.
  std::string_view target;     // A node id.
  int64_t ordinal = 0;
};
std::string ChildTokenId(TokenIdForm form, ChildToken child, const TokenMark& mark);

// The token that a join publishes after the arrival `arrival_id` has completed it.
struct JoinFiring {
  std::string_view join;
  std::string_view arrival_id;
};
std::string JoinTokenId(TokenIdForm form, JoinFiring firing, const TokenMark& mark);

// The id of the approval that this token requests: letters, digits and `_` only.
std::string ApprovalIdOf(std::string_view token_id);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_TOKEN_IDS_H_
