#include "sim/server/snapshot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/memory/database.h"
#include "backends/memory/values/dump.h"
#include "core/base/digest.h"

namespace redouble::sim {

Snapshot Snapshot::Take(memory::Engine& engine) {
  engine.RemoveExpired();
  Snapshot snapshot(engine.clock().NowMicros(), engine.rng());
  for (int index = 0; index < engine.database_count(); ++index) {
    memory::Database& db = engine.database(index);
    std::vector<Key>& keys = snapshot.databases_.emplace_back();
    keys.reserve(db.size());
    for (size_t i = 0; i < db.size(); ++i) {
      const memory::Database::Entry& entry = db.at(i);
      keys.push_back(
          {std::string(entry.key()), entry.value.Clone(), entry.usage, db.DeadlineOf(entry)});
    }
  }
  return snapshot;
}

void Snapshot::RestoreAt(int64_t time_us, memory::Engine& engine) const {
  base::VirtualClock& clock = engine.clock();
  // The keys that are there now must not expire on the way.
  engine.ReplaceKeys([](int, memory::Database&) {});
  if (clock.NowMicros() > time_us) {
    clock.TurnBackToMicros(time_us);
  } else {
    clock.AdvanceToMicros(time_us);
  }
  engine.rng() = rng_;
  engine.ReplaceKeys([&](int index, memory::Database& db) {
    for (const Key& key : databases_[static_cast<size_t>(index)]) {
      memory::Database::Entry& entry = db.Add(key.name, key.value.Clone());
      entry.usage = key.usage;
      if (key.deadline_ms) db.SetExpiry(entry, *key.deadline_ms);
    }
  });
  engine.FinishCommand();
  engine.DeliverPending();
}

std::string HashOfState(memory::Engine& engine) {
  engine.RemoveExpired();
  base::Sha256 hash;
  hash.Update(absl::StrCat(engine.clock().NowMicros(), "\n"));
  for (int index = 0; index < engine.database_count(); ++index) {
    memory::Database& db = engine.database(index);
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

}  // namespace redouble::sim
