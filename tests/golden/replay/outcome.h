// Outcome: the result of one golden in one mode.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_OUTCOME_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_OUTCOME_H_

#include <optional>
#include <string>
#include <utility>

#include "redouble/tests/golden/replay/difference.h"

namespace redouble::inline v0_1::golden {

struct Outcome {
  enum class Verdict { kPassed, kFailed, kSkipped };

  Verdict verdict = Verdict::kPassed;
  // The reason for skipping, or a remark on a replay that passed.
  std::string note = {};
  std::optional<Difference> difference = {};  // Set if the replay failed.

  static Outcome Passed(std::string note = {}) { return {Verdict::kPassed, std::move(note), {}}; }
  static Outcome Failed(Difference difference) {
    return {Verdict::kFailed, {}, std::move(difference)};
  }
  static Outcome Skipped(std::string why) { return {Verdict::kSkipped, std::move(why), {}}; }
};

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_OUTCOME_H_
