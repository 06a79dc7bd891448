#include "redouble/backends/memory/blocking/blocking.h"

#include <algorithm>
#include <cassert>

namespace redouble::inline v0_1::memory {
namespace {

using store::KeyType;

bool IsStream(const Database& database, std::string_view key) {
  const Database::Entry* entry = database.FindStored(key);
  return entry != nullptr && entry->value.type() == KeyType::kStream;
}

}  // namespace

void Blocking::Wait(SessionCore& session, int db, std::span<const std::string> keys, KeyType type,
                    bool also_when_gone) {
  for (const std::string& key : keys) {
    waiting_[Key{db, key}].push_back({&session, also_when_gone});
  }
  ++waiting_by_type_[static_cast<size_t>(type)];
}

void Blocking::StopWaiting(SessionCore& session, int db, std::span<const std::string> keys,
                           KeyType type) {
  for (const std::string& key : keys) {
    const auto found = waiting_.find(Key{db, key});
    assert(found != waiting_.end());
    std::erase_if(found->second, [&](const Waiter& waiter) { return waiter.session == &session; });
    if (found->second.empty()) waiting_.erase(found);
  }
  assert(has_waiters_for(type));
  --waiting_by_type_[static_cast<size_t>(type)];
}

void Blocking::MarkReady(int db, std::string_view key, KeyType type) {
  if (!has_waiters_for(type)) return;
  Key candidate{db, std::string(key)};
  if (!waiting_.contains(candidate)) return;
  if (ready_set_.insert(candidate).second) ready_.push_back(std::move(candidate));
}

void Blocking::MarkGone(int db, std::string_view key, const Database& database) {
  if (!has_waiters_for(KeyType::kStream) || !IsStream(database, key)) return;
  if (gone_needs_reader_ && !IsAwaitedWhenGone(Key{db, std::string(key)})) return;
  MarkReady(db, key, KeyType::kStream);
}

void Blocking::MarkAllGone(int db, const Database& before, const Database* after) {
  if (!has_waiters_for(KeyType::kStream)) return;
  for (auto waiter = FirstOf(db); waiter != waiting_.end() && waiter->first.db == db; ++waiter) {
    const std::string& key = waiter->first.name;
    const bool stays = after != nullptr && IsStream(*after, key);
    if (!stays) MarkGone(db, key, before);
  }
}

void Blocking::MarkAllReady(int db, const Database& database) {
  for (auto waiter = FirstOf(db); waiter != waiting_.end() && waiter->first.db == db; ++waiter) {
    const std::string& key = waiter->first.name;
    const Database::Entry* entry = database.FindStored(key);
    if (entry != nullptr) MarkReady(db, key, entry->value.type());
  }
}

bool Blocking::IsAwaitedWhenGone(const Key& key) const {
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [](const Waiter& waiter) { return waiter.also_when_gone; });
}

std::vector<SessionCore*> Blocking::Waiters(const Key& key) const {
  std::vector<SessionCore*> sessions;
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) return sessions;
  for (const Waiter& waiter : found->second) sessions.push_back(waiter.session);
  return sessions;
}

}  // namespace redouble::inline v0_1::memory
