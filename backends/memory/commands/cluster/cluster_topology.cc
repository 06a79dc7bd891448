// The subcommands of CLUSTER that change the slots of nodes, and those that would change the nodes.
// The nodes of a simulated cluster do not change: the latter refuse what Redis refuses, accept
// requests that would change nothing, and return an error for all others.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/commands/cluster/cluster_nodes.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMaxPort = 65535;

Reply NeverChanges() {
  return Reply::Error("ERR not done: the nodes of a simulated cluster never change");
}

enum class SlotChange { kAdd, kDelete };

// The slots that one command names.
class SlotsToChange {
 public:
  SlotsToChange(const ClusterView& view, SlotChange change) : view_(view), change_(change) {}

  // Assigns the slots to this node, or to none, when all have been named.
  Reply Change(CommandContext& context) const {
    context.engine().ChangeCluster([&](ClusterView& view) {
      const auto owner =
          change_ == SlotChange::kAdd ? static_cast<int16_t>(view.self()) : ClusterView::kNobody;
      for (int slot = 0; slot < base::kClusterSlots; ++slot) {
        if (named_[static_cast<size_t>(slot)]) view.Assign(slot, owner);
      }
    });
    return Reply::Ok();
  }

  // Returns an error reply, or nil.
  Reply Name(int slot) {
    const bool assigned = view_.ShardOf(slot) != ClusterView::kNobody;
    if (change_ == SlotChange::kAdd && assigned) return Refused(slot, "is already busy");
    if (change_ == SlotChange::kDelete && !assigned) return Refused(slot, "is already unassigned");
    if (std::exchange(named_[static_cast<size_t>(slot)], true)) {
      return Refused(slot, "specified multiple times");
    }
    return Reply::Nil();
  }

 private:
  static Reply Refused(int slot, absl::string_view why) {
    return Reply::Error(absl::StrCat("ERR Slot ", slot, " ", why));
  }

  const ClusterView& view_;
  const SlotChange change_;
  std::array<bool, base::kClusterSlots> named_ = {};
};

Reply ChangeSlots(CommandContext& context, Arguments arguments, SlotChange change) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  std::vector<int> slots;
  for (const std::string_view argument : arguments) {
    const std::optional<int> slot = ReadSlot(argument);
    if (!slot) return InvalidSlot();
    slots.push_back(*slot);
  }
  SlotsToChange named(*view, change);
  for (const int slot : slots) {
    if (Reply error = named.Name(slot); error.is_error()) return error;
  }
  return named.Change(context);
}

Reply ChangeSlotRanges(CommandContext& context, Arguments arguments, SlotChange change,
                       std::string_view command) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  if (arguments.size() % 2 != 0) return WrongArity(command);
  SlotsToChange named(*view, change);
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::optional<int> first = ReadSlot(arguments[i]);
    const std::optional<int> last = ReadSlot(arguments[i + 1]);
    if (!first || !last) return InvalidSlot();
    if (*first > *last) {
      return Reply::Error(absl::StrCat("ERR start slot number ", *first,
                                       " is greater than end slot number ", *last));
    }
    for (int slot = *first; slot <= *last; ++slot) {
      if (Reply error = named.Name(slot); error.is_error()) return error;
    }
  }
  return named.Change(context);
}

size_t KeysInFirstDatabase(CommandContext& context) { return context.engine().database(0).size(); }

bool ServesSlots(const ClusterView& view) {
  for (int slot = 0; slot < base::kClusterSlots; ++slot) {
    if (view.IsOwn(slot)) return true;
  }
  return false;
}

// Checks an optional argument that must be one of two words. Returns an error reply, or nil.
Reply CheckMode(const CommandContext& context, Arguments arguments, std::string_view one,
                std::string_view other) {
  if (arguments.size() > 1) return WrongSubcommandUse(context);
  const bool known = arguments.empty() || IsWord(arguments[0], one) || IsWord(arguments[0], other);
  return known ? Reply::Nil() : SyntaxError();
}

bool IsPort(int64_t port) { return port > 0 && port <= kMaxPort; }

Reply InvalidSetSlot() {
  return Reply::Error(
      "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
}

Reply NotAMaster() { return Reply::Error("ERR Target node is not a master"); }

enum class Move { kMigrating, kImporting };

// MIGRATING and IMPORTING.
Reply MoveSlot(CommandContext& context, const ClusterView& view, int slot, std::string_view node_id,
               Move move) {
  const bool serves = move == Move::kMigrating;
  if (view.IsOwn(slot) != serves) {
    return Reply::Error(absl::StrCat(
        serves ? "ERR I'm not the owner of hash slot " : "ERR I'm already the owner of hash slot ",
        slot));
  }
  const std::optional<ClusterNode> node = FindNode(view, node_id);
  if (!node) return Reply::Error("ERR I don't know about node " + WordInError(node_id));
  if (!node->is_master) return NotAMaster();
  context.engine().ChangeCluster([&](ClusterView& changed) {
    if (serves) {
      changed.SetMigrating(slot, node->shard);
    } else {
      changed.SetImporting(slot, node->shard);
    }
  });
  return Reply::Ok();
}

Reply GiveSlot(CommandContext& context, const ClusterView& view, int slot,
               std::string_view node_id) {
  const std::optional<ClusterNode> node = FindNode(view, node_id);
  if (!node) return UnknownNode(node_id);
  if (!node->is_master) return NotAMaster();
  const bool has_keys = CountKeysInSlot(context, slot) > 0;
  if (view.IsOwn(slot) && node->shard != view.self() && has_keys) {
    return Reply::Error(absl::StrCat("ERR Can't assign hashslot ", slot,
                                     " to a different node while I still hold keys for this hash "
                                     "slot."));
  }
  context.engine().ChangeCluster([&](ClusterView& changed) {
    if (!has_keys) changed.EndMigrating(slot);
    changed.Assign(slot, static_cast<int16_t>(node->shard));
  });
  return Reply::Ok();
}

Reply SetStable(CommandContext& context, int slot) {
  context.engine().ChangeCluster([&](ClusterView& changed) { changed.SetStable(slot); });
  return Reply::Ok();
}

}  // namespace

Reply HandleClusterAddSlots(CommandContext& context, Arguments arguments) {
  return ChangeSlots(context, arguments, SlotChange::kAdd);
}

Reply HandleClusterAddSlotsRange(CommandContext& context, Arguments arguments) {
  return ChangeSlotRanges(context, arguments, SlotChange::kAdd, "cluster|addslotsrange");
}

Reply HandleClusterDelSlots(CommandContext& context, Arguments arguments) {
  return ChangeSlots(context, arguments, SlotChange::kDelete);
}

Reply HandleClusterDelSlotsRange(CommandContext& context, Arguments arguments) {
  return ChangeSlotRanges(context, arguments, SlotChange::kDelete, "cluster|delslotsrange");
}

Reply HandleClusterFlushSlots(CommandContext& context, Arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  if (KeysInFirstDatabase(context) > 0) {
    return Reply::Error("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
  }
  context.engine().ChangeCluster([](ClusterView& view) {
    for (int slot = 0; slot < base::kClusterSlots; ++slot) {
      if (view.IsOwn(slot)) view.Assign(slot, ClusterView::kNobody);
    }
  });
  return Reply::Ok();
}

Reply HandleClusterSetSlot(CommandContext& context, Arguments arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  if (!view->is_master()) return Reply::Error("ERR Please use SETSLOT only with masters.");
  const std::optional<int> slot = ReadSlot(arguments[0]);
  if (!slot) return InvalidSlot();
  if (arguments.size() == 2) {
    return IsWord(arguments[1], "STABLE") ? SetStable(context, *slot) : InvalidSetSlot();
  }
  if (arguments.size() != 3) return InvalidSetSlot();
  const std::string_view node = arguments[2];
  if (IsWord(arguments[1], "MIGRATING")) {
    return MoveSlot(context, *view, *slot, node, Move::kMigrating);
  }
  if (IsWord(arguments[1], "IMPORTING")) {
    return MoveSlot(context, *view, *slot, node, Move::kImporting);
  }
  if (IsWord(arguments[1], "NODE")) return GiveSlot(context, *view, *slot, node);
  return InvalidSetSlot();
}

Reply HandleClusterBumpEpoch(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  bool bumped = false;
  context.engine().ChangeCluster([&](ClusterView& changed) { bumped = changed.BumpEpoch(); });
  return Reply::Status(absl::StrCat(bumped ? "BUMPED " : "STILL ", view->EpochOf(view->self())));
}

Reply HandleClusterSetConfigEpoch(CommandContext& context, Arguments arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  const std::optional<int64_t> epoch = base::ParseInt64(arguments[0]);
  if (!epoch) return Reply::Error(error_text::kNotAnInteger);
  if (*epoch < 0) return Reply::Error(absl::StrCat("ERR Invalid config epoch specified: ", *epoch));
  if (view->shards().size() > 1 || !view->shards()[0].replicas.empty()) {
    return Reply::Error(
        "ERR The user can assign a config epoch only when the node does not know any other node.");
  }
  if (view->EpochOf(view->self()) != 0) {
    return Reply::Error("ERR Node config epoch is already non-zero");
  }
  context.engine().ChangeCluster(
      [&](ClusterView& changed) { changed.SetEpoch(static_cast<uint64_t>(*epoch)); });
  return Reply::Ok();
}

Reply HandleClusterMeet(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  if (arguments.size() > 3) return WrongSubcommandUse(context);
  const std::optional<int64_t> port = base::ParseInt64(arguments[1]);
  if (!port) {
    return Reply::Error("ERR Invalid TCP base port specified: " + WordInError(arguments[1]));
  }
  // The sum could overflow.
  const std::optional<int64_t> bus_port = arguments.size() == 3 ? base::ParseInt64(arguments[2])
                                          : IsPort(*port)       ? *port + kBusPortOffset
                                                                : *port;
  if (!bus_port) {
    return Reply::Error("ERR Invalid TCP bus port specified: " + WordInError(arguments[2]));
  }
  // The address is not checked, because no node is contacted.
  if (!IsPort(*port) || !IsPort(*bus_port)) {
    return Reply::Error("ERR Invalid node address specified: " + WordInError(arguments[0]) + ":" +
                        WordInError(arguments[1]));
  }
  return NeverChanges();
}

Reply HandleClusterForget(CommandContext& context, Arguments arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  const std::optional<ClusterNode> node = FindNode(*view, arguments[0]);
  if (!node) return UnknownNode(arguments[0]);
  if (arguments[0] == view->address().id) {
    return Reply::Error("ERR I tried hard but I can't forget myself...");
  }
  return NeverChanges();
}

Reply HandleClusterReplicate(CommandContext& context, Arguments arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  const std::optional<ClusterNode> node = FindNode(*view, arguments[0]);
  if (!node) return UnknownNode(arguments[0]);
  if (!node->is_master) {
    return Reply::Error("ERR I can only replicate a master, not a replica.");
  }
  if (node->shard == view->self()) return Reply::Error("ERR Can't replicate myself");
  if (ServesSlots(*view) || KeysInFirstDatabase(context) > 0) {
    return Reply::Error("ERR To set a master the node must be empty and without assigned slots.");
  }
  return NeverChanges();
}

Reply HandleClusterReset(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  if (Reply error = CheckMode(context, arguments, "HARD", "SOFT"); error.is_error()) return error;
  if (KeysInFirstDatabase(context) > 0) {
    return Reply::Error("ERR CLUSTER RESET can't be called with master nodes containing keys");
  }
  return NeverChanges();
}

Reply HandleClusterFailover(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  if (Reply error = CheckMode(context, arguments, "FORCE", "TAKEOVER"); error.is_error()) {
    return error;
  }
  const bool is_master = context.engine().cluster()->is_master();
  return is_master ? Reply::Error("ERR You should send CLUSTER FAILOVER to a replica")
                   : NeverChanges();
}

Reply HandleClusterSaveConfig(CommandContext& context, Arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  return Reply::Error(error_text::kNothingIsSaved);
}

}  // namespace redouble::inline v0_1::memory
