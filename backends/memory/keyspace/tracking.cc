#include "redouble/backends/memory/keyspace/tracking.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace redouble::inline v0_1::memory {
namespace {

bool Matches(const TrackingMode& mode, std::string_view key) {
  return mode.broadcasts &&
         std::any_of(mode.prefixes.begin(), mode.prefixes.end(),
                     [&](const std::string& prefix) { return key.starts_with(prefix); });
}

}  // namespace

TrackingMode* Tracking::ModeOf(int64_t client) {
  const auto found = modes_.find(client);
  return found == modes_.end() ? nullptr : &found->second;
}

void Tracking::Enable(int64_t client, const TrackingMode& mode) {
  TrackingMode& kept = modes_[client];
  std::set<std::string, std::less<>> prefixes = std::exchange(kept.prefixes, {});
  kept = mode;
  kept.prefixes.merge(prefixes);
}

void Tracking::Disable(int64_t client) { modes_.erase(client); }

void Tracking::Remember(int64_t client, std::string_view key, size_t max_keys) {
  auto found = readers_.find(key);
  if (found == readers_.end()) found = readers_.emplace(key, std::set<int64_t>()).first;
  if (found->second.insert(client).second) ++reader_count_;
  Limit(max_keys, key);
}

void Tracking::Limit(size_t max_keys, std::optional<std::string_view> kept) {
  while (max_keys > 0 && readers_.size() > max_keys) {
    auto victim = readers_.begin();
    if (kept == victim->first) ++victim;
    Invalidate(victim, /*by=*/0);
  }
}

void Tracking::Changed(std::string_view key, int64_t by) {
  for (const auto& [client, mode] : modes_) {
    if (!Matches(mode, key)) continue;
    broadcast_.emplace(key, by);
    break;
  }
  const auto found = readers_.find(key);
  if (found != readers_.end()) Invalidate(found, by);
}

void Tracking::Invalidate(Readers::iterator read, int64_t by) {
  for (const int64_t client : read->second) {
    const TrackingMode* mode = ModeOf(client);
    if (mode == nullptr || mode->broadcasts || (mode->no_loop && client == by)) continue;
    due_.push_back({client, std::vector<std::string>{read->first}});
  }
  reader_count_ -= read->second.size();
  readers_.erase(read);
}

void Tracking::AllChanged() {
  // A client that starts tracking later has an empty cache.
  all_changed_ = !modes_.empty();
  due_.clear();
  readers_.clear();
  reader_count_ = 0;
}

std::vector<Tracking::Invalidation> Tracking::TakeInvalidations() {
  std::vector<Invalidation> taken;
  if (std::exchange(all_changed_, false)) {
    for (const auto& [client, mode] : modes_) taken.push_back({client, std::nullopt});
  }
  std::vector<Invalidation> due = std::exchange(due_, {});
  std::move(due.begin(), due.end(), std::back_inserter(taken));
  const std::map<std::string, int64_t> changed = std::exchange(broadcast_, {});
  if (changed.empty()) return taken;
  for (const auto& [client, mode] : modes_) {
    for (const std::string& prefix : mode.prefixes) {
      std::vector<std::string> keys;
      for (auto key = changed.lower_bound(prefix);
           key != changed.end() && key->first.starts_with(prefix); ++key) {
        if (!mode.no_loop || key->second != client) keys.push_back(key->first);
      }
      if (!keys.empty()) taken.push_back({client, std::move(keys)});
    }
  }
  return taken;
}

size_t Tracking::prefix_count() const {
  std::set<std::string_view> prefixes;
  for (const auto& [client, mode] : modes_) {
    prefixes.insert(mode.prefixes.begin(), mode.prefixes.end());
  }
  return prefixes.size();
}

}  // namespace redouble::inline v0_1::memory
