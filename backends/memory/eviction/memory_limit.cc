#include "redouble/backends/memory/eviction/memory_limit.h"

#include <bit>
#include <limits>
#include <optional>

#include "redouble/backends/memory/values/memory_usage.h"

namespace redouble::inline v0_1::memory {
namespace {

// The size of Redis's hash table with this many entries, one pointer each.
uint64_t TableBytes(size_t entries) {
  return entries == 0 ? 0 : sizeof(void*) * std::bit_ceil(entries);
}

constexpr uint64_t kExpiryEntryBytes = 24;

bool IsVolatile(MaxmemoryPolicy policy) { return policy <= MaxmemoryPolicy::kVolatileTtl; }

bool IsRandom(MaxmemoryPolicy policy) {
  return policy == MaxmemoryPolicy::kVolatileRandom || policy == MaxmemoryPolicy::kAllKeysRandom;
}

Database::Entry* Draw(Database& db, MaxmemoryPolicy policy, base::Rng& rng) {
  if (IsVolatile(policy)) return db.DrawExpiring(rng);
  return db.size() == 0 ? nullptr : &db.at(rng.Below(db.size()));
}

// The eviction score of a key; the highest is evicted first.
uint64_t Score(const EngineOptions& options, const Database& db, const Database::Entry& entry,
               uint32_t now_s) {
  if (options.maxmemory_policy == MaxmemoryPolicy::kVolatileTtl) {
    return std::numeric_limits<uint64_t>::max() - static_cast<uint64_t>(*db.DeadlineOf(entry));
  }
  if (IsLfu(options.maxmemory_policy)) {
    return EvictionRecord::kMaxFrequency -
           entry.eviction.FrequencyNow(now_s, options.lfu_decay_time_minutes);
  }
  return static_cast<uint64_t>(entry.eviction.IdleSeconds(now_s));
}

}  // namespace

void MemoryLimit::Configure(const EngineOptions& options) {
  const bool was_on = on_;
  on_ = options.maxmemory_bytes > 0;
  if (on_ != was_on) MeasureAll();
}

void MemoryLimit::Forget() {
  changed_.clear();
  pool_.Clear();
}

void MemoryLimit::Forget(const Database& db) {
  std::erase_if(changed_, [&](const Change& change) { return change.db == &db; });
}

void MemoryLimit::MeasureAll() {
  Forget();
  if (!on_) return;
  for (const std::unique_ptr<Database>& db : databases_) {
    for (size_t i = 0; i < db->size(); ++i) {
      Database::Entry& entry = db->at(i);
      db->Account(entry, MemoryUsage(entry.key(), entry.value));
    }
  }
}

void MemoryLimit::NoteChange(Database& db, std::string_view key) {
  // A script may change one key many times.
  if (!changed_.empty() && changed_.back().db == &db && changed_.back().key == key) return;
  changed_.push_back({&db, std::string(key)});
}

void MemoryLimit::Measure() {
  for (const Change& change : changed_) {
    Database::Entry* entry = change.db->FindStored(change.key);
    if (entry != nullptr) change.db->Account(*entry, MemoryUsage(entry->key(), entry->value));
  }
  changed_.clear();
}

uint64_t MemoryLimit::UsedBytes() {
  Measure();
  uint64_t bytes = kEmptyServerBytes + client_bytes_;
  for (const std::unique_ptr<Database>& db : databases_) {
    bytes += db->accounted_bytes() + TableBytes(db->size()) + TableBytes(db->expiring()) +
             kExpiryEntryBytes * db->expiring();
  }
  return bytes;
}

bool MemoryLimit::MakeRoom(const EngineOptions& options, uint32_t now_s, base::Rng& rng,
                           const Evict& evict) {
  while (UsedBytes() > options.maxmemory_bytes) {
    if (options.maxmemory_policy == MaxmemoryPolicy::kNoEviction) return false;
    const Chosen chosen = Choose(options, now_s, rng);
    if (chosen.entry == nullptr) return false;
    evict(chosen.db, std::string(chosen.entry->key()));
  }
  return true;
}

MemoryLimit::Chosen MemoryLimit::Choose(const EngineOptions& options, uint32_t now_s,
                                        base::Rng& rng) {
  const MaxmemoryPolicy policy = options.maxmemory_policy;
  if (IsRandom(policy)) return ChooseByChance(policy, rng);
  while (Sample(options, now_s, rng)) {
    while (const std::optional<EvictionPool::Candidate> best = pool_.TakeBest()) {
      Database::Entry* entry = databases_[static_cast<size_t>(best->db)]->FindStored(best->key);
      if (entry == nullptr || (IsVolatile(policy) && !entry->expires())) continue;
      return {best->db, entry};
    }
  }
  return {};
}

MemoryLimit::Chosen MemoryLimit::ChooseByChance(MaxmemoryPolicy policy, base::Rng& rng) {
  for (size_t i = 0; i < databases_.size(); ++i) {
    const size_t db = next_db_++ % databases_.size();
    if (Database::Entry* entry = Draw(*databases_[db], policy, rng)) {
      return {static_cast<int>(db), entry};
    }
  }
  return {};
}

bool MemoryLimit::Sample(const EngineOptions& options, uint32_t now_s, base::Rng& rng) {
  bool any = false;
  for (size_t db = 0; db < databases_.size(); ++db) {
    for (int i = 0; i < options.maxmemory_samples; ++i) {
      const Database::Entry* entry = Draw(*databases_[db], options.maxmemory_policy, rng);
      if (entry == nullptr) break;
      any = true;
      pool_.Offer({.score = Score(options, *databases_[db], *entry, now_s),
                   .db = static_cast<int>(db),
                   .key = std::string(entry->key())});
    }
  }
  return any;
}

}  // namespace redouble::inline v0_1::memory
