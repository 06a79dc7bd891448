#include "redouble/backends/memory/values/stream_group.h"

#include <cassert>
#include <utility>

namespace redouble::inline v0_1::memory {

StreamGroup StreamGroup::Clone() const {
  StreamGroup copy(position);
  for (const auto& [name, consumer] : consumers_) {
    StreamConsumer& twin = copy.AddConsumer(name, consumer->seen_ms);
    twin.active_ms = consumer->active_ms;
    for (const StreamId id : consumer->pending) {
      const StreamPending& pending = pending_.at(id);
      copy.Deliver(id, twin, pending.delivered_ms);
      copy.FindPending(id)->deliveries = pending.deliveries;
    }
  }
  return copy;
}

StreamConsumer* StreamGroup::FindConsumer(std::string_view name) {
  const auto found = consumers_.find(name);
  return found == consumers_.end() ? nullptr : found->second.get();
}

StreamConsumer& StreamGroup::AddConsumer(std::string_view name, int64_t now_ms) {
  auto consumer = std::make_unique<StreamConsumer>();
  consumer->name = std::string(name);
  consumer->seen_ms = now_ms;
  const auto [added, is_new] = consumers_.emplace(std::string(name), std::move(consumer));
  assert(is_new);
  return *added->second;
}

std::optional<size_t> StreamGroup::RemoveConsumer(std::string_view name) {
  const auto found = consumers_.find(name);
  if (found == consumers_.end()) return std::nullopt;
  const absl::btree_set<StreamId>& pending = found->second->pending;
  const size_t count = pending.size();
  for (const StreamId id : pending) pending_.erase(id);
  consumers_.erase(found);
  return count;
}

StreamPending* StreamGroup::FindPending(StreamId id) {
  const auto found = pending_.find(id);
  return found == pending_.end() ? nullptr : &found->second;
}

void StreamGroup::Deliver(StreamId id, StreamConsumer& consumer, int64_t now_ms) {
  const auto [at, is_new] = pending_.try_emplace(id, StreamPending{&consumer, now_ms, 1});
  if (is_new) {
    consumer.pending.insert(id);
    return;
  }
  // The entry is pending already: the group's position was set back before it.
  Assign(id, at->second, consumer);
  at->second.delivered_ms = now_ms;
  at->second.deliveries = 1;
}

void StreamGroup::Assign(StreamId id, StreamPending& pending, StreamConsumer& consumer) {
  if (pending.consumer == &consumer) return;
  pending.consumer->pending.erase(id);
  pending.consumer = &consumer;
  consumer.pending.insert(id);
}

bool StreamGroup::Acknowledge(StreamId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return false;
  found->second.consumer->pending.erase(id);
  pending_.erase(found);
  return true;
}

}  // namespace redouble::inline v0_1::memory
