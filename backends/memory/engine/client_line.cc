#include "redouble/backends/memory/engine/client_line.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

bool IsUnixSocket(const ConnectionFigures& figures) { return figures.address.starts_with('/'); }

Replication::Peer PeerOf(const EngineCore& engine, const SessionCore& session) {
  const Replication* replication = engine.administration().replication();
  return replication == nullptr ? Replication::Peer::kClient : replication->PeerOf(session);
}

std::string FlagsOf(const EngineCore& engine, const SessionCore& session,
                    const ConnectionFigures& figures, const TrackingMode* tracking) {
  std::string flags;
  const Replication::Peer peer = PeerOf(engine, session);
  if (peer == Replication::Peer::kReplica) flags += 'S';
  if (peer == Replication::Peer::kMaster) flags += 'M';
  if (session.is_monitor()) flags += 'O';
  if (session.is_subscribed()) flags += 'P';
  if (session.in_transaction()) flags += 'x';
  if (session.blocked() || session.postponed()) flags += 'b';
  if (tracking != nullptr) {
    flags += 't';
    if (tracking->redirect_is_broken) flags += 'R';
    if (tracking->broadcasts) flags += 'B';
  }
  if (session.watch_failed()) flags += 'd';
  if (session.hangs_up()) flags += 'c';
  if (IsUnixSocket(figures)) flags += 'U';
  if (session.reads_replica()) flags += 'r';
  if (session.no_evict()) flags += 'e';
  if (session.no_touch()) flags += 'T';
  return flags.empty() ? "N" : flags;
}

// Redis names no user for the connection to a master.
std::string UserOf(const EngineCore& engine, const SessionCore& session) {
  return PeerOf(engine, session) == Replication::Peer::kMaster ? "(superuser)"
                                                               : session.user().name();
}

// What CLIENT CAPA declared, as a field.
std::string_view Capabilities(const EngineCore& engine, const SessionCore& session) {
  if (!engine.Has(Feature::kClientCapabilities)) return "";
  return session.takes_redirects() ? " capa=r" : " capa=";
}

// The words of the queued commands.
size_t QueuedBytes(const SessionCore& session) {
  constexpr size_t kWordBytes = 8;
  size_t bytes = 0;
  for (const SessionCore::QueuedCommand& command : session.queued()) {
    bytes += command.name.size() + kWordBytes;
    for (const std::string_view argument : command.arguments) bytes += argument.size() + kWordBytes;
  }
  return bytes;
}

// What Redis allocates for the queued commands, watched keys, subscriptions and tracked prefixes of
// a client, besides the queued words.
size_t StateBytes(EngineCore& engine, const SessionCore& session) {
  constexpr size_t kQueuedBytes = 24;
  constexpr size_t kWatchedBytes = 56;
  constexpr size_t kNameBytes = 24;
  // Two nodes of a radix tree, by Redis's estimate.
  constexpr size_t kPrefixBytes = 64;
  constexpr size_t kSlotBytes = 8;
  constexpr size_t kFewestSlots = 4;
  const auto count = [&](SubscriptionKind kind) { return session.subscribed(kind).size(); };
  size_t bytes = session.watched().size() * kWatchedBytes;
  if (!session.queued().empty()) {
    bytes += std::bit_ceil(std::max<size_t>(session.queued().size(), 2)) * kQueuedBytes;
  }
  for (const SubscriptionKind kind : {SubscriptionKind::kChannel, SubscriptionKind::kShard}) {
    if (count(kind) == 0) continue;
    bytes +=
        count(kind) * kNameBytes + std::bit_ceil(std::max(count(kind), kFewestSlots)) * kSlotBytes;
  }
  if (const TrackingMode* mode = engine.tracking().ModeOf(session.id())) {
    bytes += mode->prefixes.size() * kPrefixBytes;
  }
  return bytes + count(SubscriptionKind::kPattern) * kNameBytes;
}

// The output that waits, in Redis's terms: a first buffer, and a list of further ones.
struct Output {
  size_t buffer_bytes;
  size_t list_length;
  size_t list_bytes;
};
Output OutputOf(const SessionCore& session, const ConnectionFigures& figures) {
  constexpr size_t kListedBytes = 16 * 1024;
  const size_t buffer_bytes = std::min(figures.output_bytes, figures.reply_room_bytes);
  const size_t list_bytes = figures.output_bytes - buffer_bytes + session.pending_push_bytes();
  return {.buffer_bytes = buffer_bytes,
          .list_length = (list_bytes + kListedBytes - 1) / kListedBytes,
          .list_bytes = list_bytes};
}

size_t TotalBytes(EngineCore& engine, const SessionCore& session,
                  const ConnectionFigures& figures) {
  return figures.query_bytes + figures.query_free_bytes + figures.argument_bytes +
         figures.reply_room_bytes + OutputOf(session, figures).list_bytes + QueuedBytes(session) +
         StateBytes(engine, session) + sizeof(SessionCore);
}

}  // namespace

ConnectionFigures FiguresOf(const EngineCore& engine, const SessionCore& session) {
  Host* host = engine.administration().host();
  return host == nullptr ? ConnectionFigures() : host->FiguresOf(session);
}

bool IsReplica(const EngineCore& engine, const SessionCore& session) {
  return PeerOf(engine, session) == Replication::Peer::kReplica;
}

size_t BytesOf(EngineCore& engine, const SessionCore& session) {
  return TotalBytes(engine, session, FiguresOf(engine, session));
}

std::string ClientLine(EngineCore& engine, const SessionCore& session) {
  const ConnectionFigures figures = FiguresOf(engine, session);
  const Output output = OutputOf(session, figures);
  const int64_t now_us = engine.clock().NowMicros();
  const auto count = [&](SubscriptionKind kind) { return session.subscribed(kind).size(); };
  const std::string_view command = session.last_command() == store::CommandId::kUnknown
                                       ? "NULL"
                                       : store::SpecOf(session.last_command()).name;
  const TrackingMode* tracking = engine.tracking().ModeOf(session.id());
  const int64_t redirect = tracking == nullptr ? -1 : tracking->redirect.value_or(0);
  std::string line = absl::StrCat(
      "id=", session.id(), " addr=", figures.address, " laddr=", figures.local_address,
      " fd=", figures.descriptor, " name=", session.name(),
      " age=", (now_us - session.connected_us()) / kMicrosPerSecond,
      " idle=", (now_us - session.last_used_us()) / kMicrosPerSecond,
      " flags=", FlagsOf(engine, session, figures, tracking),
      base::ToAbsl(Capabilities(engine, session)), " db=", session.db_index(),
      " sub=", count(SubscriptionKind::kChannel), " psub=", count(SubscriptionKind::kPattern),
      " ssub=", count(SubscriptionKind::kShard), " multi=",
      session.in_transaction() ? static_cast<int64_t>(session.queued().size()) : int64_t{-1});
  if (engine.Has(Feature::kClientWatches)) {
    absl::StrAppend(&line, " watch=", session.watched().size());
  }
  absl::StrAppend(&line, " qbuf=", figures.query_bytes, " qbuf-free=", figures.query_free_bytes,
                  " argv-mem=", figures.argument_bytes, " multi-mem=", QueuedBytes(session),
                  " rbs=", figures.reply_room_bytes, " rbp=", figures.reply_peak_bytes,
                  " obl=", output.buffer_bytes, " oll=", output.list_length,
                  " omem=", output.list_bytes, " tot-mem=", TotalBytes(engine, session, figures),
                  " events=", figures.waits_to_write ? "rw" : "r", " cmd=", base::ToAbsl(command),
                  " user=", UserOf(engine, session), " redir=", redirect,
                  " resp=", session.protocol());
  if (engine.Has(Feature::kClientLibrary)) {
    absl::StrAppend(&line, " lib-name=", session.library().name,
                    " lib-ver=", session.library().version);
  }
  if (engine.Has(Feature::kClientIoThread)) absl::StrAppend(&line, " io-thread=0");
  return line;
}

}  // namespace redouble::inline v0_1::memory
