// Difference: the first place where a replay did not give what a golden recorded.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_DIFFERENCE_H_
#define REDOUBLE_TESTS_GOLDEN_DIFFERENCE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sim/scenario/operation.h"

namespace redouble::golden {

struct Difference {
  std::string path;  // A JSON pointer into the file: "/ops/2/commands/3/reply/0".
  std::string message;
  std::string expected = {};  // Both empty when the message says it all.
  std::string got = {};

  // One line: "/ops/2/result/count: not as recorded: expected 2, got 3".
  std::string ToString() const;
};

// None when the two are equal. Objects by name, arrays element by element, numbers by value.
std::optional<Difference> CompareJson(const sim::Json& expected, const sim::Json& got,
                                      std::string_view path);

// A replay that could not go on.
Difference DifferenceOf(std::string_view path, const absl::Status& status);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_DIFFERENCE_H_
