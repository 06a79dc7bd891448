#include "backends/redis/fsm/connect_machine.h"

#include <initializer_list>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/redis/protocol/command_writer.h"
#include "core/base/string_bridge.h"
#include "core/store/command.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

// The replies of a handshake are short; whoever sends more is no Redis.
constexpr size_t kMaxReplyBytes = 64 * 1024;

std::string_view View(const std::string& text) { return text; }

}  // namespace

ConnectMachine::ConnectMachine(const Options& options)
    : options_(options), reader_(kMaxReplyBytes) {
  BuildHandshake();
}

void ConnectMachine::BuildHandshake() {
  const auto add = [&](Step step, std::initializer_list<std::string_view> words) {
    store::Command command = store::Command::Named(*words.begin());
    for (const std::string_view* word = words.begin() + 1; word != words.end(); ++word) {
      command.Add(*word);
    }
    AppendCommand(command, handshake_);
    steps_.push_back(step);
  };
  // AUTH with one argument is understood by servers older than ACLs, too.
  if (options_.password && options_.user.empty()) {
    add({"AUTH", "OK"}, {"AUTH", *options_.password});
  } else if (options_.password) {
    add({"AUTH", "OK"}, {"AUTH", options_.user, *options_.password});
  }
  if (!options_.client_name.empty()) {
    add({"CLIENT SETNAME", "OK"}, {"CLIENT", "SETNAME", options_.client_name});
  }
  if (options_.database != 0) {
    add({"SELECT", "OK"}, {"SELECT", absl::StrCat(options_.database)});
  }
  add({"PING", "PONG"}, {"PING"});
}

ConnectAction ConnectMachine::Resume(const ConnectEvent& event) {
  if (finished_) return {ConnectAction::Kind::kFinish};
  switch (event.kind) {
    case ConnectEvent::Kind::kStarted:
    case ConnectEvent::Kind::kDone:
      return PerformNext();
    case ConnectEvent::Kind::kReceived:
      return Read(event.text);
    case ConnectEvent::Kind::kFailed:
      return Finish(Failure(event.text));
    case ConnectEvent::Kind::kTimer:
      return Finish(TimeoutStatus());
  }
  return {ConnectAction::Kind::kFinish};
}

ConnectAction ConnectMachine::PerformNext() {
  switch (phase_) {
    case Phase::kIdle:
      if (std::holds_alternative<TcpAddress>(options_.address)) {
        phase_ = Phase::kResolving;
        return {ConnectAction::Kind::kResolve};
      }
      [[fallthrough]];
    case Phase::kResolving:
      phase_ = Phase::kConnecting;
      return {ConnectAction::Kind::kConnect};
    case Phase::kConnecting:
      phase_ = Phase::kWriting;
      return {ConnectAction::Kind::kWrite, handshake_};
    case Phase::kWriting:
    case Phase::kReading:
      phase_ = Phase::kReading;
      return {ConnectAction::Kind::kRead};
  }
  return {ConnectAction::Kind::kFinish};
}

ConnectAction ConnectMachine::Read(std::string_view bytes) {
  reader_.Feed(bytes);
  store::Reply reply;
  ReplyReader::Outcome outcome = reader_.Next(reply);
  for (; outcome == ReplyReader::Outcome::kReply; outcome = reader_.Next(reply)) {
    // A reply to nothing: below, it is found as left over.
    if (answered_ == steps_.size()) break;
    if (!CheckReply(steps_[answered_], reply)) return {ConnectAction::Kind::kFinish};
    ++answered_;
  }
  if (outcome == ReplyReader::Outcome::kFailed) {
    return Finish(store::ProtocolError(View(absl::StrCat(
        options_.AddressUri(), " does not speak Redis's protocol: ", reader_.status().message()))));
  }
  if (answered_ < steps_.size()) return {ConnectAction::Kind::kRead};
  if (outcome == ReplyReader::Outcome::kReply || !reader_.idle()) {
    return Finish(store::ProtocolError(
        View(absl::StrCat(options_.AddressUri(), " sent more replies than it was asked for"))));
  }
  return Finish(absl::OkStatus());
}

// False, and finished, when the reply is not the one that the step needs.
bool ConnectMachine::CheckReply(const Step& step, const store::Reply& reply) {
  if (reply == store::Reply::Status(step.expected)) return true;
  const std::string name(step.name);
  if (!reply.is_error()) {
    Finish(store::ProtocolError(View(
        absl::StrCat(options_.AddressUri(), " answered ", name, " with ", reply.DebugString()))));
    return false;
  }
  // A user who may not PING is logged in all the same.
  if (step.name == "PING" && absl::StartsWith(reply.text(), "NOPERM ")) return true;
  Finish(store::ServerError(
      View(absl::StrCat(reply.text(), " (", name, " at ", options_.AddressUri(), ")"))));
  return false;
}

ConnectAction ConnectMachine::Finish(absl::Status status) {
  finished_ = true;
  status_ = std::move(status);
  return {ConnectAction::Kind::kFinish};
}

std::string ConnectMachine::PhaseText() const {
  switch (phase_) {
    case Phase::kIdle:
    case Phase::kResolving:
      return "resolve its name";
    case Phase::kConnecting:
      return "connect";
    case Phase::kWriting:
      return "send the handshake";
    case Phase::kReading:
      break;
  }
  return absl::StrCat("get the answer to ", base::ToAbsl(steps_[answered_].name));
}

absl::Status ConnectMachine::Failure(std::string_view reason) const {
  return store::NotSentError(
      View(absl::StrCat("cannot connect to ", options_.AddressUri(), ": ", base::ToAbsl(reason),
                        " (while trying to ", PhaseText(), ")")));
}

absl::Status ConnectMachine::TimeoutStatus() const {
  return store::NotSentError(
      View(absl::StrCat("cannot connect to ", options_.AddressUri(), " within ",
                        absl::FormatDuration(options_.connect_timeout), " (while trying to ",
                        PhaseText(), ")")),
      absl::StatusCode::kDeadlineExceeded);
}

}  // namespace redouble::redis
