#include "redouble/sim/cli/record/record.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/sim/cli/record/monitor_line.h"
#include "redouble/sim/cli/record/monitor_stream.h"
#include "redouble/sim/cli/record/scenario_writer.h"
#include "redouble/sim/cli/record/trace_reader.h"
#include "redouble/sim/cli/support/scenario_files.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble record redis://127.0.0.1 --out case.json           until Ctrl-C\n"
    "  redouble record unix:///run/r.sock --for 10s --out case.json\n"
    "  redis-cli MONITOR > monitor.txt\n"
    "  redouble record monitor.txt --out case.json                 from a file\n"
    "  redouble record trace.jsonl --out case.json                 from the trace of a program\n"
    "  redouble replay case.json                                   runs the recording on the "
    "engine\n"
    "\n"
    "A scenario starts with an empty database: without one, the recorded replies differ. Secrets "
    "of\n"
    "AUTH, HELLO, ACL SETUSER, CONFIG SET and MIGRATE are masked; generated ids get names.\n"
    "MONITOR halves the throughput of a server.\n"
    "Exit codes: 0 written, 1 the server cannot be recorded, 2 bad usage or no commands.";

// How often the recording looks at signals and at its end.
constexpr absl::Duration kPatience = absl::Milliseconds(100);
// How long lines that have arrived already are read after the end, if the server is busy.
constexpr absl::Duration kDrainTime = absl::Seconds(1);

struct RecordArguments {
  std::string source;
  std::string out;
  std::string limit;  // --for
  int64_t count = 0;
  std::string name;
  bool keep_ids = false;
};

volatile std::sig_atomic_t g_interrupted = 0;
void Interrupt(int) { g_interrupted = 1; }

// Lets Ctrl-C end the recording instead of the program.
class InterruptGuard {
 public:
  InterruptGuard() {
    g_interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = Interrupt;
    sigaction(SIGINT, &action, &int_before_);
    sigaction(SIGTERM, &action, &term_before_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &int_before_, nullptr);
    sigaction(SIGTERM, &term_before_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction int_before_ = {};
  struct sigaction term_before_ = {};
};

bool IsUri(const std::string& source) { return absl::StrContains(source, "://"); }

bool IsFull(const RecordArguments& arguments, const ScenarioWriter& writer) {
  return arguments.count > 0 && static_cast<int64_t>(writer.commands()) >= arguments.count;
}

// Real time limits how long a live server is watched; the scenario's times are the server's.
absl::Status RecordServer(const RecordArguments& arguments, absl::Duration limit,
                          const ProgramContext& context, ScenarioWriter& writer) {
  REDOUBLE_ASSIGN_OR_RETURN(const redis::Options options, redis::Options::Parse(arguments.source));
  const InterruptGuard guard;
  REDOUBLE_ASSIGN_OR_RETURN(MonitorStream stream, MonitorStream::Open(options));
  context.out << "redouble record: recording; Ctrl-C ends it" << std::endl;
  const auto begun = std::chrono::steady_clock::now();
  absl::Duration end = limit;
  bool ending = false;
  while (!IsFull(arguments, writer)) {
    const absl::Duration elapsed = absl::FromChrono(std::chrono::steady_clock::now() - begun);
    if (!ending && (g_interrupted != 0 || elapsed > limit)) {
      ending = true;
      end = elapsed + kDrainTime;
    }
    const std::optional<std::string> text = stream.Next(ending ? absl::ZeroDuration() : kPatience);
    if (!text || (ending && (text->empty() || elapsed > end))) break;
    if (text->empty()) continue;
    REDOUBLE_ASSIGN_OR_RETURN(MonitorLine line, ParseMonitorLine(*text));
    writer.Add(std::move(line));
  }
  return absl::OkStatus();
}

absl::Status RecordFile(const RecordArguments& arguments, const ProgramContext& context,
                        ScenarioWriter& writer) {
  const absl::StatusOr<std::string> text = ReadFile(context.folder / arguments.source);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.source, ": ", text.status().message()));
  }
  std::istringstream lines(*text);
  TraceReader trace;
  for (std::string line; std::getline(lines, line) && !IsFull(arguments, writer);) {
    // The first line of redis-cli.
    if (line.empty() || line == "OK") continue;
    std::vector<MonitorLine> commands;
    if (line.starts_with('{')) {
      REDOUBLE_ASSIGN_OR_RETURN(commands, trace.Read(line));
    } else {
      REDOUBLE_ASSIGN_OR_RETURN(commands.emplace_back(), ParseMonitorLine(line));
    }
    for (MonitorLine& command : commands) writer.Add(std::move(command));
  }
  if (trace.unanswered() > 0) {
    context.out << "redouble record: " << trace.unanswered() << " requests got no reply: left out"
                << std::endl;
  }
  return absl::OkStatus();
}

absl::Status Write(const RecordArguments& arguments, const ProgramContext& context,
                   const ScenarioWriter& writer) {
  if (writer.commands() == 0) return absl::InvalidArgumentError("no commands were recorded");
  std::ofstream file(context.folder / arguments.out, std::ios::binary | std::ios::trunc);
  file << writer.Text();
  file.close();
  if (!file) return absl::UnavailableError(absl::StrCat("cannot write ", arguments.out));
  context.out << "redouble record: " << writer.commands() << " commands in " << arguments.out
              << std::endl;
  for (const std::string& note : writer.Notes()) {
    context.out << "redouble record: " << note << std::endl;
  }
  return absl::OkStatus();
}

absl::Status Record(const RecordArguments& arguments, const ProgramContext& context) {
  absl::Duration limit = absl::InfiniteDuration();
  if (!arguments.limit.empty() && !absl::ParseDuration(arguments.limit, &limit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--for ", arguments.limit, ": expected a duration such as 10s or 1m30s"));
  }
  ScenarioWriter writer({.name = arguments.name.empty() ? "a recording" : arguments.name,
                         .keep_ids = arguments.keep_ids});
  REDOUBLE_RETURN_IF_ERROR(IsUri(arguments.source) ? RecordServer(arguments, limit, context, writer)
                                                   : RecordFile(arguments, context, writer));
  return Write(arguments, context, writer);
}

int RunRecord(const RecordArguments& arguments, const ProgramContext& context) {
  const absl::Status status = Record(arguments, context);
  if (status.ok()) return kExitPassed;
  context.err << "redouble record: " << status.message() << "\n";
  return absl::IsInvalidArgument(status) ? kExitBadUsage : kExitFailed;
}

}  // namespace

std::function<int()> AddRecord(CLI::App& app, const ProgramContext& context) {
  const auto arguments = std::make_shared<RecordArguments>();
  app.footer(kFooter);
  app.add_option(
         "SOURCE", arguments->source,
         "redis://[user:password@]host[:port], unix:///path, or a file: the lines of MONITOR, "
         "or a trace")
      ->required();
  app.add_option("--out", arguments->out, "Write the scenario to this file")->required();
  app.add_option("--for", arguments->limit, "Stop after this time: 10s, 1m30s");
  app.add_option("--count", arguments->count, "Stop after this many commands")
      ->check(CLI::PositiveNumber);
  app.add_option("--name", arguments->name, "The scenario's name");
  app.add_flag("--keep-ids", arguments->keep_ids, "Keep generated ids as they are");
  return [arguments, &context] { return RunRecord(*arguments, context); };
}

}  // namespace redouble::inline v0_1::sim
