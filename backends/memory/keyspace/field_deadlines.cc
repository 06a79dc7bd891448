#include "redouble/backends/memory/keyspace/field_deadlines.h"

#include <limits>

#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

// A field still exists at its deadline, as a key does.
std::optional<int64_t> FirstMillisAfter(std::optional<int64_t> deadline_ms) {
  if (deadline_ms && *deadline_ms != std::numeric_limits<int64_t>::max()) ++*deadline_ms;
  return deadline_ms;
}

}  // namespace

FieldDeadlines::Hash* FieldDeadlines::Find(std::string_view key) const {
  const auto found = hashes_.find(base::ToAbsl(key));
  return found == hashes_.end() ? nullptr : found->second.get();
}

FieldDeadlines::Hash& FieldDeadlines::Track(std::string_view key) {
  if (Hash* hash = Find(key)) return *hash;
  auto hash = std::make_unique<Hash>();
  hash->key = key;
  Hash& tracked = *hash;
  hashes_.emplace(tracked.key, std::move(hash));
  return tracked;
}

std::optional<int64_t> FieldDeadlines::Of(std::string_view key, std::string_view field) const {
  const Hash* hash = Find(key);
  if (hash == nullptr) return std::nullopt;
  const auto found = hash->fields.find(field);
  if (found == hash->fields.end()) return std::nullopt;
  return wheel_.deadline_ms(found->second);
}

void FieldDeadlines::Set(std::string_view key, std::string_view field, int64_t deadline_ms) {
  Hash& hash = Track(key);
  auto found = hash.fields.find(field);
  if (found == hash.fields.end()) {
    if (hash.fields.empty()) ++hash_count_;
    found = hash.fields.emplace(field, ExpiryWheel::kNoNode).first;
  } else {
    RemoveNode(found->second);
  }
  uint32_t place = static_cast<uint32_t>(places_.size());
  if (free_places_.empty()) {
    places_.emplace_back();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  places_[place] = {&hash, &found->first};
  found->second = wheel_.Add(deadline_ms, place);
}

bool FieldDeadlines::Clear(std::string_view key, std::string_view field) {
  Hash* hash = Find(key);
  if (hash == nullptr) return false;
  const auto found = hash->fields.find(field);
  if (found == hash->fields.end()) return false;
  RemoveNode(found->second);
  hash->fields.erase(found);
  if (hash->fields.empty()) --hash_count_;
  return true;
}

void FieldDeadlines::RemoveNode(ExpiryWheel::NodeId node) {
  free_places_.push_back(wheel_.position(node));
  wheel_.Remove(node);
}

void FieldDeadlines::ForgetKey(std::string_view key) {
  const auto found = hashes_.find(base::ToAbsl(key));
  if (found == hashes_.end()) return;
  const Hash& hash = *found->second;
  for (const auto& [field, node] : hash.fields) RemoveNode(node);
  if (!hash.fields.empty()) --hash_count_;
  hashes_.erase(found);
}

void FieldDeadlines::ForgetAll() {
  hashes_.clear();
  hash_count_ = 0;
  wheel_.Clear();
  places_.clear();
  free_places_.clear();
}

std::optional<FieldDeadlines::List> FieldDeadlines::ListOf(std::string_view key) const {
  const Hash* hash = Find(key);
  if (hash == nullptr) return std::nullopt;
  List list;
  for (const auto& [field, node] : hash->fields) list.emplace_back(field, wheel_.deadline_ms(node));
  return list;
}

void FieldDeadlines::Put(std::string_view key, const List& list) {
  Track(key);
  for (const auto& [field, deadline_ms] : list) Set(key, field, deadline_ms);
}

const std::string* FieldDeadlines::FirstDue(int64_t now_ms) {
  const std::optional<uint32_t> position = wheel_.FirstDue(now_ms - 1);
  return position ? &places_[*position].hash->key : nullptr;
}

std::optional<FieldDeadlines::Due> FieldDeadlines::TakeDue(int64_t now_ms) {
  std::optional<Due> due;
  while (const std::optional<uint32_t> position = wheel_.FirstDue(now_ms - 1)) {
    const Place place = places_[*position];
    if (!due) due.emplace().key = place.hash->key;
    if (place.hash->key != due->key) break;
    std::string field = *place.field;
    Clear(due->key, field);
    due->fields.push_back(std::move(field));
  }
  return due;
}

std::optional<int64_t> FieldDeadlines::NextCheck() const {
  return FirstMillisAfter(wheel_.EarliestBound());
}

std::optional<int64_t> FieldDeadlines::Next() const { return FirstMillisAfter(wheel_.Earliest()); }

}  // namespace redouble::inline v0_1::memory
