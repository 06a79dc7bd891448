// Vocabulary: the words of random commands.
//
// Pools are small on purpose: keys collide, types clash, numbers stand at the edges, deadlines
// meet. A pool of something new (members, stream ids, ...) is a function here, or in the file of
// its group when no other group needs it.
//
// Deterministic: equal seeds give equal words.
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
#include "core/base/rng.h"
#include "tests/support/words.h"

namespace redouble::tests {

class Vocabulary {
 public:
  // `start`: when the program begins.
  Vocabulary(base::Rng& rng, absl::Time start) : rng_(rng), start_(start) {}

  static std::span<const int> AllDatabases();

  std::string Key();
  // `count` keys, behind one another in a command.
  Words Keys(size_t count);
  // What may be the value of a string, field or member: short and long, numbers and not.
  std::string Value();
  // Elements of collections: few, so that they meet again.
  std::string Member();
  // A 64-bit number, mostly small, sometimes at the edges.
  std::string Integer();
  // Mostly within -6..6: positions, counts.
  std::string SmallInteger();
  // 1..max.
  std::string Count(int64_t max = 5);
  // A floating-point number in one of its many spellings.
  std::string Float();
  // A TTL: mostly some milliseconds up to a few seconds, sometimes none or beyond all bounds.
  std::string TtlMillis();
  std::string TtlSeconds();
  // A moment near the program's time, sometimes at the edges.
  std::string UnixMillis();
  std::string UnixSeconds();
  // A database's index, mostly one of AllDatabases().
  std::string Db();
  std::string Pattern();
  // Of the given words, one.
  std::string Choice(std::initializer_list<std::string_view> words);
  // A word that is none: numbers with blanks, empty, binary, overlong.
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

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_VOCABULARY_H_
