#include "redouble/backends/memory/engine/watching.h"

#include <algorithm>

#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/keyspace/database.h"

namespace redouble::memory {

bool Watching::Watch(SessionCore& session, int db, std::string_view key) {
  std::vector<SessionCore*>& sessions = watchers_[Key{db, std::string(key)}];
  if (std::find(sessions.begin(), sessions.end(), &session) != sessions.end()) return false;
  sessions.push_back(&session);
  return true;
}

void Watching::Unwatch(SessionCore& session, const Key& key) {
  const auto found = watchers_.find(key);
  std::erase(found->second, &session);
  if (found->second.empty()) watchers_.erase(found);
}

void Watching::Touch(int db, std::string_view key) {
  const auto found = watchers_.find(Key{db, std::string(key)});
  if (found == watchers_.end()) return;
  for (SessionCore* session : found->second) session->FailTransaction();
}

void Watching::TouchAll(int db, const Database& before, const Database* after) {
  for (auto watcher = watchers_.lower_bound(Key{db, ""});
       watcher != watchers_.end() && watcher->first.db == db; ++watcher) {
    const std::string& key = watcher->first.name;
    const bool exists =
        before.Find(key) != nullptr || (after != nullptr && after->Find(key) != nullptr);
    if (!exists) continue;
    for (SessionCore* session : watcher->second) session->FailTransaction();
  }
}

}  // namespace redouble::memory
