// The first event in which two traces differ.
//
// Why it exists: two runs that should have been the same have other hashes; what went another way
// first is the cause, all behind it is consequence.
//
//   const auto first = SplitTrace(text_of_a, "a.jsonl");
//   const auto second = SplitTrace(text_of_b, "b.jsonl");
//   if (auto divergence = FindDivergence(*first, *second)) std::cout << divergence->ToString();
//
// Pure; safe to call from any thread.
#ifndef REDOUBLE_SIM_TRACE_DIFF_H_
#define REDOUBLE_SIM_TRACE_DIFF_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::sim {

// The lines of a trace (sim/scenario/trace.h). `file` is put before each error. Errors:
// InvalidArgument, with the number of the line from 1, for one that is no object of JSON.
absl::StatusOr<std::vector<std::string>> SplitTrace(std::string_view text, std::string_view file);

struct TraceDivergence {
  size_t index;                     // Of the first event that is not the same.
  std::vector<std::string> before;  // The last lines that both have, at most three.
  // None: this trace has ended.
  std::optional<std::string> first;
  std::optional<std::string> second;

  // Lines for people: the place, the lines before, and the two, by "-" and "+".
  std::string ToString() const;
};

// None when the traces are equal. Lines are compared byte by byte, as the hash does.
std::optional<TraceDivergence> FindDivergence(const std::vector<std::string>& first,
                                              const std::vector<std::string>& second);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_TRACE_DIFF_H_
