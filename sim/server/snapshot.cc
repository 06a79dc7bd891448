#include "redouble/sim/server/snapshot.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/persistence/dump.h"
#include "redouble/core/base/hash/digest.h"

namespace redouble::inline v0_1::sim {
namespace {

std::vector<std::unique_ptr<memory::Database>> EmptyDatabases(const memory::EngineCore& core) {
  std::vector<std::unique_ptr<memory::Database>> databases;
  for (int index = 0; index < core.database_count(); ++index) {
    databases.push_back(std::make_unique<memory::Database>());
  }
  return databases;
}

}  // namespace

Snapshot Snapshot::Take(memory::Engine& engine) {
  memory::EngineCore& core = engine.core();
  core.RemoveExpired();
  Snapshot snapshot(engine.clock().NowMicros(), core.rng());
  for (int index = 0; index < core.database_count(); ++index) {
    memory::Database& db = core.database(index);
    std::vector<Key>& keys = snapshot.databases_.emplace_back();
    keys.reserve(db.size());
    for (size_t i = 0; i < db.size(); ++i) {
      const memory::Database::Entry& entry = db.at(i);
      keys.push_back(
          {std::string(entry.key()), entry.value.Clone(), entry.eviction, db.DeadlineOf(entry)});
    }
  }
  return snapshot;
}

void Snapshot::RestoreAt(int64_t time_us, memory::Engine& engine) const {
  memory::EngineCore& core = engine.core();
  base::VirtualClock& clock = engine.clock();
  // The current keys must not expire, with their events, while the clock advances.
  core.ReplaceDatabases(EmptyDatabases(core));
  if (clock.NowMicros() > time_us) {
    clock.TurnBackToMicros(time_us);
  } else {
    clock.AdvanceToMicros(time_us);
  }
  core.rng() = rng_;
  std::vector<std::unique_ptr<memory::Database>> databases = EmptyDatabases(core);
  for (size_t index = 0; index < databases.size(); ++index) {
    memory::Database& db = *databases[index];
    for (const Key& key : databases_[index]) {
      memory::Database::Entry& entry = db.Add(key.name, key.value.Clone());
      entry.eviction = key.eviction;
      if (key.deadline_ms) db.SetExpiry(entry, *key.deadline_ms);
    }
  }
  core.ReplaceDatabases(std::move(databases));
  core.FinishCommand();
  core.DeliverPending();
}

std::string HashOfState(memory::Engine& engine) {
  memory::EngineCore& core = engine.core();
  core.RemoveExpired();
  base::Sha256 hash;
  hash.Update(absl::StrCat(engine.clock().NowMicros(), "\n"));
  for (int index = 0; index < core.database_count(); ++index) {
    memory::Database& db = core.database(index);
    std::vector<const memory::Database::Entry*> entries;
    entries.reserve(db.size());
    for (size_t i = 0; i < db.size(); ++i) entries.push_back(&db.at(i));
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->key() < b->key(); });
    for (const memory::Database::Entry* entry : entries) {
      const std::string value = memory::DumpValue(entry->value);
      hash.Update(absl::StrCat(index, " ", entry->key().size(), " ",
                               db.DeadlineOf(*entry).value_or(-1), " ", value.size(), "\n"));
      hash.Update(entry->key());
      hash.Update(value);
    }
  }
  return hash.HexDigest();
}

}  // namespace redouble::inline v0_1::sim
