// How keys expire: at their deadlines, lazily, or when a master or a log says so.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/server/removal_word.h"
#include "redouble/backends/memory/values/hash.h"

namespace redouble::inline v0_1::memory {
namespace {

// Beyond the clock's range.
constexpr int64_t kNeverMillis = std::numeric_limits<int64_t>::max() / 1000;

// How long before the millisecond after its deadline a key or a field goes.
int64_t ExpiryLeadMillis(const EngineCore& engine) {
  return engine.Has(Feature::kExpiryAtDeadline) ? 1 : 0;
}

}  // namespace

void EngineCore::SetAuthority(Authority authority) {
  authority_ = authority;
  out_of_memory_ = false;
  propagation_.set_muted(authority == Authority::kLog);
  if (authority == Authority::kOwn) limit_changed_ = true;
  UpdateExpiry();
}

void EngineCore::set_active_expire(bool value) {
  active_expire_ = value;
  UpdateExpiry();
}

void EngineCore::UpdateExpiry() {
  const bool is_lazy = authority_ != Authority::kLog &&
                       (!active_expire_ || administration_.paused() || follows_master());
  for (const std::unique_ptr<Database>& db : databases_) {
    db->SetLazyExpiry(is_lazy ? this : nullptr);
  }
  if (expiry_timer_) clock_.Cancel(*std::exchange(expiry_timer_, std::nullopt));
  next_expiry_us_ = std::numeric_limits<int64_t>::max();
  ScheduleExpiry();
}

void EngineCore::ExpireDue() {
  const Administration::LatencySample cycle(administration_, "expire-cycle");
  const int64_t now_ms = clock_.NowMillis();
  // The keys and fields whose deadline is before this time go.
  const int64_t end_ms = now_ms + ExpiryLeadMillis(*this);
  for (int index = 0; index < database_count(); ++index) {
    Database& db = database(index);
    if (db.expiring() == 0) continue;
    size_t prefetched = 0;
    while (Database::Entry* entry = db.FirstExpired(end_ms)) {
      if (prefetched == 0) prefetched = db.PrefetchExpired();
      --prefetched;
      const std::string key(entry->key());
      ExpireKey(index, key, [&] { db.RemoveExpiring(*entry); });
    }
  }
  for (int index = 0; index < database_count(); ++index) {
    // Removing the key of an emptied hash does not remove the deadlines of others.
    FieldDeadlines* fields = database(index).field_deadlines();
    if (fields == nullptr) continue;
    while (const std::string* key = fields->FirstDue(end_ms)) {
      database(index).WillChange(*key);
      ExpireFields(index, *fields->TakeDue(end_ms));
    }
  }
  next_expiry_us_ = std::numeric_limits<int64_t>::max();
  ScheduleExpiry();
}

void EngineCore::ExpireFields(int db, const FieldDeadlines::Due& due, bool with_events) {
  Database::Entry* entry = database(db).FindStored(due.key);
  assert(entry != nullptr && "the deadlines of a removed key are forgotten");
  Hash& hash = *entry->value.As<Hash>();
  for (const std::string& field : due.fields) hash.Remove(field);
  expired_fields_ += static_cast<int64_t>(due.fields.size());
  const bool is_empty = hash.empty();
  NoteChange(db, due.key, /*by=*/0);
  if (propagation_.on()) {
    std::vector<std::string> words = {"HDEL", due.key};
    words.insert(words.end(), due.fields.begin(), due.fields.end());
    propagation_.AddExpiredFields(db, std::move(words));
  }
  if (with_events && wants(EventClass::kHash)) {
    Notify(db, due.key, EventClass::kHash, "hexpired");
  }
  if (!is_empty) return;
  database(db).Remove(due.key);
  if (with_events && wants(EventClass::kGeneric)) Notify(db, due.key, EventClass::kGeneric, "del");
}

void EngineCore::ExpireKey(int db, const std::string& key, absl::FunctionRef<void()> remove) {
  const Administration::LatencySample deletion(administration_, "expire-del");
  blocking_.MarkGone(db, key, database(db));
  remove();
  ++expired_keys_;
  if (observer_ != nullptr) observer_->OnWrite(key);
  if (watching_.has_watchers()) watching_.TouchExpired(db, key);
  if (tracking_.has_clients()) tracking_.Changed(key, /*by=*/0);
  if (propagation_.on()) propagation_.AddRemoval(db, RemovalWord(options_, LazyFree::kExpire), key);
  if (wants(EventClass::kExpired)) Notify(db, key, EventClass::kExpired, "expired");
}

bool EngineCore::Hides(Database& db, Database::Entry& entry) {
  if (!db.IsExpired(entry, clock_.NowMillis())) return false;
  if (follows_master()) return !runs_obeyed_;
  if (administration_.paused()) return true;
  const auto found = std::find_if(databases_.begin(), databases_.end(),
                                  [&](const auto& database) { return database.get() == &db; });
  const std::string key(entry.key());
  gone_.push_back({&db, key});
  ExpireKey(static_cast<int>(found - databases_.begin()), key, [&] { db.MarkGone(entry); });
  return true;
}

void EngineCore::RemoveGone() {
  for (const GoneKey& gone : std::exchange(gone_, {})) gone.db->RemoveGone(gone.key);
}

// Schedules a timer for the first key of any database that may expire.
void EngineCore::ScheduleExpiry() {
  for (const std::unique_ptr<Database>& db : databases_) {
    if (const std::optional<int64_t> check_ms = db->NextExpiryCheck()) {
      NoteDeadline(*check_ms - 1);
    }
    const FieldDeadlines* fields = db->field_deadlines();
    if (fields == nullptr) continue;
    if (const std::optional<int64_t> check_ms = fields->NextCheck()) NoteDeadline(*check_ms - 1);
  }
}

void EngineCore::NoteDeadline(int64_t deadline_ms) {
  if (deadline_ms >= kNeverMillis - 1 || !expires_at_deadlines()) return;
  const int64_t check_us = (deadline_ms + 1 - ExpiryLeadMillis(*this)) * 1000;
  if (check_us >= next_expiry_us_) return;
  next_expiry_us_ = check_us;
  if (expiry_timer_) clock_.Cancel(*std::exchange(expiry_timer_, std::nullopt));
  const auto check = [this] {
    expiry_timer_.reset();
    ExpireDue();
    FinishCommand();
    DeliverPending();
  };
  expiry_timer_ = clock_.ScheduleCheckAt(check_us, check, [this] { return NextExpiryMicros(); });
}

std::optional<int64_t> EngineCore::NextExpiryMicros() const {
  std::optional<int64_t> next_us;
  const int64_t lead_ms = ExpiryLeadMillis(*this);
  for (const std::unique_ptr<Database>& db : databases_) {
    const FieldDeadlines* fields = db->field_deadlines();
    for (const std::optional<int64_t> next_ms :
         {db->NextExpiry(), fields == nullptr ? std::nullopt : fields->Next()}) {
      if (!next_ms || *next_ms >= kNeverMillis) continue;
      const int64_t check_us = (*next_ms - lead_ms) * 1000;
      next_us = std::min(check_us, next_us.value_or(check_us));
    }
  }
  return next_us;
}

}  // namespace redouble::inline v0_1::memory
