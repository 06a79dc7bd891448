#include "redouble/sim/cli/serve/redis_server.h"

#include <iostream>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/cli/serve/configuration.h"
#include "redouble/sim/cli/serve/start.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/version.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Usage: redis-server [/path/to/redis.conf] [--NAME VALUE...] [-]\n"
    "\n"
    "Examples:\n"
    "  redouble redis-server                            on 127.0.0.1:6379\n"
    "  redouble redis-server redis.conf --port 7000     arguments win over the file\n"
    "  echo 'port 7000' | redouble redis-server -       the configuration from standard input\n"
    "  ln -s /usr/bin/redouble redis-server             for a harness that runs \"redis-server\"\n"
    "\n"
    "The names are those of redis.conf 7.0.15. Parameters that do nothing here, as those of\n"
    "allocators, are accepted with a warning. redouble-clock, redouble-start and redouble-seed\n"
    "are --clock, --start and --seed of redouble serve. Keys are loaded from dir/dbfilename and\n"
    "saved there as `save` says.\n"
    "Exit codes: 0 stopped when told to, 1 anything wrong.";

int PrintVersion(const ProgramContext& context) {
  context.out << "Redis server v=" << kRedisVersion << " sha=00000000:0 malloc=libc bits=64 build="
              << "redouble-" << kVersion << std::endl;
  return kExitPassed;
}

bool IsOption(std::string_view argument) { return argument.starts_with("--"); }

// In the words of redis-server.
int Refuse(const ConfigurationError& error, const ProgramContext& context) {
  context.err << "\n*** FATAL CONFIG FILE ERROR (Redis " << kRedisVersion << ") ***\n"
              << "Reading the configuration file, at line " << error.line << "\n>>> '" << error.text
              << "'\n"
              << error.message << std::endl;
  return kExitFailed;
}

std::string ReadAll(std::istream& in) {
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

}  // namespace

std::string ArgumentsAsConfiguration(const std::vector<std::string>& arguments) {
  std::string lines;
  // The word after a name is a value, also if it begins with "--".
  bool takes_value = false;
  // `--save` without a value: an empty list of save points.
  constexpr char kNoSavePoints[] = " \"\"";
  const auto lacks_save_points = [&] { return takes_value && lines.ends_with("save"); };
  for (const std::string& argument : arguments) {
    if (IsOption(argument) && !takes_value) {
      // `--port 7000` may be one argument.
      absl::StrAppend(&lines, lines.empty() ? "" : "\n", argument.substr(2));
      takes_value = argument.find(' ') == std::string::npos;
    } else if (IsOption(argument) && lacks_save_points()) {
      absl::StrAppend(&lines, kNoSavePoints, "\n", argument.substr(2));
    } else {
      absl::StrAppend(&lines, " ", store::QuoteBytes(argument));
      takes_value = false;
    }
  }
  if (lacks_save_points()) lines += kNoSavePoints;
  return lines.empty() ? lines : lines + "\n";
}

std::function<int()> AddRedisServer(CLI::App& app, const ProgramContext&) {
  app.footer(kFooter);
  return [] { return kExitPassed; };
}

int RunRedisServer(const std::vector<std::string>& arguments, const ProgramContext& context) {
  std::vector<std::string> rest = arguments;
  if (!rest.empty() && (rest[0] == "--version" || rest[0] == "-v")) return PrintVersion(context);
  if (!rest.empty() && (rest[0] == "--help" || rest[0] == "-h")) {
    context.out << kFooter << std::endl;
    return kExitPassed;
  }
  std::string text;
  ServeSettings settings;
  if (!rest.empty() && !rest[0].starts_with('-')) {
    const absl::StatusOr<std::string> file = ReadFile(context.folder / rest[0]);
    if (!file.ok()) {
      context.err << "Fatal error, can't open config file '" << rest[0] << "'" << std::endl;
      return kExitFailed;
    }
    text = *file;
    settings.options.config_file = ConfigFilePath(context.folder, rest[0]);
    rest.erase(rest.begin());
  }
  if (!rest.empty() && rest.back() == "-") {
    rest.pop_back();
    text += ReadAll(std::cin);
  }
  // Redis counts the lines of the arguments from here, too.
  absl::StrAppend(&text, "\n", ArgumentsAsConfiguration(rest));
  settings.loads_keys = true;
  settings.options.engine.server.save_points = {{3600, 1}, {300, 100}, {60, 10'000}};
  const std::vector<ConfigurationError> errors = ReadConfiguration(text, settings);
  if (!errors.empty()) return Refuse(errors.front(), context);
  const int code = StartServer(std::move(settings), {.program = "redis-server"}, context);
  return code == kExitPassed ? kExitPassed : kExitFailed;
}

}  // namespace redouble::inline v0_1::sim
