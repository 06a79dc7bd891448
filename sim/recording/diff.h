// FindDivergence: finds the first event in which two traces differ.
//
// Use it if two runs that should be equal have different hashes. The first difference is close to
// the cause; everything after it is a consequence.
//
//   const auto first = SplitTrace(text_of_a, "a.jsonl");
//   const auto second = SplitTrace(text_of_b, "b.jsonl");
//   if (auto divergence = FindDivergence(*first, *second)) std::cout << divergence->ToString();
//
// Thread-safety: pure functions; safe to call from any thread.
#ifndef REDOUBLE_SIM_RECORDING_DIFF_H_
#define REDOUBLE_SIM_RECORDING_DIFF_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::sim {

// Splits a trace (sim/trace/trace.h) into its lines. Errors: InvalidArgument with `file` and the
// line number, counted from 1, if a line is not a JSON object.
absl::StatusOr<std::vector<std::string>> SplitTrace(std::string_view text, std::string_view file);

struct TraceDivergence {
  size_t index;                     // The index of the first event that differs.
  std::vector<std::string> before;  // The last common lines, at most three.
  // The differing lines; nullopt if that trace has ended.
  std::optional<std::string> first;
  std::optional<std::string> second;

  // Returns text for people: the index, the lines before it, and the two lines marked with "-" and
  // "+".
  std::string ToString() const;
};

// Returns nullopt if the traces are equal. Lines are compared byte by byte, as the hash does.
std::optional<TraceDivergence> FindDivergence(const std::vector<std::string>& first,
                                              const std::vector<std::string>& second);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_RECORDING_DIFF_H_
