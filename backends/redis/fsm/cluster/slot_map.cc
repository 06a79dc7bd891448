#include "redouble/backends/redis/fsm/cluster/slot_map.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/cluster/info_field.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;

absl::Status Unreadable(const Reply& reply) {
  const std::string text =
      absl::StrCat("CLUSTER SLOTS was answered with something else: ", reply.DebugString());
  return store::ProtocolError(std::string_view(text));
}

bool IsSlot(const Reply& reply) {
  return reply.is_integer() && reply.integer() >= 0 && reply.integer() < base::kClusterSlots;
}

// A node is an endpoint, a port, an id and, since Redis 7.0, metadata of the endpoint.
std::optional<TcpAddress> ReadNode(const Reply& node, const TcpAddress& asked) {
  if (!node.is_array() || node.elements().size() < 2) return std::nullopt;
  const Reply& host = node.elements()[0];
  const Reply& port = node.elements()[1];
  if (!host.is_bulk() && !host.is_nil()) return std::nullopt;
  if (!port.is_integer() || port.integer() < 1 ||
      port.integer() > std::numeric_limits<uint16_t>::max()) {
    return std::nullopt;
  }
  // "?" means that the node is configured to announce a host name but has none.
  const bool named = host.is_bulk() && !host.text().empty() && host.text() != "?";
  return TcpAddress{named ? host.text() : asked.host, static_cast<uint16_t>(port.integer())};
}

void AddOnce(const TcpAddress& address, std::vector<TcpAddress>& addresses) {
  if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
    addresses.push_back(address);
  }
}

}  // namespace

absl::StatusOr<SlotMap> SlotMap::FromReply(const Reply& reply, const TcpAddress& asked) {
  if (reply.is_error()) return store::ServerError(reply.text());
  if (!reply.is_array()) return Unreadable(reply);
  SlotMap map;
  for (const Reply& row : reply.elements()) {
    REDOUBLE_RETURN_IF_ERROR(map.AddRange(row, asked));
  }
  return map;
}

absl::Status SlotMap::AddRange(const Reply& row, const TcpAddress& asked) {
  if (!row.is_array() || row.elements().size() < 3) return Unreadable(row);
  const std::vector<Reply>& elements = row.elements();
  if (!IsSlot(elements[0]) || !IsSlot(elements[1])) return Unreadable(row);
  const int64_t first = elements[0].integer();
  const int64_t last = elements[1].integer();
  if (last < first) return Unreadable(row);
  const std::optional<TcpAddress> master = ReadNode(elements[2], asked);
  if (!master) return Unreadable(row);
  const int16_t index = IndexOf(*master);
  std::fill(owner_.begin() + first, owner_.begin() + last + 1, index);
  for (size_t i = 3; i < elements.size(); ++i) {
    const std::optional<TcpAddress> replica = ReadNode(elements[i], asked);
    if (!replica) return Unreadable(row);
    AddOnce(*replica, replicas_);
    AddOnce(*replica, replicas_of_[static_cast<size_t>(index)]);
  }
  return absl::OkStatus();
}

int16_t SlotMap::IndexOf(const TcpAddress& master) {
  const auto found = std::find(masters_.begin(), masters_.end(), master);
  const auto index = static_cast<int16_t>(found - masters_.begin());
  if (found == masters_.end()) {
    masters_.push_back(master);
    replicas_of_.emplace_back();
  }
  return index;
}

const TcpAddress* SlotMap::MasterOf(int slot) const {
  const int16_t index = owner_[static_cast<size_t>(slot)];
  return index == kNobody ? nullptr : &masters_[static_cast<size_t>(index)];
}

std::span<const TcpAddress> SlotMap::ReplicasOf(int slot) const {
  const int16_t index = owner_[static_cast<size_t>(slot)];
  if (index == kNobody) return {};
  return replicas_of_[static_cast<size_t>(index)];
}

void SlotMap::Move(int slot, const TcpAddress& master) {
  owner_[static_cast<size_t>(slot)] = IndexOf(master);
}

std::vector<TcpAddress> SlotMap::Masters() const {
  std::vector<bool> listed(masters_.size());
  std::vector<TcpAddress> masters;
  for (const int16_t owner : owner_) {
    if (owner == kNobody || listed[static_cast<size_t>(owner)]) continue;
    listed[static_cast<size_t>(owner)] = true;
    masters.push_back(masters_[static_cast<size_t>(owner)]);
  }
  return masters;
}

absl::StatusOr<ClusterView> ClusterView::FromReplies(const Reply& replies,
                                                     const TcpAddress& asked) {
  if (!replies.is_array() || replies.elements().size() != 2) return Unreadable(replies);
  ClusterView view;
  REDOUBLE_ASSIGN_OR_RETURN(view.map, SlotMap::FromReply(replies.elements()[0], asked));
  if (view.map.assigned_slots() == 0) {
    return store::NotSentError(std::string_view(
        absl::StrCat(asked.host, ":", asked.port, " belongs to a cluster without slots")));
  }
  const Reply& info = replies.elements()[1];
  if (!info.is_bulk()) return view;
  view.is_up = store::InfoField(info.text(), "cluster_state") != "fail";
  int64_t epoch = 0;
  if (absl::SimpleAtoi(base::ToAbsl(store::InfoField(info.text(), "cluster_current_epoch")),
                       &epoch)) {
    view.epoch = epoch;
  }
  return view;
}

int SlotMap::assigned_slots() const {
  return static_cast<int>(owner_.size() -
                          static_cast<size_t>(std::count(owner_.begin(), owner_.end(), kNobody)));
}

}  // namespace redouble::inline v0_1::redis
