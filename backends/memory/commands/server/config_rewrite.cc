#include "redouble/backends/memory/commands/server/config_rewrite.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/acl/acl.h"
#include "redouble/backends/memory/commands/server/config_parameters.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/server/config_file.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr std::string_view kUser = "user";

// Directives that are no parameters, in their lines or with other lines. The last four are
// Redouble's own.
constexpr std::string_view kDirectives[] = {kUser,
                                            "include",
                                            "loadmodule",
                                            "rename-command",
                                            "redouble-clock",
                                            "redouble-compatibility",
                                            "redouble-seed",
                                            "redouble-start"};

std::string_view NameOf(std::string_view word, store::Version version) {
  const Found found = Find(word, version);
  if (found.parameter != nullptr) return found.parameter->name;
  if (found.kept != nullptr) return found.kept->name;
  if (found.is_folder) return kFolder;
  const auto* directive = std::find(std::begin(kDirectives), std::end(kDirectives), word);
  return directive == std::end(kDirectives) ? std::string_view() : *directive;
}

// The users of an ACL file have no lines here.
ConfigLines UserLines(EngineCore& engine) {
  ConfigLines lines{.name = kUser, .lines = {}};
  if (!KeptValue("aclfile", engine.options()).empty()) return lines;
  for (const auto& [name, user] : engine.acl().users()) {
    lines.lines.push_back({user->Describe(), /*required=*/true});
  }
  return lines;
}

// In the order of the names, and the users last.
std::vector<ConfigLines> AllLines(EngineCore& engine) {
  const EngineOptions& options = engine.options();
  std::vector<ConfigLines> all;
  for (const Parameter& parameter : Parameters()) {
    if (parameter.versions.Has(options.compatibility)) all.push_back(LinesOf(parameter, options));
  }
  for (const KeptParameter& kept : KeptParameters()) {
    if (!kept.versions.Has(options.compatibility)) continue;
    all.push_back(LineOf(kept.name, kept.form, kept.ValueIn(options), kept.initial));
  }
  const std::string folder = TextOf(Find(kFolder, options.compatibility), engine);
  all.push_back(LineOf(kFolder, LineForm::kQuotedOrNone, folder, ""));
  std::sort(all.begin(), all.end(),
            [](const ConfigLines& a, const ConfigLines& b) { return a.name < b.name; });
  all.push_back(UserLines(engine));
  return all;
}

}  // namespace

absl::Status RewriteConfig(EngineCore& engine, RewriteScope scope) {
  Host& host = *engine.administration().host();
  const std::string path = host.ConfigFile();
  absl::StatusOr<std::string> old_text = host.ReadTextFile(path);
  // As in Redis, a file that was removed is written again.
  if (absl::IsNotFound(old_text.status())) old_text = "";
  REDOUBLE_RETURN_IF_ERROR(old_text.status());
  std::vector<ConfigLines> lines = AllLines(engine);
  for (ConfigLines& parameter : lines) {
    for (ConfigLine& line : parameter.lines) {
      line.required = line.required || scope == RewriteScope::kAll;
    }
  }
  const auto name_of = [version = engine.options().compatibility](std::string_view word) {
    return NameOf(word, version);
  };
  return host.ReplaceTextFile(path, RewriteConfigFile(*old_text, lines, name_of));
}

Reply HandleConfigRewrite(CommandContext& context, Arguments) {
  EngineCore& engine = context.engine();
  Host* host = engine.administration().host();
  if (host == nullptr || host->ConfigFile().empty()) {
    return Reply::Error("ERR The server is running without a config file");
  }
  const absl::Status status = RewriteConfig(engine, RewriteScope::kChanged);
  if (status.ok()) return Reply::Ok();
  return Reply::Error(absl::StrCat("ERR Rewriting config file: ", status.message()));
}

}  // namespace redouble::inline v0_1::memory
