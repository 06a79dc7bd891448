// Footprint: what one turn of an actor read and wrote on the server.
//
// The turns of two actors commute if neither wrote what the other read or wrote: both orders have
// the same replies and leave the same data. An exhaustive search tries one of the two orders.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_DECISION_FOOTPRINT_H_
#define REDOUBLE_SIM_DECISION_FOOTPRINT_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "redouble/backends/memory/keyspace/access_observer.h"

namespace redouble::sim {

class Footprint final : public memory::AccessObserver {
 public:
  void OnRead(std::string_view key) override { Add(reads_, key); }
  void OnWrite(std::string_view key) override { Add(writes_, key); }
  void OnRead(State state) override { read_states_ |= BitOf(state); }
  void OnWrite(State state) override { written_states_ |= BitOf(state); }
  void OnAll() override { all_ = true; }

  // Returns true if the turns of two actors commute.
  bool IsIndependentOf(const Footprint& other) const;
  // Adds all accesses of the other footprint.
  void Merge(const Footprint& other);
  void Clear() { *this = Footprint(); }

  // An invariant is checked after every turn. Of two turns that change what it reads, the order
  // matters, because the invariant sees the state between them. Marks this footprint as one of such
  // a turn if `reader`, the footprint of all checks, reads what this one writes.
  void MarkIfVisibleTo(const Footprint& reader);
  void MarkVisible() { visible_ = true; }

 private:
  using Keys = std::set<std::string, std::less<>>;

  static void Add(Keys& keys, std::string_view key) {
    if (!keys.contains(key)) keys.emplace(key);
  }
  static uint8_t BitOf(State state) { return static_cast<uint8_t>(1 << static_cast<int>(state)); }
  bool is_empty() const {
    return !all_ && reads_.empty() && writes_.empty() && read_states_ == 0 && written_states_ == 0;
  }
  bool changes_something() const { return all_ || !writes_.empty() || written_states_ != 0; }
  // Returns true if this one writes what the other one reads or writes.
  bool Affects(const Footprint& other) const;

  Keys reads_;
  Keys writes_;
  uint8_t read_states_ = 0;
  uint8_t written_states_ = 0;
  bool all_ = false;
  bool visible_ = false;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_DECISION_FOOTPRINT_H_
