// Footprint: what one turn of an actor read and wrote on the server.
//
// The turns of two actors commute if neither wrote what the other read or wrote: both orders have
// the same replies and leave the same data. An exhaustive search tries one of the two orders.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_DECISION_FOOTPRINT_H_
#define REDOUBLE_SIM_DECISION_FOOTPRINT_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "redouble/backends/memory/keyspace/access_observer.h"

namespace redouble::inline v0_1::sim {

class Footprint final : public memory::AccessObserver {
 public:
  using Keys = std::set<std::string, std::less<>>;

  void OnRead(std::string_view key) override { Add(reads_, key); }
  void OnWrite(std::string_view key) override { Add(writes_, key); }
  void OnRead(State state) override { read_states_ |= BitOf(state); }
  void OnWrite(State state) override { written_states_ |= BitOf(state); }
  void OnAll() override { all_ = true; }
  // The turn continued this actor: its own, or one that got a reply or a message by it. Turns that
  // continue the same actor do not commute.
  void OnActor(int actor) { actors_ |= BitOf(actor); }

  // Returns true if the two turns commute.
  bool IsIndependentOf(const Footprint& other) const;
  // Adds all accesses of the other footprint. Returns true if there was one that is new.
  bool Merge(const Footprint& other);
  void Clear() { *this = Footprint(); }

  // An invariant is checked after every turn. Of two turns that change what it reads, the order
  // matters, because the invariant sees the state between them. Marks this footprint as one of such
  // a turn if `reader`, the footprint of all checks, reads what this one writes.
  void MarkIfVisibleTo(const Footprint& reader);
  void MarkVisible() { visible_ = true; }
  // The turn commutes with no other one: it broke all connections, or it ended the run.
  void MarkOrdered() { ordered_ = true; }

  // Appends the footprint to a text that ReadFrom can read.
  void AppendTo(std::string& text) const;
  // Reads a footprint from the beginning of the text, and removes it there. The text must be one of
  // AppendTo.
  static Footprint ReadFrom(std::string_view& text);

  const Keys& reads() const { return reads_; }
  const Keys& writes() const { return writes_; }
  // A bit for each State.
  uint8_t read_states() const { return read_states_; }
  uint8_t written_states() const { return written_states_; }
  // The turn may depend on everything, or change everything.
  bool concerns_all() const { return all_ || ordered_; }
  bool is_visible() const { return visible_; }
  // A bit for each of the first 63 actors that the turn continued; the last bit for all further
  // ones.
  uint64_t actors() const { return actors_; }
  bool Continues(int actor) const { return (actors_ & BitOf(actor)) != 0; }
  bool continues_others() const { return (actors_ & (actors_ - 1)) != 0; }

 private:
  static constexpr int kLastBit = 63;

  static void Add(Keys& keys, std::string_view key) {
    if (!keys.contains(key)) keys.emplace(key);
  }
  static uint8_t BitOf(State state) { return static_cast<uint8_t>(1 << static_cast<int>(state)); }
  static uint64_t BitOf(int actor) { return uint64_t{1} << std::min(actor, kLastBit); }
  bool is_empty() const {
    return !all_ && reads_.empty() && writes_.empty() && read_states_ == 0 && written_states_ == 0;
  }
  bool changes_something() const { return all_ || !writes_.empty() || written_states_ != 0; }
  // Returns true if this one writes what the other one reads or writes.
  bool Affects(const Footprint& other) const;

  Keys reads_;
  Keys writes_;
  uint64_t actors_ = 0;
  uint8_t read_states_ = 0;
  uint8_t written_states_ = 0;
  bool all_ = false;
  bool visible_ = false;
  bool ordered_ = false;
};

// What a turn did, for the source of decisions.
struct TurnReport {
  // The actor that took the turn.
  int actor;
  const Footprint& footprint;
  // What all checks of invariants in this run have read so far.
  const Footprint& checks;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_DECISION_FOOTPRINT_H_
