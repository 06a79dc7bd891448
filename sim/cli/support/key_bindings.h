// KeyBindings: the values of `--bind NAME=VALUE`, which replace placeholders of key patterns.
//
//   KeyBindings bindings;
//   bindings.AddOption(app);
//   ...
//   REDOUBLE_ASSIGN_OR_RETURN(const std::vector<store::KeyBinding> parsed, bindings.Parse());
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_KEY_BINDINGS_H_
#define REDOUBLE_SIM_CLI_SUPPORT_KEY_BINDINGS_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "redouble/core/store/keyspace/key_family.h"

namespace redouble::inline v0_1::sim {

class KeyBindings {
 public:
  // Declares `--bind`. This must outlive the app.
  void AddOption(CLI::App& app);

  // Returns the bindings, which are views into this. Errors: InvalidArgument, with the option and
  // the text, for a text without `=`.
  absl::StatusOr<std::vector<store::KeyBinding>> Parse() const;

 private:
  std::vector<std::string> texts_;  // "name=value"
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_KEY_BINDINGS_H_
