#include "redouble/sim/cli/programs/program_operations.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/sim/cli/programs/program_process.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::sim {
namespace {

using Words = std::vector<std::string>;

// Commands after which the server sends what is no reply to a command, or sends none.
constexpr std::string_view kUnsupported[] = {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE",
                                             "MONITOR",   "SYNC",       "PSYNC"};
constexpr std::string_view kUnsupportedOfClient[] = {"REPLY", "TRACKING"};

bool IsWord(std::string_view word, std::string_view name) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(name));
}

bool IsOneOf(std::string_view word, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (IsWord(word, name)) return true;
  }
  return false;
}

absl::Status CheckSupported(const Words& words) {
  const bool is_of_client = IsWord(words[0], "CLIENT") && words.size() > 1;
  if (!IsOneOf(words[0], kUnsupported) &&
      !(is_of_client && IsOneOf(words[1], kUnsupportedOfClient))) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("the program sends ", words[0],
                                               is_of_client ? absl::StrCat(" ", words[1]) : "",
                                               ", which programs that are explored may not"));
}

// Carries the commands of one program to the world, and the replies back.
class ProgramRun {
 public:
  // `connect` and `program` must outlive the run.
  ProgramRun(const Connector& connect, ProgramProcess& program)
      : connect_(connect), program_(program) {}

  // Runs the program to its end. Errors: those of ProgramProcess::Next; Unimplemented for a command
  // that is not supported.
  base::Task<absl::Status> Run() {
    while (true) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const ProgramEvent event, program_.Next());
      if (event.kind == ProgramEvent::kExited) co_return absl::OkStatus();
      if (event.kind == ProgramEvent::kClosed) {
        connections_.erase(event.connection);
        continue;
      }
      REDOUBLE_CO_RETURN_IF_ERROR(CheckSupported(event.words));
      co_await Serve(event.connection, event.words);
    }
  }

 private:
  struct Connection {
    std::unique_ptr<store::Store> store;
    store::Protocol protocol = store::Protocol::kResp2;
  };

  base::Task<void> Serve(int number, const Words& words) {
    Connection& connection = connections_[number];
    if (connection.store == nullptr) connection.store = connect_();
    store::Command command = store::Command::Named(words[0]);
    command.AddAll(std::span(words).subspan(1));
    const absl::StatusOr<store::Reply> reply = co_await connection.store->Execute(command);
    if (!reply.ok()) {
      // The connection is broken, and the next request of the store would open another one.
      program_.Close(number);
      connections_.erase(number);
      co_return;
    }
    if (!reply->is_error()) NoteProtocol(words, connection);
    std::string bytes;
    store::AppendReply(*reply, connection.protocol, bytes);
    program_.Send(number, bytes);
    if (IsWord(words[0], "QUIT")) {
      program_.Close(number);
      connections_.erase(number);
    }
  }

  static void NoteProtocol(const Words& words, Connection& connection) {
    if (IsWord(words[0], "HELLO") && words.size() > 1) {
      connection.protocol = words[1] == "3" ? store::Protocol::kResp3 : store::Protocol::kResp2;
    } else if (IsWord(words[0], "RESET")) {
      connection.protocol = store::Protocol::kResp2;
    }
  }

  const Connector& connect_;
  ProgramProcess& program_;
  std::map<int, Connection> connections_;
};

std::string_view LastLine(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const size_t line_end = text.rfind('\n');
  return line_end == std::string_view::npos ? text : text.substr(line_end + 1);
}

OperationResult ResultOf(const ProgramProcess& program, const Words& command, bool may_fail) {
  const std::string output = program.Output();
  const std::optional<int> status = program.ExitStatus();
  if (!status || (*status != 0 && !may_fail)) {
    return absl::InternalError(absl::StrCat(absl::StrJoin(command, " "), " ",
                                            program.DescribeExit(), ": ",
                                            base::ToAbsl(LastLine(output))));
  }
  return Json{{"exit_status", *status}, {"output", EncodeBytes(output)}};
}

std::vector<std::pair<std::string, std::string>> ReadEnvironment(ArgumentReader& arguments) {
  std::vector<std::pair<std::string, std::string>> environment;
  const Json* const variables = arguments.Find("environment");
  if (variables == nullptr) return environment;
  if (!variables->is_object()) {
    arguments.Refuse("environment", "expected an object of texts");
    return environment;
  }
  for (const auto& [name, value] : variables->items()) {
    if (!value.is_string()) {
      arguments.Refuse("environment", absl::StrCat("the value of ", name, " is not a text"));
      continue;
    }
    environment.emplace_back(name, value.get<std::string>());
  }
  return environment;
}

base::Task<OperationResult> RunProgram(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  ProgramOptions options;
  options.command = reader.Strings("command");
  if (options.command.empty()) reader.Refuse("command", "expected a program and its arguments");
  options.environment = ReadEnvironment(reader);
  const bool may_fail = reader.BoolOr("may_fail", false);
  const int64_t patience_s = reader.IntegerOr("patience_s", 10);
  if (patience_s < 1) reader.Refuse("patience_s", "expected at least 1");
  options.patience = absl::Seconds(patience_s);
  if (!context.connect) reader.Refuse("command", "programs are run by actors of world files only");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const absl::StatusOr<std::unique_ptr<ProgramProcess>> program = ProgramProcess::Start(options);
  absl::Status run = program.status();
  if (run.ok()) {
    ProgramRun commands(context.connect, **program);
    run = co_await commands.Run();
  }
  if (!run.ok()) {
    reader.Refuse("command",
                  absl::StrCat(absl::StrJoin(options.command, " "), ": ", run.message()));
    co_return reader.Finish();
  }
  co_return ResultOf(**program, options.command, may_fail);
}

}  // namespace

OperationTable ProgramOperations() {
  OperationTable table;
  table.Add(kRunProgram, RunProgram);
  return table;
}

}  // namespace redouble::inline v0_1::sim
