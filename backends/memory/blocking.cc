#include "backends/memory/blocking.h"

namespace redouble::memory {

void Blocking::Wait(Session& session, int db, std::string_view key) {
  waiting_[Key{db, std::string(key)}].push_back(&session);
}

void Blocking::StopWaiting(Session& session, int db, std::string_view key) {
  const auto found = waiting_.find(Key{db, std::string(key)});
  if (found == waiting_.end()) return;
  std::erase(found->second, &session);
  if (found->second.empty()) waiting_.erase(found);
}

void Blocking::MarkReady(int db, std::string_view key) {
  if (waiting_.empty()) return;
  Key candidate{db, std::string(key)};
  if (!waiting_.contains(candidate)) return;
  if (ready_set_.insert(candidate).second) ready_.push_back(std::move(candidate));
}

void Blocking::MarkAllReady(int db) {
  for (auto waiter = waiting_.lower_bound(Key{db, ""});
       waiter != waiting_.end() && waiter->first.db == db; ++waiter) {
    MarkReady(db, waiter->first.name);
  }
}

std::vector<Session*> Blocking::Waiters(const Key& key) const {
  const auto found = waiting_.find(key);
  return found == waiting_.end() ? std::vector<Session*>() : found->second;
}

}  // namespace redouble::memory
