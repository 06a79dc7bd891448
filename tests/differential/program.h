// Program: random commands, clock steps and connections, as data.
//
// A program is what the differential test runs on both stores. It can be printed as a conformance
// case (ProgramText), which is how a difference that was found becomes a regression test.
//
// Thread-safety: plain values.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_PROGRAM_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/support/words.h"

namespace redouble::tests {

struct ProgramStep {
  enum class Kind : uint8_t {
    kCommand,
    kAdvance,            // Moves the clock by `amount_us`.
    kAdvanceToDeadline,  // Moves it to the next deadline plus `amount_us` (may be negative), or by
                         // a millisecond when that is not ahead, or ages ahead.
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
};

// The program as a conformance case with the title, without replies. Its clock steps must be plain
// ones (see RunProgram).
std::string ProgramText(const Program& program, const std::string& title);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_PROGRAM_H_
