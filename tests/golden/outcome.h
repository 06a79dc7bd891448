// Outcome: what became of one golden in one mode.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_OUTCOME_H_
#define REDOUBLE_TESTS_GOLDEN_OUTCOME_H_

#include <optional>
#include <string>
#include <utility>

#include "tests/golden/difference.h"

namespace redouble::golden {

struct Outcome {
  enum class Verdict { kPassed, kFailed, kSkipped };

  Verdict verdict = Verdict::kPassed;
  // Why it was skipped, or what a reader of "passed" should know.
  std::string note = {};
  std::optional<Difference> difference = {};  // Of a failure.

  static Outcome Passed(std::string note = {}) { return {Verdict::kPassed, std::move(note), {}}; }
  static Outcome Failed(Difference difference) {
    return {Verdict::kFailed, {}, std::move(difference)};
  }
  static Outcome Skipped(std::string why) { return {Verdict::kSkipped, std::move(why), {}}; }
};

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_OUTCOME_H_
