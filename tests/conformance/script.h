// Script: a parsed conformance file.
//
//   # A comment.
//   @case SET with NX and GET
//   > SET key value
//   OK
//   > GET key
//   "value"
//   @advance 1500ms
//   @client b
//   > BLPOP list 0
//   (blocked)
//   @client a
//   > RPUSH list x
//   (integer) 1
//   @client b
//   @receive
//   1) "list"
//   2) "x"
//
// A case begins with an empty keyspace, new connections and the clock at kStart. Its commands use
// the connection of the last @client line ("a" at first). README.md describes the whole format.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_TESTS_CONFORMANCE_SCRIPT_H_
#define REDOUBLE_TESTS_CONFORMANCE_SCRIPT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

// 2026-05-09 14:03:02 UTC, in the middle of a second.
inline constexpr absl::Time kStart = absl::FromUnixMillis(1'778'335'382'500);

struct Step {
  enum class Kind { kNote, kCase, kClient, kAdvance, kCommand, kReceive };

  Kind kind = Kind::kNote;
  int line = 0;          // The line number in the file, from 1.
  std::string source;    // The text of the line.
  std::string argument;  // kCase: the title; kClient: the name.
  absl::Duration step;   // kAdvance
  Words words;           // kCommand
  std::string expected;  // kCommand, kReceive: the reply as ReplyText writes it.
};

struct Script {
  std::vector<Step> steps;
};

// The expected text for a command that is still blocked, and for @receive without a message.
inline constexpr std::string_view kBlockedText = "(blocked)";

// Returns InvalidArgument with the line number for an unknown directive, a command outside of a
// case, invalid quotes or durations, or a reply without a command.
absl::StatusOr<Script> ParseScript(std::string_view text);

// Formats a reply as text.
using ReplyWriter = std::string (*)(const store::Reply& reply);

// Runs the script and returns it with the actual replies as `expected`, in the format of ReplyText
// unless `writer` is set.
Script RunScript(const Script& script, Target& target, ReplyWriter writer = nullptr);

// The text of a script, which ParseScript accepts.
std::string ScriptText(const Script& script);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CONFORMANCE_SCRIPT_H_
