#include "redouble/backends/redis/fsm/connect_machine.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::redis {
namespace {

// The replies of a handshake are short; a peer that sends more is not Redis.
constexpr size_t kMaxReplyBytes = 64 * 1024;

constexpr std::string_view kTracking = "TRACKING";

// Errors of HELLO that AUTH would get as well, by their beginning. After any other error the
// handshake without HELLO is tried.
constexpr std::string_view kIsFull = "ERR max number of clients";
constexpr std::string_view kDecisive[] = {"WRONGPASS ", "NOAUTH ",     "LOADING ",
                                          "DENIED ",    "MASTERDOWN ", kIsFull};

bool IsDecisive(const std::string& error) {
  return std::any_of(std::begin(kDecisive), std::end(kDecisive),
                     [&](std::string_view begin) { return error.starts_with(begin); });
}

std::string_view View(const std::string& text) { return text; }

store::Protocol ProtocolOf(const Options& options) {
  return options.protocol == RespVersion::kResp3 ? store::Protocol::kResp3
                                                 : store::Protocol::kResp2;
}

}  // namespace

ConnectMachine::ConnectMachine(const Options& options)
    : options_(options), reader_(kMaxReplyBytes, ProtocolOf(options)) {
  BuildHandshake();
}

void ConnectMachine::Add(Step step, std::initializer_list<std::string_view> words) {
  store::Command command = store::Command::Named(*words.begin());
  for (const std::string_view* word = words.begin() + 1; word != words.end(); ++word) {
    // A word without data is absent. An empty password has data and is sent.
    if (word->data() != nullptr) command.Add(*word);
  }
  AppendCommand(command, handshake_);
  steps_.push_back(step);
}

void ConnectMachine::BuildHandshake() {
  constexpr std::string_view kNone;
  const bool logs_in = options_.password.has_value();
  const bool has_name = !options_.client_name.empty();
  const std::string_view user = options_.user.empty() ? "default" : std::string_view(options_.user);
  Add({logs_in ? "AUTH" : "HELLO", {}},
      {"HELLO", options_.protocol == RespVersion::kResp3 ? "3" : "2", logs_in ? "AUTH" : kNone,
       logs_in ? user : kNone, logs_in ? std::string_view(*options_.password) : kNone,
       has_name ? "SETNAME" : kNone, has_name ? std::string_view(options_.client_name) : kNone});
  if (options_.database != 0) {
    Add({"SELECT", "OK"}, {"SELECT", absl::StrCat(options_.database)});
  }
  if (options_.readonly) Add({"READONLY", "OK"}, {"READONLY"});
  if (options_.cache_bytes > 0) AddTracking();
  Add({"PING", "PONG"}, {"PING"});
}

void ConnectMachine::AddTracking() {
  store::Command command = store::Command::Named("CLIENT");
  command.Add(kTracking).Add("ON");
  if (options_.cache_broadcast) command.Add("BCAST");
  for (const std::string& prefix : options_.cache_prefixes) command.Add("PREFIX").Add(prefix);
  AppendCommand(command, handshake_);
  steps_.push_back({kTracking, "OK"});
}

void ConnectMachine::BuildHandshakeWithoutHello() {
  handshake_.clear();
  steps_.clear();
  answered_ = 0;
  // Servers older than ACLs know AUTH with one argument only.
  if (options_.password && options_.user.empty()) {
    Add({"AUTH", "OK"}, {"AUTH", *options_.password});
  } else if (options_.password) {
    Add({"AUTH", "OK"}, {"AUTH", options_.user, *options_.password});
  }
  if (!options_.client_name.empty()) {
    Add({"CLIENT SETNAME", "OK"}, {"CLIENT", "SETNAME", options_.client_name});
  }
  if (options_.database != 0) {
    Add({"SELECT", "OK"}, {"SELECT", absl::StrCat(options_.database)});
  }
  if (options_.readonly) Add({"READONLY", "OK"}, {"READONLY"});
  Add({"PING", "PONG"}, {"PING"});
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
      if (options_.tls.enabled) {
        phase_ = Phase::kEncrypting;
        return {ConnectAction::Kind::kEncrypt};
      }
      [[fallthrough]];
    case Phase::kEncrypting:
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
  store::ReplyReader::Outcome outcome = reader_.Next(reply);
  for (; outcome == store::ReplyReader::Outcome::kReply; outcome = reader_.Next(reply)) {
    if (reply.shape() == store::Reply::Shape::kPush) continue;
    // A surplus reply is reported as unread input below.
    if (answered_ == steps_.size()) break;
    if (!CheckReply(steps_[answered_], reply)) return {ConnectAction::Kind::kFinish};
    ++answered_;
  }
  if (outcome == store::ReplyReader::Outcome::kFailed) {
    return Finish(store::ProtocolError(View(absl::StrCat(
        options_.AddressUri(), " does not speak Redis's protocol: ", reader_.status().message()))));
  }
  if (answered_ < steps_.size()) return {ConnectAction::Kind::kRead};
  const bool surplus = outcome == store::ReplyReader::Outcome::kReply;
  // The rest of a push may follow.
  if (!surplus && !reader_.idle() && protocol_ == store::Protocol::kResp3) {
    return {ConnectAction::Kind::kRead};
  }
  if (surplus || !reader_.idle()) {
    return Finish(store::ProtocolError(
        View(absl::StrCat(options_.AddressUri(), " sent more replies than it was asked for"))));
  }
  return EndReplies();
}

ConnectAction ConnectMachine::EndReplies() {
  if (!hello_is_refused_) return Finish(absl::OkStatus());
  hello_is_refused_ = false;
  BuildHandshakeWithoutHello();
  phase_ = Phase::kWriting;
  return {ConnectAction::Kind::kWrite, handshake_};
}

// Returns false, with the machine finished, if the reply is not the expected one.
bool ConnectMachine::CheckReply(const Step& step, const store::Reply& reply) {
  // The steps after a refused HELLO are repeated in the second handshake.
  if (hello_is_refused_) return true;
  const bool is_hello = step.expected.empty();
  if (is_hello && reply.is_array()) {
    TakeHello(reply);
    return true;
  }
  if (is_hello && reply.is_error() && !IsDecisive(reply.text())) {
    hello_is_refused_ = true;
    return true;
  }
  if (!is_hello && reply == store::Reply::Status(step.expected)) {
    tracks_ |= step.name == kTracking;
    return true;
  }
  if (step.name == kTracking && reply.is_error()) return true;
  const std::string name(step.name);
  if (!reply.is_error()) {
    Finish(store::ProtocolError(View(
        absl::StrCat(options_.AddressUri(), " answered ", name, " with ", reply.DebugString()))));
    return false;
  }
  // A user without permission for PING is authenticated nevertheless.
  if (step.name == "PING" && absl::StartsWith(reply.text(), "NOPERM ")) return true;
  const std::string text =
      absl::StrCat(WithoutSecrets(reply.text()), " (", name, " at ", options_.AddressUri(), ")");
  // A server with too many clients closes the connection, like one that cannot be reached.
  Finish(absl::StartsWith(text, base::ToAbsl(kIsFull)) ? store::NotSentError(View(text))
                                                       : store::ServerError(View(text)));
  return false;
}

// Redis quotes the arguments of a command that it does not know, possibly cut short.
std::string ConnectMachine::WithoutSecrets(std::string text) const {
  text.resize(std::min(text.size(), text.find(", with args")));
  if (!options_.password || options_.password->empty()) return text;
  return absl::StrReplaceAll(text, {{*options_.password, "***"}});
}

void ConnectMachine::TakeHello(const store::Reply& reply) {
  if (reply.shape() == store::Reply::Shape::kMap) protocol_ = store::Protocol::kResp3;
  const std::vector<store::Reply>& map = reply.elements();
  for (size_t i = 0; i + 1 < map.size(); i += 2) {
    if (!map[i].is_bulk() || !map[i + 1].is_bulk()) continue;
    if (map[i].text() == "role") role_ = map[i + 1].text();
    if (map[i].text() == "version") server_version_ = map[i + 1].text();
  }
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
    case Phase::kEncrypting:
      return "shake hands for TLS";
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

}  // namespace redouble::inline v0_1::redis
