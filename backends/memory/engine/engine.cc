#include "redouble/backends/memory/engine/engine.h"

#include <utility>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::inline v0_1::memory {

Engine::Engine(base::VirtualClock& clock, EngineOptions options)
    : clock_(clock), core_(std::make_unique<EngineCore>(clock, std::move(options))) {}

Engine::~Engine() = default;

std::unique_ptr<Session> Engine::Connect() { return core_->Connect(); }

std::unique_ptr<Session> Engine::ConnectTrusted() {
  std::unique_ptr<SessionCore> session = core_->Connect();
  session->LogIn(core_->acl().program());
  session->set_trusted(true);
  return session;
}

const EngineOptions& Engine::options() const { return core_->options(); }

void Engine::Configure(EngineOptions options) {
  core_->Configure(std::move(options));
  core_->FinishCommand();
  core_->DeliverPending();
}

void Engine::Reseed(uint64_t seed) { core_->Reseed(seed); }

void Engine::set_active_expire(bool value) { core_->set_active_expire(value); }

void Engine::SetKeyspaceListener(KeyspaceListener listener) {
  core_->SetKeyspaceListener(std::move(listener));
}

int64_t Engine::expired_keys() const { return core_->expired_keys(); }

int64_t Engine::evicted_keys() const { return core_->evicted_keys(); }

void Engine::AddEffectSink(EffectSink& sink, EffectTargets targets) {
  core_->propagation().AddSink(sink, targets);
}

void Engine::RemoveEffectSink(EffectSink& sink) { core_->propagation().RemoveSink(sink); }

int64_t Engine::changes() const { return core_->changes(); }

}  // namespace redouble::inline v0_1::memory
