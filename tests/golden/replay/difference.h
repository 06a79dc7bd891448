// Difference: the first place where a replay differs from a golden.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_REPLAY_DIFFERENCE_H_
#define REDOUBLE_TESTS_GOLDEN_REPLAY_DIFFERENCE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::golden {

struct Difference {
  std::string path;  // A JSON pointer into the file: "/ops/2/commands/3/reply/0".
  std::string message;
  std::string expected = {};  // Both empty if the message is sufficient.
  std::string got = {};

  // Returns one line: "/ops/2/result/count: not as recorded: expected 2, got 3".
  std::string ToString() const;
};

// Returns the first difference, or nullopt. Compares objects by name, arrays element by element,
// numbers by value.
std::optional<Difference> CompareJson(const sim::Json& expected, const sim::Json& got,
                                      std::string_view path);

// Returns the error that ended a replay, as a difference at `path`.
Difference DifferenceOf(std::string_view path, const absl::Status& status);

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_REPLAY_DIFFERENCE_H_
