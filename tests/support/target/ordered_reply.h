// Replies of COMMAND in one order, so that those of two servers can be compared.
//
//   ShapedText(Ordered(ours)) == ShapedText(Ordered(theirs))
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_ORDERED_REPLY_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_ORDERED_REPLY_H_

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {

// A server lists subcommands, all commands and the fields of a map in unspecified order. Returns
// the reply with them sorted, and everything inside them; a map becomes an array of pairs.
store::Reply Ordered(const store::Reply& reply);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_ORDERED_REPLY_H_
