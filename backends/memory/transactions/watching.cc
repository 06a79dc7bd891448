#include "redouble/backends/memory/transactions/watching.h"

#include <algorithm>
#include <utility>

namespace redouble::inline v0_1::memory {

bool Watching::Watch(Watcher& watcher, int db, std::string_view key, bool is_expired) {
  std::vector<Entry>& entries = watched_[Key{db, std::string(key)}];
  const auto is_watcher = [&](const Entry& entry) { return entry.watcher == &watcher; };
  if (std::any_of(entries.begin(), entries.end(), is_watcher)) return false;
  entries.push_back({&watcher, is_expired});
  return true;
}

void Watching::Unwatch(const Watcher& watcher, const Key& key) {
  const auto found = watched_.find(key);
  std::erase_if(found->second, [&](const Entry& entry) { return entry.watcher == &watcher; });
  if (found->second.empty()) watched_.erase(found);
}

void Watching::Touch(int db, std::string_view key) {
  const auto found = watched_.find(Key{db, std::string(key)});
  if (found == watched_.end()) return;
  for (const Entry& entry : found->second) entry.watcher->Fail();
}

void Watching::TouchExpired(int db, std::string_view key) {
  const auto found = watched_.find(Key{db, std::string(key)});
  if (found == watched_.end()) return;
  for (Entry& entry : found->second) {
    if (!std::exchange(entry.saw_expired, false)) entry.watcher->Fail();
  }
}

void Watching::TouchAll(int db, const Database& before, const Database* after, int64_t now_ms) {
  for (auto found = watched_.lower_bound(Key{db, ""});
       found != watched_.end() && found->first.db == db; ++found) {
    const std::string& key = found->first.name;
    const bool existed = before.FindStored(key) != nullptr;
    const Database::Entry* stored = after == nullptr ? nullptr : after->FindStored(key);
    if (!existed && stored == nullptr) continue;
    const bool is_expired = stored != nullptr && after->IsExpired(*stored, now_ms);
    const bool is_missing = stored == nullptr || is_expired;
    for (Entry& entry : found->second) {
      const bool was_missing = !existed || entry.saw_expired;
      entry.saw_expired = is_expired && was_missing;
      if (!was_missing || !is_missing) entry.watcher->Fail();
    }
  }
}

bool Watching::HasExpired(const Watcher& watcher, const Key& key, const Database& database,
                          int64_t now_ms) const {
  const Database::Entry* stored = database.FindStored(key.name);
  if (stored == nullptr || !database.IsExpired(*stored, now_ms)) return false;
  const std::vector<Entry>& entries = watched_.at(key);
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.watcher == &watcher && !entry.saw_expired;
  });
}

}  // namespace redouble::inline v0_1::memory
