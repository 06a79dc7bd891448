#include "redouble/backends/memory/pubsub/subscriptions.h"

#include <algorithm>

namespace redouble::inline v0_1::memory {

bool Subscriptions::empty() const {
  return std::all_of(tables_.begin(), tables_.end(),
                     [](const Table& table) { return table.empty(); });
}

void Subscriptions::Add(SessionCore& session, Kind kind, std::string_view name) {
  tables_[static_cast<size_t>(kind)][std::string(name)].push_back(&session);
}

void Subscriptions::Remove(SessionCore& session, Kind kind, std::string_view name) {
  Table& table = tables_[static_cast<size_t>(kind)];
  const auto found = table.find(std::string(name));
  if (found == table.end()) return;
  std::erase(found->second, &session);
  if (found->second.empty()) table.erase(found);
}

const std::vector<SessionCore*>& Subscriptions::Of(Kind kind, std::string_view name) const {
  static const std::vector<SessionCore*>& nobody = *new std::vector<SessionCore*>;
  const auto found = table(kind).find(std::string(name));
  return found == table(kind).end() ? nobody : found->second;
}

}  // namespace redouble::inline v0_1::memory
