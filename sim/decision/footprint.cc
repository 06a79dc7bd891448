#include "redouble/sim/decision/footprint.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "redouble/sim/decision/fields.h"

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

void Footprint::AppendTo(std::string& text) const {
  for (const Keys* keys : {&reads_, &writes_}) {
    AppendNumber(text, keys->size());
    for (const std::string& key : *keys) AppendBytes(text, key);
  }
  AppendNumber(text, actors_);
  AppendNumber(text, read_states_);
  AppendNumber(text, written_states_);
  for (const bool flag : {all_, visible_, ordered_}) AppendNumber(text, flag ? 1 : 0);
}

Footprint Footprint::ReadFrom(std::string_view& text) {
  Footprint footprint;
  for (Keys* keys : {&footprint.reads_, &footprint.writes_}) {
    for (uint64_t left = TakeNumber(text); left > 0; --left) keys->emplace(TakeBytes(text));
  }
  footprint.actors_ = TakeNumber(text);
  footprint.read_states_ = static_cast<uint8_t>(TakeNumber(text));
  footprint.written_states_ = static_cast<uint8_t>(TakeNumber(text));
  for (bool* flag : {&footprint.all_, &footprint.visible_, &footprint.ordered_}) {
    *flag = TakeNumber(text) != 0;
  }
  return footprint;
}

}  // namespace redouble::inline v0_1::sim
