// ReplyText: replies in the format of redis-cli, which conformance cases use for expected replies.
// Other than redis-cli, it tells a null array from a null string.
//
//   OK                      a status
//   (error) ERR no such key
//   (integer) 1
//   "text"                  a bulk string, quoted as words are (words.h)
//   (nil)                   a null string
//   (nil array)
//   (empty array)
//   1) "a"                  an array, nested ones indented
//   2) 1) (integer) 1
//      2) (nil)
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_REPLY_TEXT_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_REPLY_TEXT_H_

#include <string>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {

// Returns the reply as lines, without a line break at the end.
std::string ReplyText(const store::Reply& reply);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_REPLY_TEXT_H_
