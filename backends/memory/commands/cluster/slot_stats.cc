// CLUSTER SLOT-STATS of Valkey 8.0: the number of keys of each slot of this node. The other
// statistics, which cluster-slot-stats-enabled adds, are not there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/commands/cluster/cluster_nodes.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

struct SlotCount {
  int slot;
  int64_t keys;
};

// The slots of this node from `first` to `last`, in order. O(keys + slots).
std::vector<SlotCount> OwnSlots(CommandContext& context, int first, int last) {
  const ClusterView& view = *context.engine().cluster();
  std::array<int64_t, base::kClusterSlots> counts = {};
  Database& db = context.db();
  for (size_t i = 0; i < db.size(); ++i) {
    ++counts[static_cast<size_t>(base::KeySlot(db.at(i).key()))];
  }
  std::vector<SlotCount> slots;
  for (int slot = first; slot <= last; ++slot) {
    const int16_t shard = view.ShardOf(slot);
    if (shard == ClusterView::kNobody || static_cast<size_t>(shard) != view.self()) continue;
    slots.push_back({slot, counts[static_cast<size_t>(slot)]});
  }
  return slots;
}

Reply SlotsReply(const std::vector<SlotCount>& slots) {
  std::vector<Reply> rows;
  for (const SlotCount& one : slots) {
    rows.push_back(
        Reply::Array({Reply::Integer(one.slot),
                      Reply::Map({Reply::Bulk("key-count"), Reply::Integer(one.keys)})}));
  }
  return Reply::Array(std::move(rows));
}

// SLOTSRANGE first last
Reply SlotsOfRange(CommandContext& context, Arguments arguments) {
  const std::optional<int> first = ReadSlot(arguments[0]);
  const std::optional<int> last = ReadSlot(arguments[1]);
  if (!first || !last) return InvalidSlot();
  if (*first > *last) {
    return Reply::Error("ERR Start slot number " + std::to_string(*first) +
                        " is greater than end slot number " + std::to_string(*last));
  }
  return SlotsReply(OwnSlots(context, *first, *last));
}

struct Order {
  int64_t limit = base::kClusterSlots;
  bool ascending = false;
};

Reply RepeatedFilter() {
  return Reply::Error("ERR Multiple filters of the same type are disallowed.");
}

// Reads [LIMIT n] [ASC | DESC], in any order. Returns an error, or nullopt.
std::optional<Reply> ReadOrder(Arguments arguments, Order& order) {
  bool has_limit = false;
  bool has_direction = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool ascending = IsWord(arguments[i], "ASC");
    if (IsWord(arguments[i], "LIMIT") && i + 1 < arguments.size()) {
      const std::optional<int64_t> limit = base::ParseInt64(arguments[++i]);
      if (!limit || *limit < 1 || *limit > base::kClusterSlots) {
        return Reply::Error(
            "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).");
      }
      order.limit = *limit;
      if (std::exchange(has_limit, true)) return RepeatedFilter();
    } else if (ascending || IsWord(arguments[i], "DESC")) {
      order.ascending = ascending;
      if (std::exchange(has_direction, true)) return RepeatedFilter();
    } else {
      return SyntaxError();
    }
  }
  return std::nullopt;
}

// ORDERBY key-count [LIMIT n] [ASC | DESC]
Reply SlotsInOrder(CommandContext& context, Arguments arguments) {
  if (!IsWord(arguments[0], "key-count")) {
    return Reply::Error("ERR Unrecognized sort metric for ORDERBY.");
  }
  Order order;
  if (std::optional<Reply> error = ReadOrder(arguments.subspan(1), order)) {
    return *std::move(error);
  }
  std::vector<SlotCount> slots = OwnSlots(context, 0, base::kClusterSlots - 1);
  // Slots with as many keys stay in the order of their numbers.
  std::stable_sort(slots.begin(), slots.end(), [&](const SlotCount& a, const SlotCount& b) {
    return order.ascending ? a.keys < b.keys : a.keys > b.keys;
  });
  slots.resize(std::min(slots.size(), static_cast<size_t>(order.limit)));
  return SlotsReply(slots);
}

}  // namespace

Reply HandleClusterSlotStats(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  if (arguments.size() == 3 && IsWord(arguments[0], "SLOTSRANGE")) {
    return SlotsOfRange(context, arguments.subspan(1));
  }
  if (arguments.size() >= 2 && IsWord(arguments[0], "ORDERBY")) {
    return SlotsInOrder(context, arguments.subspan(1));
  }
  return WrongSubcommandUse(context);
}

}  // namespace redouble::inline v0_1::memory
