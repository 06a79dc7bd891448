// Runs a program on a target, and compares the results of two targets.
//
// Consecutive commands of one connection are sent together, up to the next clock step or the next
// command of another connection, because replies must have been read before the clock moves.
// Commands that may block are sent one at a time.
//
// The final keyspaces are compared too: keys, types, PTTLs, encodings and values. Redis counts
// expired keys in DBSIZE until they are removed; in a program that requests such a count, every key
// of the vocabulary is accessed after each clock step.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_RUN_PROGRAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_RUN_PROGRAM_H_

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/tests/differential/program.h"
#include "redouble/tests/support/target/canonical_reply.h"
#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

// A reply that arrived after its command's step.
struct LateReply {
  int connection = 0;
  store::Reply reply;
  friend bool operator==(const LateReply&, const LateReply&) = default;
};

// The replies of one step.
struct StepResult {
  std::optional<store::Reply> reply;
  std::vector<LateReply> late;
  friend bool operator==(const StepResult&, const StepResult&) = default;
};

struct RunOptions {
  // Removes the unspecified parts of replies (canonical_reply.h).
  bool canonical = true;
};

// Runs the program on a new target. Clock steps to a deadline are replaced by relative ones in
// `program` if the target knows its deadlines; for other targets the program must not have any.
std::vector<StepResult> RunProgram(Target& target, Program& program, RunOptions options = {});

// The commands that show the whole keyspace of the target, to be run on it and on the target with
// which it is compared.
std::vector<Words> KeyspaceQueries(Target& target);
// The replies to these commands.
std::vector<store::Reply> RunQueries(Target& target, const std::vector<Words>& queries,
                                     RunOptions options = {});

// The place where two targets differ.
struct Difference {
  std::string where;     // "step 3: GET k", or "at the end: PTTL k".
  std::string expected;  // In the format of ReplyText.
  std::string actual;
  friend bool operator==(const Difference&, const Difference&) = default;
  // How GoogleTest prints it.
  friend void PrintTo(const Difference& difference, std::ostream* out) {
    *out << difference.where << "\n  expected: " << difference.expected
         << "\n  actual:   " << difference.actual;
  }
};

// The first difference of the keyspaces, by KeyspaceQueries of `actual`; nullopt if they agree.
std::optional<Difference> CompareKeyspaces(Target& expected, Target& actual);

// Runs the program on `actual`, then on `expected`. Returns nullopt if they agree. Clock steps of
// `program` are replaced by relative ones. With `resp3`, both targets use it, and the types of the
// replies must be the same as well.
std::optional<Difference> Compare(Target& expected, Target& actual, Program& program,
                                  bool resp3 = false);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_RUN_PROGRAM_H_
