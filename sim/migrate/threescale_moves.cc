#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/keyspace/key_pattern.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/sim/migrate/family_move.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::KeyLayout;
using threescale::NotifyJob;

constexpr std::string_view kBatch = "threescale.notify_batch";

// The lists of all shards.
std::span<const std::string> ShardKeys() {
  static const std::vector<std::string>& keys = *new std::vector<std::string>([] {
    std::vector<std::string> made;
    for (const store::KeyFamily& family : threescale::KeyFamilies(KeyLayout::kCluster)) {
      if (family.id != kBatch) continue;
      const auto pattern = store::KeyPattern::MustCompile(family.pattern, family.id);
      for (int shard = 0; shard < threescale::kNotifyShards; ++shard) {
        made.push_back(pattern.Build(shard).value());
      }
    }
    return made;
  }());
  return keys;
}

absl::StatusOr<NotifyJob> ReadNotification(const std::string& line) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<NotifyJob> jobs, threescale::SumNotifications({line}));
  return std::move(jobs.front());
}

absl::Status CheckList(const std::optional<KeyValue>& value) {
  if (!value || value->type == store::KeyType::kList) return absl::OkStatus();
  return absl::InvalidArgumentError("notifications must be a list");
}

// Each notification goes to the list of its provider.
absl::StatusOr<std::vector<MovedKey>> DivideNotifications(const Conversion& conversion) {
  const KeyValue& list = *conversion.values[0];
  REDOUBLE_RETURN_IF_ERROR(CheckList(list));
  const threescale::Keys cluster(KeyLayout::kCluster);
  std::vector<MovedKey> moved;
  for (const std::string& key : ShardKeys()) moved.push_back({key, std::nullopt});
  for (const std::string& line : list.parts) {
    REDOUBLE_ASSIGN_OR_RETURN(const NotifyJob job, ReadNotification(line));
    const std::string key = cluster.NotifyBatch(job.provider_key);
    const auto shard = std::find_if(moved.begin(), moved.end(),
                                    [&](const MovedKey& each) { return each.key == key; });
    if (!shard->value) shard->value = KeyValue{store::KeyType::kList, {}, list.deadline_ms};
    shard->value->parts.push_back(line);
  }
  return moved;
}

// The notifications of all lists by their minute. Those of one list keep their order.
absl::StatusOr<std::vector<MovedKey>> JoinNotifications(const Conversion& conversion) {
  std::vector<std::pair<absl::Time, std::string>> lines;
  std::optional<int64_t> deadline_ms;
  for (const std::optional<KeyValue>& list : conversion.values) {
    REDOUBLE_RETURN_IF_ERROR(CheckList(list));
    if (!list) continue;
    if (lines.empty()) deadline_ms = list->deadline_ms;
    for (const std::string& line : list->parts) {
      REDOUBLE_ASSIGN_OR_RETURN(const NotifyJob job, ReadNotification(line));
      lines.emplace_back(job.time, line);
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  KeyValue joined{store::KeyType::kList, {}, deadline_ms};
  for (auto& [time, line] : lines) joined.parts.push_back(std::move(line));
  std::optional<std::string> key = conversion.Spell();
  if (!key) return absl::InvalidArgumentError("the other layout has no such key");
  return std::vector<MovedKey>{{*std::move(key), std::move(joined)}};
}

constexpr std::array kMoves = {
    FamilyMove{kBatch, KeyLayout::kCluster, DivideNotifications},
    FamilyMove{kBatch, KeyLayout::kDocumented, JoinNotifications, ShardKeys},
};

}  // namespace

std::span<const FamilyMove> ThreescaleMoves() { return kMoves; }

}  // namespace redouble::inline v0_1::sim
