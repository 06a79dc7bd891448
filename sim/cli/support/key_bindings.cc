#include "redouble/sim/cli/support/key_bindings.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::sim {

void KeyBindings::AddOption(CLI::App& app) {
  app.add_option("--bind", texts_,
                 "NAME=VALUE: the value of a prefix in the patterns of `redouble keys`");
}

absl::StatusOr<std::vector<store::KeyBinding>> KeyBindings::Parse() const {
  std::vector<store::KeyBinding> bindings;
  for (const std::string_view text : texts_) {
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind: expected NAME=VALUE, got \"", std::string(text), "\""));
    }
    bindings.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return bindings;
}

}  // namespace redouble::inline v0_1::sim
