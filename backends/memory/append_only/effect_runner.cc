#include "redouble/backends/memory/append_only/effect_runner.h"

namespace redouble::inline v0_1::memory {

EffectRunner::EffectRunner(Engine& engine, EngineCore::Authority authority)
    : core_(engine.core()), before_(core_.authority()), session_(core_.Connect()) {
  session_->LogIn(core_.acl().program());
  session_->set_trusted(true);
  session_->set_obeyed(true);
  core_.SetAuthority(authority);
}

EffectRunner::~EffectRunner() { core_.SetAuthority(before_); }

bool EffectRunner::Knows(std::span<const std::string_view> words) const {
  store::CommandId id = IdOf(words[0]);
  const EngineCore::Resolution resolution = core_.Resolve(id, words.subspan(1));
  return resolution != EngineCore::Resolution::kUnknownCommand &&
         resolution != EngineCore::Resolution::kUnknownSubcommand;
}

bool EffectRunner::Postpones(std::span<const std::string_view> words) const {
  if (!core_.administration().paused()) return false;
  store::CommandId id = IdOf(words[0]);
  core_.Resolve(id, words.subspan(1));
  return core_.administration().Postpones(*session_, id, words.subspan(1));
}

// Commands that were written as a client sent them have their new names.
store::CommandId EffectRunner::IdOf(std::string_view name) const {
  const store::CommandId id = core_.CommandNamed(name);
  return id == store::CommandId::kUnknown ? store::FindCommand(name) : id;
}

store::Reply EffectRunner::Run(std::span<const std::string_view> words) {
  store::Reply reply = core_.Execute(*session_, IdOf(words[0]), words[0], words.subspan(1));
  core_.FinishCommand();
  core_.DeliverPending();
  return reply;
}

}  // namespace redouble::inline v0_1::memory
