#include "redouble/backends/memory/propagation/call_effects.h"

namespace redouble::inline v0_1::memory {

void CallEffects::Also(int db, std::vector<std::string> words) {
  propagation_.Add(db, std::move(words));
}

void CallEffects::Finish(const Call& call) {
  if (is_suppressed_) return;
  EffectTargets targets = call.has_changed ? EffectTargets::kAll : forced_;
  if (call.from_script) targets = targets & propagation_.script_targets();
  if (targets == EffectTargets::kNobody) return;
  std::vector<std::string> words = std::move(replacement_);
  if (words.empty()) {
    words.reserve(1 + call.arguments.size());
    words.emplace_back(call.name);
    words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  }
  propagation_.Add(call.db, std::move(words), targets);
}

void CallEffects::FinishServed(int db) {
  if (!replacement_.empty()) propagation_.Add(db, std::move(replacement_));
}

}  // namespace redouble::inline v0_1::memory
