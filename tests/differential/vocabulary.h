// Vocabulary: the words of random commands.
//
// The pools are small on purpose, so that keys collide, types clash, numbers are at their limits
// and deadlines coincide. A new pool (members, stream ids, ...) is a function here, or in the file
// of its group if no other group needs it.
//
// Equal seeds yield equal words.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_VOCABULARY_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_VOCABULARY_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {

class Vocabulary {
 public:
  // `start` is the time at which the program begins.
  Vocabulary(base::Rng& rng, absl::Time start) : rng_(rng), start_(start) {}

  static std::span<const int> AllDatabases();

  std::string Key();
  // `count` keys for consecutive arguments.
  Words Keys(size_t count);
  // A value of a string, field or member: short or long, a number or not.
  std::string Value();
  // An element of a collection. There are few, so that they repeat.
  std::string Member();
  // A 64-bit integer, mostly small, sometimes at the limits.
  std::string Integer();
  // Mostly from -6 to 6: a position or a count.
  std::string SmallInteger();
  // From 1 to max.
  std::string Count(int64_t max = 5);
  // A floating-point number in one of its many spellings.
  std::string Float();
  // A TTL: mostly from a few milliseconds to a few seconds, sometimes 0, negative or out of range.
  std::string TtlMillis();
  std::string TtlSeconds();
  // A time near the program's time, sometimes at the limits.
  std::string UnixMillis();
  std::string UnixSeconds();
  // A database index, mostly one of AllDatabases().
  std::string Db();
  std::string Pattern();
  // One of the given words.
  std::string Choice(std::initializer_list<std::string_view> words);
  // A malformed word: a number with spaces, an empty, binary or overlong word.
  std::string Junk();

  bool Chance(double probability) { return rng_.Chance(probability); }
  base::Rng& rng() { return rng_; }

 private:
  std::string PickFrom(std::span<const std::string_view> pool);

  base::Rng& rng_;
  const absl::Time start_;
};

// Appends the words of `more`.
inline void Append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_VOCABULARY_H_
