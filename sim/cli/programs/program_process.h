// ProgramProcess: a program in any language that talks to Redis, run so that each of its commands
// waits.
//
// The program finds its server, an address of this process, in the variables REDIS_URL, REDIS_HOST
// and REDIS_PORT. Next() returns what it does next, and the program goes on only once its command
// has a reply. Between two calls it waits for that reply.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const auto program, ProgramProcess::Start({.command =
//   {"./worker"}})); REDOUBLE_ASSIGN_OR_RETURN(const ProgramEvent event, program->Next()); if
//   (event.kind == ProgramEvent::kCommand) program->Send(event.connection, "+OK\r\n");
//
// A program that does not repeat itself, because it has threads or reads the time, has other events
// in each run.
//
// Errors: those of starting a program and of sockets. The program, and what it has started, is
// killed with the object.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_PROCESS_H_
#define REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_PROCESS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/spawn/child_process.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::sim {

struct ProgramOptions {
  // The program, found as a shell finds it, and its arguments. Not empty.
  std::vector<std::string> command;
  // Variables added to the environment of this process.
  std::vector<std::pair<std::string, std::string>> environment = {};
  // How long the program may compute (real time) until its next event.
  absl::Duration patience = absl::Seconds(10);
};

struct ProgramEvent {
  enum Kind {
    kCommand,  // It has sent a command.
    kClosed,   // It has closed a connection.
    kExited,   // It has ended, and all that it sent was reported.
  };
  Kind kind;
  // The connection of kCommand and kClosed; they count from 0 in the order in which the program
  // opens them.
  int connection = 0;
  std::vector<std::string> words = {};  // Of kCommand, not empty.
};

class ProgramProcess {
 public:
  // Starts the program. Errors: NotFound if there is no such program; those of ChildProcess::Start.
  static absl::StatusOr<std::unique_ptr<ProgramProcess>> Start(const ProgramOptions& options);

  ~ProgramProcess();
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;

  // Waits for the next event. Commands of one connection come in their order. If there is no
  // connection, Send and Close have no effect. Errors: DeadlineExceeded if the program neither
  // sends a command nor ends in time; InvalidArgument if it sends bytes that are not the Redis
  // protocol.
  absl::StatusOr<ProgramEvent> Next();

  // Sends bytes to the program; those that it does not read yet are sent by Next().
  void Send(int connection, std::string_view bytes);
  // Closes a connection. Next() does not report that.
  void Close(int connection);

  // How the program has ended, and its status, if it has one: see ChildProcess.
  std::string DescribeExit() const { return process_->DescribeExit(); }
  std::optional<int> ExitStatus() const { return process_->ExitStatus(); }
  // What the program has written to its standard output and standard error so far.
  std::string Output() const;

 private:
  struct Connection;

  ProgramProcess(redis::PrivateFolder folder, int listener, absl::Duration patience);

  absl::StatusOr<std::optional<ProgramEvent>> TakeEvent();
  // Waits up to `timeout` until a socket is ready, and reads and writes what is possible.
  void MoveBytes(absl::Duration timeout);
  void Accept();

  const redis::PrivateFolder folder_;
  const int listener_;
  const absl::Duration patience_;
  int next_connection_ = 0;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::unique_ptr<redis::ChildProcess> process_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_PROGRAMS_PROGRAM_PROCESS_H_
