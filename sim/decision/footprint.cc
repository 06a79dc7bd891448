#include "redouble/sim/decision/footprint.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace redouble::inline v0_1::sim {

bool Footprint::Affects(const Footprint& other) const {
  if ((written_states_ & (other.read_states_ | other.written_states_)) != 0) return true;
  return std::any_of(writes_.begin(), writes_.end(), [&](const std::string& key) {
    return other.reads_.contains(key) || other.writes_.contains(key);
  });
}

bool Footprint::IsIndependentOf(const Footprint& other) const {
  if (ordered_ || other.ordered_) return false;
  if ((actors_ & other.actors_) != 0) return false;
  if (visible_ && other.visible_) return false;
  if (is_empty() || other.is_empty()) return true;
  if (all_ || other.all_) return false;
  return !Affects(other) && !other.Affects(*this);
}

bool Footprint::Merge(const Footprint& other) {
  const size_t keys = reads_.size() + writes_.size();
  const auto flags = [&] {
    return std::tuple(actors_, read_states_, written_states_, all_, visible_, ordered_);
  };
  const auto before = flags();
  reads_.insert(other.reads_.begin(), other.reads_.end());
  writes_.insert(other.writes_.begin(), other.writes_.end());
  actors_ |= other.actors_;
  read_states_ |= other.read_states_;
  written_states_ |= other.written_states_;
  all_ = all_ || other.all_;
  visible_ = visible_ || other.visible_;
  ordered_ = ordered_ || other.ordered_;
  return reads_.size() + writes_.size() != keys || flags() != before;
}

void Footprint::MarkIfVisibleTo(const Footprint& reader) {
  visible_ = visible_ || Affects(reader) || (reader.all_ && changes_something());
}

}  // namespace redouble::inline v0_1::sim
