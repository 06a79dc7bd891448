#include "backends/memory/database.h"

namespace redouble::memory {

bool Database::Remove(std::string_view key) {
  const size_t position = table_.PositionOf(key);
  if (position == DenseTable<Entry>::kNotFound) return false;
  ClearExpiry(table_.at(position));
  table_.RemoveAt(position);
  if (position < table_.size() && table_.at(position).expires()) {
    wheel_.SetPosition(table_.at(position).expiry_node_, static_cast<uint32_t>(position));
  }
  return true;
}

void Database::Clear() {
  table_.Clear();
  wheel_.Clear();
}

void Database::SetExpiry(Entry& entry, int64_t deadline_ms) {
  ClearExpiry(entry);
  const size_t position = table_.PositionOf(entry.key());
  entry.expiry_node_ = wheel_.Add(deadline_ms, static_cast<uint32_t>(position));
}

bool Database::ClearExpiry(Entry& entry) {
  if (!entry.expires()) return false;
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

std::optional<int64_t> Database::NextExpiryCheck() const {
  const std::optional<int64_t> bound = wheel_.EarliestBound();
  if (!bound) return std::nullopt;
  return *bound == std::numeric_limits<int64_t>::max() ? *bound : *bound + 1;
}

}  // namespace redouble::memory
