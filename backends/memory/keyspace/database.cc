#include "redouble/backends/memory/keyspace/database.h"

#include <algorithm>
#include <array>
#include <limits>

namespace redouble::inline v0_1::memory {
namespace {

// A key still exists at its deadline.
std::optional<int64_t> FirstMillisBehind(std::optional<int64_t> deadline_ms) {
  if (deadline_ms && *deadline_ms != std::numeric_limits<int64_t>::max()) ++*deadline_ms;
  return deadline_ms;
}

}  // namespace

bool Database::Remove(std::string_view key) {
  const size_t position = table_.PositionOf(key);
  if (position == Table::kNotFound) return false;
  if (lazy_ != nullptr && IsGone(table_.at(position))) return false;
  RemoveAt(position);
  return true;
}

void Database::RemoveGone(std::string_view key) {
  const size_t position = table_.PositionOf(key);
  if (position != Table::kNotFound && IsGone(table_.at(position))) RemoveAt(position);
}

bool Database::Hides(Entry& entry) { return IsGone(entry) || lazy_->Hides(*this, entry); }

// The entry stays where it is, because the caller may hold pointers to others.
Database::Entry& Database::Reuse(Entry& hidden, Value value) {
  ClearExpiry(hidden);
  ForgetFieldDeadlines(hidden.key());
  hidden.value = std::move(value);
  hidden.eviction = EvictionRecord();
  return hidden;
}

// The node holds the entry's position.
void Database::RemoveExpiring(Entry& entry) { RemoveAt(wheel_.position(entry.expiry_node_)); }

void Database::RemoveAt(size_t position) {
  if (observer_ != nullptr) ReportRemoval(position);
  ClearExpiry(table_.at(position));
  ForgetFieldDeadlines(table_.at(position).key());
  if (!accounts_.empty()) ForgetAccount(position);
  table_.RemoveAt(position);
  if (position < table_.size() && table_.at(position).expires()) {
    wheel_.SetPosition(table_.at(position).expiry_node_, static_cast<uint32_t>(position));
  }
}

void Database::ReportRemoval(size_t position) {
  observer_->OnWrite(table_.at(position).key());
  if (walks_ != nullptr) observer_->OnWrite(table_.at(table_.size() - 1).key());
}

void Database::Clear() {
  assert(walks_ == nullptr);
  if (observer_ != nullptr) observer_->OnAll();
  table_.Clear();
  wheel_.Clear();
  field_deadlines_.reset();
  accounts_.clear();
  accounted_bytes_ = 0;
}

void Database::Account(Entry& entry, size_t bytes) {
  accounts_.resize(table_.size());
  uint32_t& account = accounts_[table_.PositionOf(entry.key())];
  accounted_bytes_ -= account;
  account = static_cast<uint32_t>(std::min<size_t>(bytes, std::numeric_limits<uint32_t>::max()));
  accounted_bytes_ += account;
}

// As in the table, the last entry moves to the freed position.
void Database::ForgetAccount(size_t position) {
  accounts_.resize(table_.size());
  accounted_bytes_ -= accounts_[position];
  accounts_[position] = accounts_.back();
  accounts_.pop_back();
}

Database::Entry* Database::DrawExpiring(base::Rng& rng) {
  if (wheel_.size() == 0) return nullptr;
  constexpr int kTries = 32;
  const size_t places = wheel_.place_count();
  for (int i = 0; i < kTries; ++i) {
    if (const auto position = wheel_.PositionAt(rng.Below(places))) return &table_.at(*position);
  }
  size_t place = rng.Below(places);
  while (!wheel_.PositionAt(place)) place = (place + 1) % places;
  return &table_.at(*wheel_.PositionAt(place));
}

void Database::SetExpiry(Entry& entry, int64_t deadline_ms) {
  ClearExpiry(entry);
  if (observer_ != nullptr) observer_->OnWrite(entry.key());
  const size_t position = table_.PositionOf(entry.key());
  entry.expiry_node_ = wheel_.Add(deadline_ms, static_cast<uint32_t>(position));
}

bool Database::ClearExpiry(Entry& entry) {
  if (!entry.expires()) return false;
  if (observer_ != nullptr) observer_->OnWrite(entry.key());
  wheel_.Remove(std::exchange(entry.expiry_node_, ExpiryWheel::kNoNode));
  return true;
}

std::optional<int64_t> Database::DeadlineOf(const Entry& entry) const {
  if (!entry.expires()) return std::nullopt;
  return wheel_.deadline_ms(entry.expiry_node_);
}

Database::Entry* Database::FirstExpired(int64_t now_ms) {
  const std::optional<uint32_t> position = wheel_.FirstDue(now_ms - 1);
  return position ? &table_.at(*position) : nullptr;
}

size_t Database::PrefetchExpired() const {
  constexpr size_t kAhead = 16;
  // The expiring keys, and the last entries, which move to their positions.
  std::array<size_t, 2 * kAhead> positions;
  size_t count = 0;
  wheel_.VisitFirst(kAhead, [&](uint32_t position) { positions[count++] = position; });
  const size_t expired = count;
  for (size_t i = 1; i <= expired && i <= table_.size(); ++i) {
    positions[count++] = table_.size() - i;
  }
  for (size_t i = 0; i < count; ++i) table_.PrefetchEntry(positions[i]);
  for (size_t i = 0; i < count; ++i) {
    table_.PrefetchIndex(positions[i]);
    const Entry& entry = table_.at(positions[i]);
    if (entry.expires()) wheel_.Prefetch(entry.expiry_node_);
  }
  return expired;
}

std::optional<int64_t> Database::NextExpiryCheck() const {
  return FirstMillisBehind(wheel_.EarliestBound());
}

std::optional<int64_t> Database::NextExpiry() const { return FirstMillisBehind(wheel_.Earliest()); }

}  // namespace redouble::inline v0_1::memory
