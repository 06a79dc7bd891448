#include "redouble/backends/memory/propagation/propagation.h"

#include <cassert>
#include <span>
#include <utility>

namespace redouble::inline v0_1::memory {

void Propagation::AddSink(EffectSink& sink, EffectTargets targets) {
  sinks_.push_back({.sink = &sink, .targets = targets, .skipped = effects_.size()});
  UpdateWanted();
}

void Propagation::RemoveSink(EffectSink& sink) {
  std::erase_if(sinks_, [&](const Receiver& receiver) { return receiver.sink == &sink; });
  UpdateWanted();
}

void Propagation::set_muted(bool value) {
  is_muted_ = value;
  UpdateWanted();
}

void Propagation::UpdateWanted() {
  wanted_ = EffectTargets::kNobody;
  if (is_muted_) return;
  for (const Receiver& receiver : sinks_) wanted_ = wanted_ | receiver.targets;
}

void Propagation::Add(int db, std::vector<std::string> words, EffectTargets targets) {
  assert(on());
  if ((targets & wanted_) == EffectTargets::kNobody) return;
  effects_.push_back({.db = db, .targets = targets, .words = std::move(words)});
}

void Propagation::AddRemoval(int db, std::string_view word, std::string_view key) {
  Add(db, {std::string(word), std::string(key)});
  if (open_calls_ == 0) EndUnit(/*is_atomic=*/false);
}

void Propagation::AddExpiredFields(int db, std::vector<std::string> words) {
  Add(db, std::move(words));
  if (open_calls_ == 0) EndUnit(/*is_atomic=*/false);
}

void Propagation::EndCall(bool is_atomic) {
  assert(open_calls_ > 0);
  // A single command is atomic by itself.
  if (--open_calls_ == 0 && !effects_.empty()) EndUnit(is_atomic && effects_.size() > 1);
}

void Propagation::EndUnit(bool is_atomic) {
  for (Receiver& receiver : sinks_) {
    const std::span<const Effect> effects =
        std::span(effects_).subspan(std::exchange(receiver.skipped, 0));
    if (!effects.empty()) receiver.sink->OnEffects(effects, is_atomic);
  }
  effects_.clear();
}

}  // namespace redouble::inline v0_1::memory
