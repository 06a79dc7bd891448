#include "redouble/sim/explore/conflicts.h"

#include <utility>

namespace redouble::inline v0_1::sim {
namespace {

constexpr int kMaxActors = 64;
constexpr int kStates = 8;  // The bits of Footprint::read_states.

uint64_t BitOf(int actor) { return uint64_t{1} << actor; }

}  // namespace

bool Conflicts::AddUser(Users& users, int actor, bool writes) {
  uint64_t& set = writes ? users.writers : users.readers;
  if ((set & BitOf(actor)) != 0) return false;
  set |= BitOf(actor);
  return ((users.readers | users.writers) & ~BitOf(actor)) != 0;
}

bool Conflicts::Add(int actor, const Footprint& footprint) {
  if (nothing_is_private_) return false;
  if (actor >= kMaxActors || footprint.concerns_all()) {
    nothing_is_private_ = true;
    return true;
  }
  bool grew = false;
  for (const std::string& key : footprint.reads()) {
    grew = AddUser(keys_[key], actor, /*writes=*/false) || grew;
  }
  for (const std::string& key : footprint.writes()) {
    grew = AddUser(keys_[key], actor, /*writes=*/true) || grew;
  }
  for (int state = 0; state < kStates; ++state) {
    const int bit = 1 << state;
    if ((footprint.read_states() & bit) != 0) {
      grew = AddUser(states_[state], actor, /*writes=*/false) || grew;
    }
    if ((footprint.written_states() & bit) != 0) {
      grew = AddUser(states_[state], actor, /*writes=*/true) || grew;
    }
  }
  return grew;
}

bool Conflicts::OthersConflict(const Users& users, int actor, bool writes) {
  const uint64_t others = users.writers | (writes ? users.readers : 0);
  return (others & ~BitOf(actor)) != 0;
}

bool Conflicts::IsPrivate(int actor, const Footprint& footprint) const {
  if (nothing_is_private_ || footprint.concerns_all() || footprint.is_visible() ||
      footprint.continues_others()) {
    return false;
  }
  const auto conflicts = [&](const std::string& key, bool writes) {
    const auto found = keys_.find(key);
    return found != keys_.end() && OthersConflict(found->second, actor, writes);
  };
  for (const std::string& key : footprint.reads()) {
    if (conflicts(key, /*writes=*/false)) return false;
  }
  for (const std::string& key : footprint.writes()) {
    if (conflicts(key, /*writes=*/true)) return false;
  }
  for (const auto& [state, users] : states_) {
    const int bit = 1 << state;
    const bool reads = (footprint.read_states() & bit) != 0;
    const bool writes = (footprint.written_states() & bit) != 0;
    if ((reads || writes) && OthersConflict(users, actor, writes)) return false;
  }
  return true;
}

}  // namespace redouble::inline v0_1::sim
