// ChaosSetting: the settings of the chaos tests, from the environment.
//
// ChaosSeed is CHAOS_SEED, or else follows from the number of the run, so that the runs of
// `bazel test --runs_per_test=20` differ. The tests print it.
//
// Thread-safety: safe from any thread.
#ifndef REDOUBLE_TESTS_CHAOS_CHAOS_SETTINGS_H_
#define REDOUBLE_TESTS_CHAOS_CHAOS_SETTINGS_H_

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace redouble::inline v0_1::tests {

// A number of the environment, or `otherwise`.
inline uint64_t ChaosSetting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

inline uint64_t ChaosSeed() {
  // What Bazel calls a seed is the number of the run, from 1; it is missing in a single run.
  return ChaosSetting("CHAOS_SEED", 6 + ChaosSetting("TEST_RANDOM_SEED", 1));
}

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CHAOS_CHAOS_SETTINGS_H_
