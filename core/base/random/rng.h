// Rng: seeded random numbers that are the same on every machine and compiler.
//
// Everything in the project that is random (schedules, faults, SPOP, jitter) takes an Rng. Equal
// seeds produce equal numbers, also in later versions. The generator is xoshiro256**, seeded by
// splitmix64; the distributions of the standard library are not used, because they differ between
// implementations. Not for secrets.
//
//   base::Rng rng(42);
//   size_t victim = rng.Below(keys.size());
//
// Thread-safety: one thread; Fork() makes an independent generator for another thread or actor.
#ifndef REDOUBLE_CORE_BASE_RANDOM_RNG_H_
#define REDOUBLE_CORE_BASE_RANDOM_RNG_H_

#include <array>
#include <cstdint>

namespace redouble::inline v0_1::base {

class Rng {
 public:
  // Any seed is suitable, including 0.
  explicit Rng(uint64_t seed);

  // Returns 64 random bits.
  uint64_t Next();
  // Returns a uniform number in [0, bound), without modulo bias. Requires bound > 0.
  uint64_t Below(uint64_t bound);
  // Returns a uniform number in [low, high], both included. Requires low <= high.
  int64_t Between(int64_t low, int64_t high);
  // Returns a uniform number in [0, 1) with 53 random bits.
  double Unit();
  // Returns true with `probability`: never for 0 and less, always for 1 and more. Always draws one
  // number.
  bool Chance(double probability);
  // Returns a generator seeded by one number of this one. Their numbers are independent afterwards.
  Rng Fork() { return Rng(Next()); }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_RANDOM_RNG_H_
