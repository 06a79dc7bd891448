// A keyspace with keys of every type, and the time of a call on one of them; shared by the programs
// that measure commands one by one.
//
//   LoadKeyspace(store, 1'000'000);
//   Names names(1'000'000, /*seed=*/1);
//   MedianNanoseconds([&] { names.Next(); key = names.Key('s'); }, [&] { Get(store, key); });
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BENCH_KEYSPACE_H_
#define REDOUBLE_BENCH_KEYSPACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::bench {

using Words = std::vector<std::string>;

// Adds `keys` keys to the store, the same number of each kind (see command_rows.h).
void LoadKeyspace(store::Store& store, int64_t keys);

// Sends a command. Exits the program if there is no reply; an error reply is accepted.
void Call(store::Store& store, const Words& words);

// Draws keys, and replaces the placeholders of a row by their names.
class Names {
 public:
  Names(int64_t keys, uint64_t seed);

  // Draws the keys of the next call.
  void Next();
  // A key of the given kind; the next key of that kind if `is_second`.
  std::string Key(char kind, bool is_second = false) const;
  // A key that does not exist unless a call created it, with a number that no earlier call used.
  std::string NewKey() const;
  int64_t number() const { return calls_; }
  Words FillIn(std::string_view line) const;
  // The commands of `lines`, which are separated by ";".
  std::vector<Words> FillInAll(std::string_view lines) const;

 private:
  const int64_t per_kind_;
  base::Rng rng_;
  int64_t number_ = 0;
  int64_t calls_ = 0;
};

// The median over batches of the nanoseconds of `call`. `prepare` runs before each call and
// `finish` after it, outside the measured time. A slow call runs less often.
double MedianNanoseconds(
    const std::function<void()>& prepare, const std::function<void()>& call,
    const std::function<void()>& finish = [] {});

}  // namespace redouble::inline v0_1::bench

#endif  // REDOUBLE_BENCH_KEYSPACE_H_
