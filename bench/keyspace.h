// A keyspace with keys of every kind, and how long a call on one of them takes: what the programs
// that measure commands one by one share.
//
//   LoadKeyspace(store, 1'000'000);
//   Names names(1'000'000, /*seed=*/1);
//   MedianNanoseconds([&] { names.Next(); key = names.Key('s'); }, [&] { Get(store, key); });
#ifndef REDOUBLE_BENCH_KEYSPACE_H_
#define REDOUBLE_BENCH_KEYSPACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/store/store.h"

namespace redouble::bench {

using Words = std::vector<std::string>;

// Fills the store with so many keys, of each kind as many (command_rows.h says which there are).
void LoadKeyspace(store::Store& store, int64_t keys);

// Sends a command. Ends the program when there is no reply; an error is one.
void Call(store::Store& store, const Words& words);

// Draws keys, and fills in the names that a line leaves open.
class Names {
 public:
  Names(int64_t keys, uint64_t seed);

  // Draws the keys of the next call.
  void Next();
  // Of the kind of that letter; the second of two neighbours when `is_second`.
  std::string Key(char kind, bool is_second = false) const;
  // One that does not exist, unless a call has made it, and a number that no call before had.
  std::string NewKey() const;
  int64_t number() const { return calls_; }
  Words FillIn(std::string_view line) const;
  // Lines that are divided by ";".
  std::vector<Words> FillInAll(std::string_view lines) const;

 private:
  const int64_t per_kind_;
  base::Rng rng_;
  int64_t number_ = 0;
  int64_t calls_ = 0;
};

// The median, of some batches, of the nanoseconds that `call` takes. `prepare` comes before each
// call and `finish` behind it, outside the time. One that takes long is called less often.
double MedianNanoseconds(
    const std::function<void()>& prepare, const std::function<void()>& call,
    const std::function<void()>& finish = [] {});

}  // namespace redouble::bench

#endif  // REDOUBLE_BENCH_KEYSPACE_H_
