#include "redouble/backends/memory/engine/invalidation.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::Reply;

constexpr std::string_view kChannel = "__redis__:invalidate";

SessionCore* FindSession(EngineCore& engine, int64_t id) {
  const auto& sessions = engine.administration().sessions();
  const auto found = sessions.find(id);
  return found == sessions.end() ? nullptr : found->second;
}

size_t MaxTrackedKeys(const EngineCore& engine) {
  return static_cast<size_t>(engine.options().tracking_table_max_keys);
}

Reply KeysReply(const std::optional<std::vector<std::string>>& keys) {
  if (!keys) return Reply::Nil();
  std::vector<Reply> names;
  for (const std::string& key : *keys) names.push_back(Reply::Bulk(key));
  return Reply::Array(std::move(names));
}

void Send(EngineCore& engine, const Tracking::Invalidation& told) {
  SessionCore* session = FindSession(engine, told.client);
  TrackingMode* mode = engine.tracking().ModeOf(told.client);
  if (session == nullptr || mode == nullptr) return;
  if (mode->redirect) {
    SessionCore* const source = session;
    session = FindSession(engine, *mode->redirect);
    if (session == nullptr) {
      mode->redirect_is_broken = true;
      if (source->protocol() == 3) {
        engine.PushLater(*source, Reply::Push({Reply::Bulk("tracking-redir-broken"),
                                               Reply::Integer(*mode->redirect)}));
      }
      return;
    }
  }
  if (session->protocol() == 3) {
    engine.PushLater(*session, Reply::Push({Reply::Bulk("invalidate"), KeysReply(told.keys)}));
  } else if (mode->redirect && session->is_subscribed()) {
    engine.PushLater(*session, Reply::Push({Reply::Bulk("message"), Reply::Bulk(kChannel),
                                            KeysReply(told.keys)}));
  }
}

}  // namespace

void RememberReads(EngineCore& engine, const SessionCore& session, CommandId id,
                   std::span<const std::string_view> arguments) {
  const TrackingMode* mode = engine.tracking().ModeOf(session.id());
  if (mode == nullptr || mode->broadcasts) return;
  if (mode->reads == TrackingMode::Reads::kOptIn && !mode->caching) return;
  if (mode->reads == TrackingMode::Reads::kOptOut && mode->caching) return;
  const store::CommandSpec& spec = store::SpecOf(id);
  if (spec.Has(store::command_flag::kPubSub)) return;
  const std::optional<std::vector<size_t>> keys = store::KeyIndexes(spec, arguments);
  if (!keys) return;
  for (const size_t index : *keys) {
    engine.tracking().Remember(session.id(), arguments[index], MaxTrackedKeys(engine));
  }
}

void SendInvalidations(EngineCore& engine) {
  // The limit may be smaller than when the keys were read.
  engine.tracking().Limit(MaxTrackedKeys(engine));
  for (const Tracking::Invalidation& told : engine.tracking().TakeInvalidations()) {
    Send(engine, told);
  }
}

}  // namespace redouble::inline v0_1::memory
