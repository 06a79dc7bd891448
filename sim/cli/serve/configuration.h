// Configuration: redis.conf for the program, with the names and error texts of Redis.
//
// A name is, in this order, a directive of the process (the table in configuration.cc), a parameter
// of Redis without an effect, which is accepted with a warning (backends/memory/server/
// kept_parameters.h), or another parameter of CONFIG. Anything else is an error. All errors of a
// text are found, not only the first.
//
//   ServeSettings settings;
//   for (const ConfigurationError& error : ReadConfiguration("port 7000\nfoo bar\n", settings)) {
//     // line 2, text "foo bar", message "Bad directive or wrong number of arguments"
//   }
//
// Thread-safety: one thread. Source: Redis 7.0 config.c, loadServerConfigFromString.
#ifndef REDOUBLE_SIM_CLI_SERVE_CONFIGURATION_H_
#define REDOUBLE_SIM_CLI_SERVE_CONFIGURATION_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/acl/acl_file.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/sim/server/process/log.h"
#include "redouble/sim/server/server.h"

namespace redouble::inline v0_1::sim {

// The defaults of a served process, in which clients may not use DEBUG, as in Redis.
inline ServeOptions ProcessDefaults() {
  ServeOptions options;
  options.engine.server.enable_debug_command = memory::ProtectedAccess::kNo;
  return options;
}

// What a served process is started with.
struct ServeSettings {
  ServeOptions options = ProcessDefaults();
  LogLevel log_level = LogLevel::kNotice;
  // Paths; empty: standard output, no file, the current folder.
  std::string logfile = {};
  std::string pidfile = {};
  std::string folder = {};
  // Whether the keys in dir/dbfilename are loaded before the first client connects.
  bool loads_keys = false;
  // Whether the process goes to the background when it is started.
  bool daemonize = false;
  // Whether the server is a node of a cluster, and what that node announces.
  bool cluster_enabled = false;
  memory::ClusterAddress cluster_node = memory::ClusterOptions().shards[0].master;
  // The `user` directives.
  std::vector<memory::UserDirective> users = {};
  // Lines for the log: what was accepted and does nothing.
  std::vector<std::string> warnings = {};
};

struct ConfigurationError {
  int line;  // Counted from 1.
  std::string text;
  std::string message;  // Redis's.
};

// Reads the lines of redis.conf into `settings`; later lines win. Settings of wrong lines keep
// their values.
std::vector<ConfigurationError> ReadConfiguration(std::string_view text, ServeSettings& settings);

// Returns the absolute path of a configuration file, for CONFIG REWRITE and INFO. A relative name
// is one in `folder`.
std::string ConfigFilePath(const std::filesystem::path& folder, const std::string& name);

// Parses a time of a manual clock: RFC 3339, or milliseconds since the epoch. Errors:
// InvalidArgument.
absl::StatusOr<absl::Time> ParseStart(const std::string& text);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SERVE_CONFIGURATION_H_
