#include "redouble/core/base/random/rng.h"

#include <bit>
#include <cassert>

namespace redouble::inline v0_1::base {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::Below(uint64_t bound) {
  assert(bound > 0);
  // Numbers below `threshold` would make low results more frequent, so that they are drawn again.
  const uint64_t threshold = -bound % bound;
  uint64_t draw = Next();
  while (draw < threshold) draw = Next();
  return draw % bound;
}

int64_t Rng::Between(int64_t low, int64_t high) {
  assert(low <= high);
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = width == 0 ? Next() : Below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Rng::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

bool Rng::Chance(double probability) { return Unit() < probability; }

}  // namespace redouble::inline v0_1::base
