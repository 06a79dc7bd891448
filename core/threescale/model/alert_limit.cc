#include "redouble/core/threescale/model/alert_limit.h"

#include <algorithm>
#include <array>
#include <string>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr std::array kLevels = {0, 50, 80, 90, 100, 120, 150, 200, 300};

}  // namespace

std::span<const int> AlertLevels() { return kLevels; }

std::optional<int> ParseAlertLevel(std::string_view text) {
  const auto level = std::find_if(kLevels.begin(), kLevels.end(),
                                  [text](int known) { return std::to_string(known) == text; });
  if (level == kLevels.end()) return std::nullopt;
  return *level;
}

base::Task<absl::StatusOr<std::optional<int>>> AlertLimitStore::Save(std::string_view service_id,
                                                                     std::string_view value) {
  const std::optional<int> level = ParseAlertLevel(value);
  if (!level) co_return std::nullopt;
  const std::string key = process_.keys.AllowedAlerts(service_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool added, co_await store::SAdd(process_.store, key, value));
  if (!added) co_return std::nullopt;
  co_return level;
}

base::Task<absl::StatusOr<std::optional<bool>>> AlertLimitStore::Delete(std::string_view service_id,
                                                                        std::string_view value) {
  if (!ParseAlertLevel(value)) co_return std::nullopt;
  const std::string key = process_.keys.AllowedAlerts(service_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool removed,
                               co_await store::SRem(process_.store, key, value));
  co_return removed;
}

base::Task<absl::StatusOr<std::vector<int>>> AlertLimitStore::LoadAll(std::string_view service_id) {
  const std::string key = process_.keys.AllowedAlerts(service_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> members,
                               co_await store::SMembers(process_.store, key));
  std::vector<int> levels;
  for (const std::string& member : members) {
    levels.push_back(ToInteger(member).convert_to<int>());
  }
  co_return levels;
}

}  // namespace redouble::inline v0_1::threescale
