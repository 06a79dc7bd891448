// The invariants of world files that judge what the actors have seen: "bound", "monotone",
// "exactly_once" and "linearizable" (the table in sim/world_file/invariant.h).
//
// Each function reads the members of an invariant of its kind, records in `fields` what is wrong,
// and returns the invariant. Used by ParseInvariant.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_WORLD_FILE_PROPERTY_INVARIANTS_H_
#define REDOUBLE_SIM_WORLD_FILE_PROPERTY_INVARIANTS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/world_file/invariant.h"

namespace redouble::inline v0_1::sim {

std::shared_ptr<WorldInvariant> ReadBound(ArgumentReader& fields);
std::shared_ptr<WorldInvariant> ReadMonotone(ArgumentReader& fields);
std::shared_ptr<WorldInvariant> ReadExactlyOnce(ArgumentReader& fields);
std::shared_ptr<WorldInvariant> ReadLinearizable(ArgumentReader& fields);

// What the kinds share.

// Sends a command to the world's server and returns the reply.
absl::StatusOr<store::Reply> Ask(World& world, const std::vector<std::string>& words,
                                 std::string_view server);
// As Ask. Errors: InvalidArgument for an error reply.
absl::StatusOr<Json> AskForJson(World& world, const std::vector<std::string>& words,
                                std::string_view server);
// Reads a command, which has one word at least.
std::vector<std::string> ReadWords(ArgumentReader& fields, std::string_view name);
// Returns the number that a reply is, also as a text.
std::optional<double> NumberIn(const Json& reply);

// The values that are expected: "expect", "one_of", or "at_least" and "at_most".
class Expectation {
 public:
  static Expectation Read(ArgumentReader& fields);

  // Returns true if the value is one of those that are listed.
  bool Lists(const Json& value) const;
  // Returns OK, or an error that says what `what` is instead. With bounds, null counts as 0.
  absl::Status Check(const Json& value, absl::string_view what) const;

 private:
  std::vector<Json> expected_;
  std::optional<double> at_least_;
  std::optional<double> at_most_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_PROPERTY_INVARIANTS_H_
