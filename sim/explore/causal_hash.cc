#include "redouble/sim/explore/causal_hash.h"

#include <cstddef>
#include <string_view>

namespace redouble::inline v0_1::sim {
namespace {

// FNV-1a: std::hash differs between standard libraries.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

uint64_t MixHash(uint64_t first, uint64_t second) {
  // The finalizer of splitmix64.
  uint64_t mixed = first * 0x9e3779b97f4a7c15 + second + 0x632be59bd9b4e019;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

uint64_t& CausalHash::ActorAt(size_t actor) {
  if (actor >= actors_.size()) actors_.resize(actor + 1);
  return actors_[actor];
}

uint64_t CausalHash::Before(const Object& object, bool writes) {
  return writes ? MixHash(object.written, object.read) : object.written;
}

void CausalHash::Touch(Object& object, bool writes, uint64_t turn) {
  if (writes) {
    object = Object{.written = turn, .read = 0};
  } else {
    object.read += turn;
  }
}

void CausalHash::Begin(uint64_t everything_before) {
  epoch_ = everything_before;
  keys_.clear();
  states_ = {};
  checks_ = {};
}

void CausalHash::AddTurn(int actor, const Footprint& footprint, uint64_t choices) {
  const bool is_ordered = footprint.concerns_all();
  uint64_t turn =
      MixHash(MixHash(is_ordered ? Value() : epoch_, static_cast<uint64_t>(actor)), choices);
  constexpr size_t kBits = 64;
  ActorAt(static_cast<size_t>(actor));
  for (size_t i = 0; i < kBits; ++i) {
    if ((footprint.actors() >> i & 1) != 0) turn = MixHash(turn, ActorAt(i));
  }
  for (const std::string& key : footprint.reads()) {
    turn = MixHash(turn, MixHash(HashOf(key), Before(keys_[key], /*writes=*/false)));
  }
  for (const std::string& key : footprint.writes()) {
    turn = MixHash(turn, MixHash(HashOf(key), Before(keys_[key], /*writes=*/true)));
  }
  for (int state = 0; state < kStates; ++state) {
    const bool writes = (footprint.written_states() >> state & 1) != 0;
    const bool reads = (footprint.read_states() >> state & 1) != 0;
    if (reads || writes) turn = MixHash(turn, Before(states_[state], writes));
  }
  if (footprint.is_visible()) turn = MixHash(turn, Before(checks_, /*writes=*/true));

  if (is_ordered) Begin(turn);
  for (size_t i = 0; i < kBits; ++i) {
    if ((footprint.actors() >> i & 1) != 0) ActorAt(i) = MixHash(turn, i);
  }
  ActorAt(static_cast<size_t>(actor)) = turn;
  for (const std::string& key : footprint.reads()) Touch(keys_[key], /*writes=*/false, turn);
  for (const std::string& key : footprint.writes()) Touch(keys_[key], /*writes=*/true, turn);
  for (int state = 0; state < kStates; ++state) {
    const bool writes = (footprint.written_states() >> state & 1) != 0;
    const bool reads = (footprint.read_states() >> state & 1) != 0;
    if (reads || writes) Touch(states_[state], writes, turn);
  }
  if (footprint.is_visible()) Touch(checks_, /*writes=*/true, turn);
}

void CausalHash::AddClockMove(uint64_t choices) { Begin(MixHash(Value(), choices)); }

uint64_t CausalHash::Value() const {
  uint64_t value = epoch_;
  for (const uint64_t turn : actors_) value = MixHash(value, turn);
  return value;
}

}  // namespace redouble::inline v0_1::sim
