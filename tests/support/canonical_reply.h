// Canonical replies: what Redis leaves open, taken out, so that two stores' replies can be
// compared.
//
// Most commands must answer the same to the byte. Those that list a hash table's contents may list
// them in any order; those that draw by chance may draw anything. One table (canonical_reply.cc)
// says which; adding such a command is adding a row.
//
//   CanonicalReplies replies;                       // One per connection.
//   replies.Of({"KEYS", "*"}, reply)                // The keys, sorted.
//
// It follows MULTI and EXEC: the replies in EXEC's array are those of the commands queued before.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_CANONICAL_REPLY_H_
#define REDOUBLE_TESTS_SUPPORT_CANONICAL_REPLY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/store/reply.h"
#include "tests/support/words.h"

namespace redouble::tests {

// How much of a command's reply Redis promises.
enum class ReplyOrder : uint8_t {
  kExact,      // Every byte.
  kAnyOrder,   // An array's elements, in any order.
  kAnyPairs,   // An array's pairs (field, value), in any order.
  kScan,       // A cursor and elements: all elements when one step lists everything, else nothing
               // but the shape.
  kScanPairs,  // As kScan, of pairs.
  kChance,     // Nothing but the kind: the command draws by chance. (SPOP and SRANDMEMBER of 1000
               // or more draw everything: kAnyOrder.)
};

ReplyOrder OrderOf(const Words& command);

class CanonicalReplies {
 public:
  // With `keep_chance`, what was drawn by chance stays: for scripts that leave no choice.
  explicit CanonicalReplies(bool keep_chance = false) : keep_chance_(keep_chance) {}

  store::Reply Of(const Words& command, store::Reply reply);

 private:
  store::Reply Canonical(const Words& command, store::Reply reply) const;

  const bool keep_chance_;
  std::vector<Words> queued_;
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_CANONICAL_REPLY_H_
