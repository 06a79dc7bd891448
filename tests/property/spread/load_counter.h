// LoadCounter: counts what the tags of a system cost a Redis Cluster.
//
//   LoadCounter counter(*session);
//   ... set the system up ...
//   counter.Begin();
//   ... the load ...
//   counter.CountKeys();
//   const Spread spread = counter.SpreadOver(/*masters=*/6, Measure::kCommands);
//
// Thread-safety: one thread. For tests only.
#ifndef REDOUBLE_TESTS_PROPERTY_SPREAD_LOAD_COUNTER_H_
#define REDOUBLE_TESTS_PROPERTY_SPREAD_LOAD_COUNTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/forwarding_store.h"

namespace redouble::inline v0_1::tests {

// What is counted: keys at the end; commands, a script or a command of a transaction as one; the
// bytes of the words of these commands; the memory of the keys at the end.
enum class Measure : size_t { kKeys, kCommands, kRequestBytes, kStoredBytes };
inline constexpr std::array kMeasures = {Measure::kKeys, Measure::kCommands, Measure::kRequestBytes,
                                         Measure::kStoredBytes};

// By measure.
using Load = std::array<int64_t, kMeasures.size()>;

// How the load of the nodes differs from even: 0.1 is 10 % more.
struct Spread {
  double least = 0;
  double most = 0;
};

class LoadCounter final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void Submit(store::Request& request) override;

  // Forgets all commands so far.
  void Begin() { loads_.clear(); }
  // Adds the keys of the wrapped store, and their memory.
  void CountKeys();

  // By tag: the hash tag of a key or, without one, the key.
  const std::map<std::string, Load, std::less<>>& loads() const { return loads_; }
  double Total(Measure measure) const;
  // Forgets the tags that begin with `prefix`, and returns how many there were.
  size_t LeaveOut(std::string_view prefix);
  // The part of the busiest tag in the whole load.
  double BusiestPart(Measure measure) const;
  // The load of nodes that share the slots evenly.
  Spread SpreadOver(int masters, Measure measure) const;

 private:
  Load& LoadOf(std::string_view key);

  std::map<std::string, Load, std::less<>> loads_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_PROPERTY_SPREAD_LOAD_COUNTER_H_
