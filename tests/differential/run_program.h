// Runs a program on a target, and compares what two targets made of it.
//
// Commands of one connection go to a target in one go, up to the next clock step or the next
// connection's turn: the replies before a clock step must have been read. Commands that may block
// go one by one.
//
// The keyspace at the end is compared too: keys, types, PTTLs, encodings, values. Redis counts
// expired keys in DBSIZE until something removes them; a program that asks for such a count has
// every key of the vocabulary touched after each clock step.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_RUN_PROGRAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_RUN_PROGRAM_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/store/reply.h"
#include "tests/differential/program.h"
#include "tests/support/canonical_reply.h"
#include "tests/support/target.h"

namespace redouble::tests {

// A reply that came after its command's step.
struct LateReply {
  int connection = 0;
  store::Reply reply;
  friend bool operator==(const LateReply&, const LateReply&) = default;
};

// What one step was answered.
struct StepResult {
  std::optional<store::Reply> reply;
  std::vector<LateReply> late;
  friend bool operator==(const StepResult&, const StepResult&) = default;
};

struct RunOptions {
  // Takes out of replies what Redis leaves open (canonical_reply.h).
  bool canonical = true;
};

// Runs the program on a fresh target. Clock steps to a deadline become plain ones in `program` if
// the target knows its deadlines; one that does not must get a program without them.
std::vector<StepResult> RunProgram(Target& target, Program& program, RunOptions options = {});

// The commands that show the whole keyspace that the target has now, to be run on it and on the
// target it is compared with.
std::vector<Words> KeyspaceQuestions(Target& target);
// Their replies.
std::vector<store::Reply> AskKeyspace(Target& target, const std::vector<Words>& questions,
                                      RunOptions options = {});

// Where two targets differ.
struct Difference {
  std::string where;     // "step 3: GET k", or "at the end: PTTL k".
  std::string expected;  // As ReplyText writes it.
  std::string actual;
};

// Runs the program on `actual`, then on `expected`; no value when they agree. Clock steps of
// `program` become plain ones.
std::optional<Difference> Compare(Target& expected, Target& actual, Program& program);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_RUN_PROGRAM_H_
