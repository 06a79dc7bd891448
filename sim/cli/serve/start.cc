#include "redouble/sim/cli/serve/start.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/spawn/held_clock_page.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/sim/cli/support/version.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/server/process/text_file.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

int Fail(const ProgramContext& context, const StartOptions& start, const absl::Status& status) {
  context.err << start.program << ": " << status.message() << std::endl;
  return absl::IsInvalidArgument(status) ? kExitBadUsage : kExitFailed;
}

bool IsManual(const ServeOptions& options) { return options.clock == ServeOptions::Clock::kManual; }

// The clock page of SpawnedServer's tests; null if the process sees real time.
HeldClockPage* MapClockPage() {
  const char* path = std::getenv(REDOUBLE_HELD_CLOCK_PAGE_VARIABLE);
  if (path == nullptr) return nullptr;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* page = mmap(nullptr, sizeof(HeldClockPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return page == MAP_FAILED ? nullptr : static_cast<HeldClockPage*>(page);
}

// What the server does after each round of background work.
class Upkeep {
 public:
  explicit Upkeep(bool exits_with_parent)
      : parent_(exits_with_parent ? std::optional<pid_t>(getppid()) : std::nullopt) {}

  void set_server(Server& server) { server_ = &server; }

  void operator()() {
    // Tells a test that waits that the server has processed its time.
    if (page_ != nullptr) __atomic_fetch_add(&page_->idle_turns, 1, __ATOMIC_SEQ_CST);
    // An orphan gets another parent.
    if (parent_ && getppid() != *parent_) server_->Stop();
  }

 private:
  HeldClockPage* const page_ = MapClockPage();
  const std::optional<pid_t> parent_;
  Server* server_ = nullptr;
};

// Continues in a child without a terminal. Returns false in the parent, whose work is done.
absl::StatusOr<bool> GoToBackground() {
  const pid_t child = fork();
  if (child < 0) return absl::UnavailableError("cannot go to the background");
  if (child > 0) return false;
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0) dup2(null, standard);
  }
  if (null > STDERR_FILENO) close(null);
  return true;
}

// Replaces the file in one step: a reader sees nothing or all of it.
absl::Status WriteWhole(const std::string& path, const std::string& text) {
  if (ReplaceTextFile(path, text).ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

std::string ReadyText(const Server& server, const ServeSettings& settings) {
  const Json ready{{"port", server.port()},
                   {"unixsocket", settings.options.engine.server.unixsocket},
                   {"addresses", server.addresses()},
                   {"pid", getpid()},
                   {"version", kVersion},
                   {"clock", IsManual(settings.options) ? "manual" : "system"}};
  return ready.dump() + "\n";
}

std::string Banner(const Server& server, const ServeSettings& settings) {
  const std::string clock =
      IsManual(settings.options)
          ? absl::StrCat("manual from ", base::FormatRfc3339(settings.options.start))
          : "system";
  return absl::StrCat("Redouble ", kVersion, ", Redis version=", kRedisVersion,
                      ", port=", server.port(), ", clock=", clock,
                      ", seed=", settings.options.engine.seed, ", PID: ", getpid(),
                      ", just started");
}

class Start {
 public:
  Start(ServeSettings settings, const StartOptions& start, const ProgramContext& context)
      : settings_(std::move(settings)), start_(start), context_(context) {}

  absl::StatusOr<int> Run() {
    REDOUBLE_RETURN_IF_ERROR(EnterFolder());
    if (settings_.daemonize) {
      REDOUBLE_ASSIGN_OR_RETURN(const bool is_child, GoToBackground());
      if (!is_child) return kExitPassed;
    }
    REDOUBLE_RETURN_IF_ERROR(OpenLog());
    Upkeep upkeep(start_.exits_with_parent);
    settings_.options.after_upkeep = [&upkeep] { upkeep(); };
    REDOUBLE_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                              Server::Open(settings_.options));
    upkeep.set_server(*server);
    REDOUBLE_RETURN_IF_ERROR(server->LoadUsers(settings_.users));
    if (start_.prepare) {
      if (const int code = start_.prepare(server->engine()); code != kExitPassed) return code;
    }
    return Serve(*server);
  }

 private:
  absl::Status EnterFolder() {
    std::error_code error;
    if (!settings_.folder.empty()) fs::current_path(settings_.folder, error);
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(settings_.folder, ": ", error.message()));
  }

  absl::Status OpenLog() {
    std::ostream* out = &context_.out;
    if (!settings_.logfile.empty()) {
      file_.open(settings_.logfile, std::ios::app);
      if (!file_) {
        return absl::UnavailableError(absl::StrCat("Can't open the log file: ", settings_.logfile));
      }
      out = &file_;
    }
    settings_.options.log = Log(out, settings_.log_level);
    return absl::OkStatus();
  }

  absl::StatusOr<int> Serve(Server& server) {
    std::vector<std::string> files;
    const absl::Cleanup remover = [&files] {
      std::error_code ignored;
      for (const std::string& file : files) fs::remove(file, ignored);
    };
    if (!settings_.pidfile.empty()) {
      REDOUBLE_RETURN_IF_ERROR(WriteWhole(settings_.pidfile, absl::StrCat(getpid(), "\n")));
      files.push_back(settings_.pidfile);
    }
    // The first line of `redouble serve` says that its keys are loaded.
    if (!start_.announces_addresses) LogStart(server);
    std::vector<std::string> loaded;
    if (settings_.loads_keys) {
      absl::StatusOr<std::vector<std::string>> lines = server.LoadKeys();
      if (absl::IsCancelled(lines.status())) return kExitPassed;
      if (!lines.ok()) return LogFailedLoad(server, lines.status());
      loaded = *std::move(lines);
    }
    if (start_.announces_addresses) {
      context_.out << start_.program << ": accepts connections on " << server.addresses()
                   << std::endl;
      LogStart(server);
    }
    LogReady(server, loaded);
    if (!start_.ready_file.empty()) {
      const std::string path = context_.folder / start_.ready_file;
      REDOUBLE_RETURN_IF_ERROR(WriteWhole(path, ReadyText(server, settings_)));
      files.push_back(path);
    }
    return server.Run() ? kExitPassed : kExitFailed;
  }

  // Test harnesses read the log.
  absl::Status LogFailedLoad(Server& server, const absl::Status& status) {
    WriteLog(server, LogLevel::kWarning, std::string(status.message()));
    if (!server.engine().options().server.appendonly) {
      WriteLog(server, LogLevel::kWarning,
               "Fatal error loading the DB, check server logs. Exiting.");
    }
    return status;
  }

  void WriteLog(Server& server, LogLevel level, const std::string& text) {
    settings_.options.log.Write(level, server.engine().clock().Now(), text);
  }

  // Source: Redis 7.0 server.c, main.
  void LogStart(Server& server) {
    WriteLog(server, LogLevel::kWarning, Banner(server, settings_));
    for (const std::string& warning : settings_.warnings) {
      WriteLog(server, LogLevel::kWarning, warning);
    }
    WriteLog(server, LogLevel::kWarning, "Server initialized");
  }

  // Clients can connect already: test harnesses wait for the last lines.
  void LogReady(Server& server, const std::vector<std::string>& loaded) {
    for (const std::string& line : loaded) WriteLog(server, LogLevel::kNotice, line);
    const std::string& path = settings_.options.engine.server.unixsocket;
    if (server.port() > 0) WriteLog(server, LogLevel::kNotice, "Ready to accept connections");
    if (!path.empty()) {
      WriteLog(server, LogLevel::kNotice,
               "The server is now ready to accept connections at " + path);
    }
  }

  ServeSettings settings_;
  const StartOptions& start_;
  const ProgramContext& context_;
  std::ofstream file_;
};

}  // namespace

int StartServer(ServeSettings settings, const StartOptions& start, const ProgramContext& context) {
  const absl::StatusOr<int> code = Start(std::move(settings), start, context).Run();
  return code.ok() ? *code : Fail(context, start, code.status());
}

}  // namespace redouble::inline v0_1::sim
