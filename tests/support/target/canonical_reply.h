// CanonicalReplies: removes the differences that Redis permits, so that the replies of two servers
// can be compared.
//
// Most replies must be equal byte for byte. Commands that list the contents of a hash table may use
// any order, and random commands may return any element. A table in canonical_reply.cc lists these
// commands; for another such command, add a row.
//
//   CanonicalReplies replies;                       // One for each connection.
//   replies.Of({"KEYS", "*"}, reply)                // The keys, sorted.
//
// It tracks MULTI and EXEC: the elements of EXEC's reply belong to the queued commands.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_CANONICAL_REPLY_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_CANONICAL_REPLY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {

// Which part of a command's reply Redis guarantees.
enum class ReplyOrder : uint8_t {
  kExact,      // Every byte.
  kAnyOrder,   // An array's elements, in any order.
  kAnyPairs,   // An array's pairs (field, value), in any order.
  kScan,       // A cursor and elements: all elements if one call returns everything, otherwise only
               // the shape.
  kScanPairs,  // As kScan, of pairs.
  kChance,     // Only the kind, because the command is random. (SPOP and SRANDMEMBER with a count
               // of 1000 or more return everything: kAnyOrder.)
};

// Returns which part of the reply to `command` is guaranteed.
ReplyOrder OrderOf(const Words& command);

class CanonicalReplies {
 public:
  // With `keep_chance`, the replies of random commands are kept: for scripts in which they have
  // only one possible reply.
  explicit CanonicalReplies(bool keep_chance = false) : keep_chance_(keep_chance) {}

  // Returns the canonical form of the reply to the connection's next command.
  store::Reply Of(const Words& command, store::Reply reply);

 private:
  store::Reply Canonical(const Words& command, store::Reply reply) const;

  const bool keep_chance_;
  std::vector<Words> queued_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_CANONICAL_REPLY_H_
