// CLIENT LIST, INFO and KILL: who is connected.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/memory/commands/argument.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

ConnectionFigures FiguresOf(const Engine& engine, const Session& session) {
  Host* host = engine.administration().host();
  return host == nullptr ? ConnectionFigures() : host->FiguresOf(session);
}

bool IsUnixSocket(const ConnectionFigures& figures) { return figures.address.starts_with('/'); }

std::string FlagsOf(const Session& session, const ConnectionFigures& figures) {
  std::string flags;
  if (session.is_monitor()) flags += 'O';
  if (session.is_subscribed()) flags += 'P';
  if (session.in_transaction()) flags += 'x';
  if (session.blocked() || session.postponed()) flags += 'b';
  if (session.watch_failed()) flags += 'd';
  if (session.hangs_up()) flags += 'c';
  if (IsUnixSocket(figures)) flags += 'U';
  if (session.no_evict()) flags += 'e';
  return flags.empty() ? "N" : flags;
}

size_t QueuedBytes(const Session& session) {
  size_t bytes = 0;
  for (const Session::QueuedCommand& command : session.queued()) {
    for (const std::string& argument : command.arguments) bytes += argument.size();
  }
  return bytes;
}

// The line of CLIENT LIST, without its end.
std::string LineOf(const Engine& engine, const Session& session) {
  const ConnectionFigures figures = FiguresOf(engine, session);
  const int64_t now_us = engine.clock().NowMicros();
  const auto count = [&](SubscriptionKind kind) { return session.subscribed(kind).size(); };
  const std::string_view command = session.last_command() == store::CommandId::kUnknown
                                       ? "NULL"
                                       : store::SpecOf(session.last_command()).name;
  const size_t queued_bytes = QueuedBytes(session);
  const size_t total_bytes = figures.query_bytes + figures.query_free_bytes +
                             figures.output_room_bytes + queued_bytes + sizeof(Session);
  return absl::StrCat(
      "id=", session.id(), " addr=", figures.address, " laddr=", figures.local_address,
      " fd=", figures.descriptor, " name=", session.name(),
      " age=", (now_us - session.connected_us()) / kMicrosPerSecond,
      " idle=", (now_us - session.last_used_us()) / kMicrosPerSecond,
      " flags=", FlagsOf(session, figures), " db=", session.db_index(),
      " sub=", count(SubscriptionKind::kChannel), " psub=", count(SubscriptionKind::kPattern),
      " ssub=", count(SubscriptionKind::kShard), " multi=",
      session.in_transaction() ? static_cast<int64_t>(session.queued().size()) : int64_t{-1},
      " qbuf=", figures.query_bytes, " qbuf-free=", figures.query_free_bytes,
      " argv-mem=0 multi-mem=", queued_bytes, " rbs=", figures.output_room_bytes,
      " rbp=", figures.output_room_bytes, " obl=", figures.output_bytes, " oll=0 omem=0",
      " tot-mem=", total_bytes, " events=", figures.waits_to_write ? "rw" : "r",
      " cmd=", base::ToAbsl(command), " user=default redir=-1 resp=", session.protocol());
}

// What CLIENT calls the kinds of clients; only two of them can be here.
enum class ClientType { kNormal, kReplica, kMaster, kPubSub };

std::optional<ClientType> ReadType(std::string_view word) {
  if (IsWord(word, "normal")) return ClientType::kNormal;
  if (IsWord(word, "slave") || IsWord(word, "replica")) return ClientType::kReplica;
  if (IsWord(word, "master")) return ClientType::kMaster;
  if (IsWord(word, "pubsub")) return ClientType::kPubSub;
  return std::nullopt;
}

ClientType TypeOf(const Session& session) {
  return session.is_subscribed() ? ClientType::kPubSub : ClientType::kNormal;
}

Reply UnknownType(std::string_view word) {
  return Reply::Error("ERR Unknown client type '" + WordInError(word) + "'");
}

// What the words of CLIENT KILL ask for.
struct KillFilter {
  std::optional<int64_t> id = std::nullopt;
  std::optional<std::string_view> address = std::nullopt;
  std::optional<std::string_view> local_address = std::nullopt;
  std::optional<ClientType> type = std::nullopt;
  bool skips_me = true;
};

// One option and its value; an error, or none.
std::optional<Reply> ReadKillOption(std::string_view option, std::string_view value,
                                    KillFilter& filter) {
  if (IsWord(option, "ID")) {
    filter.id = base::ParseInt64(value);
    if (!filter.id || *filter.id < 1) {
      return Reply::Error("ERR client-id should be greater than 0");
    }
  } else if (IsWord(option, "TYPE")) {
    filter.type = ReadType(value);
    if (!filter.type) return UnknownType(value);
  } else if (IsWord(option, "ADDR")) {
    filter.address = value;
  } else if (IsWord(option, "LADDR")) {
    filter.local_address = value;
  } else if (IsWord(option, "USER")) {
    if (value != "default") {
      return Reply::Error("ERR No such user '" + WordInError(value) + "'");
    }
  } else if (IsWord(option, "SKIPME") && (IsWord(value, "yes") || IsWord(value, "no"))) {
    filter.skips_me = IsWord(value, "yes");
  } else {
    return SyntaxError();
  }
  return std::nullopt;
}

bool Matches(const Engine& engine, const Session& session, const KillFilter& filter) {
  if (filter.id && session.id() != *filter.id) return false;
  if (filter.type && TypeOf(session) != *filter.type) return false;
  if (!filter.address && !filter.local_address) return true;
  const ConnectionFigures figures = FiguresOf(engine, session);
  if (filter.address && figures.address != *filter.address) return false;
  return !filter.local_address || figures.local_address == *filter.local_address;
}

// How many were killed. Who asks for it hears that first.
int64_t Kill(CommandContext& context, const KillFilter& filter) {
  std::vector<Session*> killed;
  for (const auto& [id, session] : context.engine().administration().sessions()) {
    const bool is_me = session == &context.session();
    if (is_me && filter.skips_me) continue;
    if (Matches(context.engine(), *session, filter)) killed.push_back(session);
  }
  for (Session* session : killed) {
    session == &context.session() ? session->HangUp() : session->Disconnect();
  }
  return static_cast<int64_t>(killed.size());
}

}  // namespace

Reply HandleClientInfo(CommandContext& context, Arguments) {
  return Reply::Verbatim(LineOf(context.engine(), context.session()) + "\n");
}

Reply HandleClientList(CommandContext& context, Arguments arguments) {
  std::optional<ClientType> type;
  std::optional<std::vector<int64_t>> ids;
  if (arguments.size() == 2 && IsWord(arguments[0], "TYPE")) {
    type = ReadType(arguments[1]);
    if (!type) return UnknownType(arguments[1]);
  } else if (arguments.size() >= 2 && IsWord(arguments[0], "ID")) {
    ids.emplace();
    for (const std::string_view word : arguments.subspan(1)) {
      const std::optional<int64_t> id = base::ParseInt64(word);
      if (!id) return Reply::Error("ERR Invalid client ID");
      ids->push_back(*id);
    }
  } else if (!arguments.empty()) {
    return SyntaxError();
  }
  const auto& sessions = context.engine().administration().sessions();
  std::string lines;
  const auto tell = [&](const Session& session) {
    absl::StrAppend(&lines, LineOf(context.engine(), session), "\n");
  };
  if (ids) {
    for (const int64_t id : *ids) {
      if (const auto found = sessions.find(id); found != sessions.end()) tell(*found->second);
    }
  } else {
    for (const auto& [id, session] : sessions) {
      if (!type || TypeOf(*session) == *type) tell(*session);
    }
  }
  return Reply::Verbatim(std::move(lines));
}

Reply HandleClientKill(CommandContext& context, Arguments arguments) {
  KillFilter filter;
  if (arguments.size() == 1) {
    filter.address = arguments[0];
    filter.skips_me = false;
    return Kill(context, filter) > 0 ? Reply::Ok() : Reply::Error("ERR No such client");
  }
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) return SyntaxError();
    if (std::optional<Reply> error = ReadKillOption(arguments[i], arguments[i + 1], filter)) {
      return *std::move(error);
    }
  }
  return Reply::Integer(Kill(context, filter));
}

}  // namespace redouble::memory
