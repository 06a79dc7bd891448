// Script: a conformance file, taken apart.
//
//   # What a line like this says is for people.
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
// A case begins with an empty keyspace, fresh connections and the clock at kStart; its commands go
// through the connection named last ("a" at first). README.md has all of it.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_TESTS_CONFORMANCE_SCRIPT_H_
#define REDOUBLE_TESTS_CONFORMANCE_SCRIPT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/support/target.h"

namespace redouble::tests {

// 2026-05-09 14:03:02 UTC, in the middle of a second.
inline constexpr absl::Time kStart = absl::FromUnixMillis(1'778'335'382'500);

struct Step {
  enum class Kind { kNote, kCase, kClient, kAdvance, kCommand, kReceive };

  Kind kind = Kind::kNote;
  int line = 0;          // Where it stands in the file, from 1 on.
  std::string source;    // The line itself.
  std::string argument;  // kCase: the title; kClient: the name.
  absl::Duration step;   // kAdvance
  Words words;           // kCommand
  std::string expected;  // kCommand, kReceive: the reply as ReplyText writes it.
};

struct Script {
  std::vector<Step> steps;
};

// What is expected of a command that is still blocked, and of @receive when nothing has come.
inline constexpr std::string_view kBlockedText = "(blocked)";

// Errors: InvalidArgument with the line's number for what is no such script: an unknown directive,
// a command outside a case, quotes or durations that are wrong, a reply without a command.
absl::StatusOr<Script> ParseScript(std::string_view text);

// Writes a reply down.
using ReplyWriter = std::string (*)(const store::Reply& reply);

// Runs the script and gives what each step was answered, in the place of `expected`; as ReplyText
// writes it unless told otherwise.
Script Answer(const Script& script, Target& target, ReplyWriter writer = nullptr);

// The file of a script: what ParseScript reads.
std::string ScriptText(const Script& script);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_CONFORMANCE_SCRIPT_H_
