// Program: random commands, clock steps and connections, as data.
//
// The differential test runs a program on both stores. A program can be printed as a conformance
// case (ProgramText), so that a difference becomes a regression test.
//
// Thread-safety: plain values.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_PROGRAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {

struct ProgramStep {
  enum class Kind : uint8_t {
    kCommand,
    kAdvance,            // Advances the clock by `amount_us`.
    kAdvanceToDeadline,  // Advances to the next deadline plus `amount_us` (may be negative), or by
                         // a millisecond if that is not in the future or is too far away.
  };

  Kind kind = Kind::kCommand;
  int connection = 0;
  int64_t amount_us = 0;
  Words words;

  friend bool operator==(const ProgramStep&, const ProgramStep&) = default;
};

struct Program {
  absl::Time start;
  std::vector<ProgramStep> steps;
  // False: a key expires only when a command accesses it.
  bool active_expiry = true;
};

// The program as a conformance case with the given title, without replies. Its clock steps must be
// relative ones (see RunProgram).
std::string ProgramText(const Program& program, const std::string& title);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_PROGRAM_H_
