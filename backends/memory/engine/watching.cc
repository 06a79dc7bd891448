#include "redouble/backends/memory/engine/watching.h"

#include <algorithm>
#include <utility>

#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::memory {

bool Watching::Watch(SessionCore& session, int db, std::string_view key, bool is_expired) {
  std::vector<Watcher>& watchers = watchers_[Key{db, std::string(key)}];
  const auto is_session = [&](const Watcher& watcher) { return watcher.session == &session; };
  if (std::any_of(watchers.begin(), watchers.end(), is_session)) return false;
  watchers.push_back({&session, is_expired});
  return true;
}

void Watching::Unwatch(SessionCore& session, const Key& key) {
  const auto found = watchers_.find(key);
  std::erase_if(found->second, [&](const Watcher& watcher) { return watcher.session == &session; });
  if (found->second.empty()) watchers_.erase(found);
}

void Watching::Touch(int db, std::string_view key) {
  const auto found = watchers_.find(Key{db, std::string(key)});
  if (found == watchers_.end()) return;
  for (const Watcher& watcher : found->second) watcher.session->FailTransaction();
}

void Watching::TouchExpired(int db, std::string_view key) {
  const auto found = watchers_.find(Key{db, std::string(key)});
  if (found == watchers_.end()) return;
  for (Watcher& watcher : found->second) {
    if (!std::exchange(watcher.saw_expired, false)) watcher.session->FailTransaction();
  }
}

void Watching::TouchAll(int db, const Database& before, const Database* after) {
  for (auto found = watchers_.lower_bound(Key{db, ""});
       found != watchers_.end() && found->first.db == db; ++found) {
    const std::string& key = found->first.name;
    const bool existed = before.FindStored(key) != nullptr;
    const bool exists = after != nullptr && after->FindStored(key) != nullptr;
    if (!existed && !exists) continue;
    for (Watcher& watcher : found->second) {
      const bool changed = exists || !std::exchange(watcher.saw_expired, false);
      if (changed) watcher.session->FailTransaction();
    }
  }
}

bool Watching::HasExpired(const SessionCore& session, const Key& key, const Database& database,
                          int64_t now_ms) const {
  const Database::Entry* entry = database.FindStored(key.name);
  if (entry == nullptr || !database.IsExpired(*entry, now_ms)) return false;
  const std::vector<Watcher>& watchers = watchers_.at(key);
  return std::any_of(watchers.begin(), watchers.end(), [&](const Watcher& watcher) {
    return watcher.session == &session && !watcher.saw_expired;
  });
}

}  // namespace redouble::memory
