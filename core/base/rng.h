// Rng: seeded random numbers, equal on every machine and compiler.
//
// Everything in the project that draws (schedules, faults, SPOP, jitter) takes an Rng; equal seeds
// give equal draws for ever. The generator is xoshiro256** with its state filled by splitmix64;
// the standard library's distributions are not used, because they differ between libraries. Not
// for secrets.
//
//   base::Rng rng(42);
//   size_t victim = rng.Below(keys.size());
//
// Thread-safety: one thread; Fork() gives another actor a generator of its own.
#ifndef REDOUBLE_CORE_BASE_RNG_H_
#define REDOUBLE_CORE_BASE_RNG_H_

#include <array>
#include <cstdint>

namespace redouble::base {

class Rng {
 public:
  // Any seed is as good as another, 0 included.
  explicit Rng(uint64_t seed);

  // 64 random bits.
  uint64_t Next();
  // Uniform in [0, bound), without modulo bias. bound > 0.
  uint64_t Below(uint64_t bound);
  // Uniform in [low, high], both included. low <= high.
  int64_t Between(int64_t low, int64_t high);
  // Uniform in [0, 1) with 53 bits.
  double Unit();
  // True with `probability` (0 and less: never, 1 and more: always); takes one draw in every case.
  bool Chance(double probability);
  // A generator of its own, seeded by one draw: what it gives does not depend on what this one
  // gives later, nor the other way round.
  Rng Fork() { return Rng(Next()); }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_RNG_H_
