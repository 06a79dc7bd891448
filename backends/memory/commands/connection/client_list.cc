// CLIENT LIST, INFO and KILL.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

enum class ClientType { kNormal, kReplica, kMaster, kPubSub };

std::optional<ClientType> ReadType(const CommandContext& context, std::string_view word) {
  if (IsWord(word, "normal")) return ClientType::kNormal;
  if (IsWord(word, "slave") || IsWord(word, "replica")) return ClientType::kReplica;
  if (IsWord(word, "master")) return ClientType::kMaster;
  if (IsWord(word, "pubsub")) return ClientType::kPubSub;
  const bool has_primary = context.engine().Has(Feature::kClientPrimaryType);
  if (has_primary && IsWord(word, "primary")) return ClientType::kMaster;
  return std::nullopt;
}

ClientType TypeOf(const EngineCore& engine, const SessionCore& session) {
  using Peer = Replication::Peer;
  const Replication* replication = engine.administration().replication();
  const Peer peer = replication == nullptr ? Peer::kClient : replication->PeerOf(session);
  if (peer == Peer::kMaster) return ClientType::kMaster;
  if (peer == Peer::kReplica) return ClientType::kReplica;
  return session.is_subscribed() ? ClientType::kPubSub : ClientType::kNormal;
}

Reply UnknownType(std::string_view word) {
  return Reply::Error("ERR Unknown client type '" + WordInError(word) + "'");
}

// The filters of CLIENT KILL, and of CLIENT LIST where it has them.
struct ClientFilter {
  std::vector<int64_t> ids = {};  // All clients if it is empty.
  std::optional<std::string_view> address = std::nullopt;
  std::optional<std::string_view> local_address = std::nullopt;
  std::optional<ClientType> type = std::nullopt;
  const AclUser* user = nullptr;
  std::optional<int64_t> max_age_s = std::nullopt;
  bool skips_me = true;
};

std::optional<Reply> ReadId(const CommandContext& context, std::string_view word,
                            ClientFilter& filter) {
  const std::optional<int64_t> id = base::ParseInt64(word);
  if (!id && context.engine().Has(Feature::kClientFilters)) return SyntaxError();
  if (!id || *id < 1) return Reply::Error("ERR client-id should be greater than 0");
  filter.ids.push_back(*id);
  return std::nullopt;
}

std::optional<Reply> ReadMaxAge(std::string_view word, ClientFilter& filter) {
  filter.max_age_s = base::ParseInt64(word);
  if (!filter.max_age_s) return Reply::Error("ERR maxage is not an integer or out of range");
  if (*filter.max_age_s < 1) return Reply::Error("ERR maxage should be greater than 0");
  return std::nullopt;
}

// Reads one option and its value. Returns an error, or nullopt.
std::optional<Reply> ReadFilter(const CommandContext& context, std::string_view option,
                                std::string_view value, ClientFilter& filter) {
  if (IsWord(option, "ID")) {
    // The last ID counts where there is no list of them.
    if (!context.engine().Has(Feature::kClientFilters)) filter.ids.clear();
    return ReadId(context, value, filter);
  } else if (IsWord(option, "TYPE")) {
    filter.type = ReadType(context, value);
    if (!filter.type) return UnknownType(value);
  } else if (IsWord(option, "ADDR")) {
    filter.address = value;
  } else if (IsWord(option, "LADDR")) {
    filter.local_address = value;
  } else if (IsWord(option, "USER")) {
    filter.user = context.engine().acl().Find(value);
    if (filter.user == nullptr) {
      return Reply::Error("ERR No such user '" + WordInError(value) + "'");
    }
  } else if (IsWord(option, "MAXAGE") && context.engine().Has(Feature::kClientMaxAge)) {
    return ReadMaxAge(value, filter);
  } else if (IsWord(option, "SKIPME") && (IsWord(value, "yes") || IsWord(value, "no"))) {
    filter.skips_me = IsWord(value, "yes");
  } else {
    return SyntaxError();
  }
  return std::nullopt;
}

// Reads all options. Returns an error, or nullopt.
std::optional<Reply> ReadFilters(const CommandContext& context, Arguments arguments,
                                 ClientFilter& filter) {
  const bool takes_ids = context.engine().Has(Feature::kClientFilters);
  size_t i = 0;
  while (i < arguments.size()) {
    if (i + 1 == arguments.size()) return SyntaxError();
    const bool is_id = IsWord(arguments[i], "ID");
    if (std::optional<Reply> error = ReadFilter(context, arguments[i], arguments[i + 1], filter)) {
      return error;
    }
    i += 2;
    while (takes_ids && is_id && i < arguments.size() && base::ParseInt64(arguments[i])) {
      if (std::optional<Reply> error = ReadId(context, arguments[i++], filter)) return error;
    }
  }
  return std::nullopt;
}

// As Redis, it compares whole seconds of both times.
int64_t AgeSeconds(const EngineCore& engine, const SessionCore& session) {
  constexpr int64_t kMicrosPerSecond = 1'000'000;
  return engine.clock().NowMicros() / kMicrosPerSecond - session.connected_us() / kMicrosPerSecond;
}

bool Matches(const EngineCore& engine, const SessionCore& session, const ClientFilter& filter) {
  const std::vector<int64_t>& ids = filter.ids;
  if (!ids.empty() && std::find(ids.begin(), ids.end(), session.id()) == ids.end()) return false;
  if (filter.max_age_s && AgeSeconds(engine, session) < *filter.max_age_s) return false;
  if (filter.type && TypeOf(engine, session) != *filter.type) return false;
  if (filter.user != nullptr && &session.user() != filter.user) return false;
  if (!filter.address && !filter.local_address) return true;
  const ConnectionFigures figures = FiguresOf(engine, session);
  if (filter.address && figures.address != *filter.address) return false;
  return !filter.local_address || figures.local_address == *filter.local_address;
}

int64_t Kill(CommandContext& context, const ClientFilter& filter) {
  return context.engine().administration().DisconnectIf(
      context.session(), [&](const SessionCore& session) {
        const bool is_me = &session == &context.session();
        return !(is_me && filter.skips_me) && Matches(context.engine(), session, filter);
      });
}

// CLIENT LIST with the filters of CLIENT KILL.
Reply FilteredList(CommandContext& context, Arguments arguments) {
  ClientFilter filter;
  filter.skips_me = false;
  if (std::optional<Reply> error = ReadFilters(context, arguments, filter)) {
    return *std::move(error);
  }
  std::string lines;
  for (const auto& [id, session] : context.engine().administration().sessions()) {
    if (session == &context.session() && filter.skips_me) continue;
    if (!Matches(context.engine(), *session, filter)) continue;
    absl::StrAppend(&lines, ClientLine(context.engine(), *session), "\n");
  }
  return Reply::Verbatim(std::move(lines));
}

}  // namespace

Reply HandleClientInfo(CommandContext& context, Arguments) {
  return Reply::Verbatim(ClientLine(context.engine(), context.session()) + "\n");
}

Reply HandleClientList(CommandContext& context, Arguments arguments) {
  if (context.engine().Has(Feature::kClientFilters)) return FilteredList(context, arguments);
  std::optional<ClientType> type;
  std::optional<std::vector<int64_t>> ids;
  if (arguments.size() == 2 && IsWord(arguments[0], "TYPE")) {
    type = ReadType(context, arguments[1]);
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
  const auto tell = [&](const SessionCore& session) {
    absl::StrAppend(&lines, ClientLine(context.engine(), session), "\n");
  };
  if (ids) {
    for (const int64_t id : *ids) {
      if (const auto found = sessions.find(id); found != sessions.end()) tell(*found->second);
    }
  } else {
    for (const auto& [id, session] : sessions) {
      if (!type || TypeOf(context.engine(), *session) == *type) tell(*session);
    }
  }
  return Reply::Verbatim(std::move(lines));
}

Reply HandleClientKill(CommandContext& context, Arguments arguments) {
  ClientFilter filter;
  if (arguments.size() == 1) {
    filter.address = arguments[0];
    filter.skips_me = false;
    return Kill(context, filter) > 0 ? Reply::Ok() : Reply::Error("ERR No such client");
  }
  if (std::optional<Reply> error = ReadFilters(context, arguments, filter)) {
    return *std::move(error);
  }
  return Reply::Integer(Kill(context, filter));
}

}  // namespace redouble::inline v0_1::memory
