#include "redouble/sim/cluster/slot_mover.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/cluster/slot_move.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/world/servers/server_links.h"

namespace redouble::inline v0_1::sim {
namespace {

// A move that a restart of a server interrupts is begun again; more often than so it cannot work.
constexpr int kTries = 100;

// Short pauses are as likely as long ones: a pause is below the longest one, or half of it, and so
// on.
absl::Duration DrawPause(base::Rng& rng, absl::Duration longest) {
  constexpr uint64_t kMagnitudes = 16;
  const int64_t below_us = absl::ToInt64Microseconds(longest) >> rng.Below(kMagnitudes);
  return absl::Microseconds(static_cast<int64_t>(rng.Below(static_cast<uint64_t>(below_us) + 1)));
}

class SlotMover {
 public:
  explicit SlotMover(Actor& actor) : actor_(actor) {
    for (const std::unique_ptr<WorldServer>& server : actor.world().servers()) {
      if (server->cluster() != nullptr) nodes_.push_back({server.get(), nullptr});
    }
  }

  size_t masters() { return Masters().size(); }

  base::Task<absl::Status> MoveSlotOf(std::string_view key, std::string_view from,
                                      std::string_view to) {
    Node* const giver = Find(from);
    Node* const taker = Find(to);
    if (giver == nullptr || taker == nullptr || giver == taker) {
      co_return absl::InvalidArgumentError("a slot is moved from a master to another one");
    }
    co_return co_await Move(base::KeySlot(key), *giver, *taker, {});
  }

  // Moves the slot of a random key of a random master to another one.
  base::Task<absl::Status> MoveOne() {
    const std::vector<Node*> masters = Masters();
    const size_t from = actor_.rng().Below(masters.size());
    const size_t to = (from + 1 + actor_.rng().Below(masters.size() - 1)) % masters.size();
    const absl::StatusOr<std::optional<std::string>> key =
        co_await store::RandomKey(StoreOf(*masters[from]));
    // A broken connection, a master that is one no more, or no key: another time.
    if (!key.ok() || !key->has_value() || !Owns(*masters[from], base::KeySlot(**key))) {
      masters[from]->connection.reset();
      co_return absl::OkStatus();
    }
    co_return co_await MoveUntilDone(base::KeySlot(**key), masters[from], masters[to]);
  }

 private:
  struct Node {
    WorldServer* server;
    std::unique_ptr<store::MessageSource> connection;
  };

  static bool IsMaster(const Node& node) { return node.server->cluster()->is_master(); }
  static bool Owns(const Node& node, int slot) {
    return IsMaster(node) && node.server->cluster()->IsOwn(slot);
  }

  std::vector<Node*> Masters() {
    std::vector<Node*> masters;
    for (Node& node : nodes_) {
      if (IsMaster(node)) masters.push_back(&node);
    }
    return masters;
  }

  Node* Find(std::string_view name) {
    for (Node* const master : Masters()) {
      if (master->server->name() == name) return master;
    }
    return nullptr;
  }

  base::Task<absl::Status> MoveUntilDone(int slot, Node* from, Node* to) {
    absl::Status moved;
    store::SlotMoveOptions options;
    for (int i = 0; i < kTries; ++i) {
      if (!IsMaster(*from) || !IsMaster(*to)) {
        options.replace = true;
        from = Heir(*from);
        to = Heir(*to);
      }
      moved = co_await Move(slot, *from, *to, options);
      if (moved.ok()) break;
      for (Node& node : nodes_) node.connection.reset();
      // The nodes hear of a new master before the clock moves.
      co_await actor_.clock().Sleep(absl::Milliseconds(1));
    }
    co_return moved;
  }

  // The node itself if it is a master; otherwise the replica that took over from it.
  Node* Heir(Node& node) {
    const memory::ClusterView& view = *node.server->cluster();
    if (view.is_master()) return &node;
    Node* const heir = Find(view.shards()[view.self()].master.host);
    assert(heir != nullptr);
    return heir;
  }

  store::Store& StoreOf(Node& node) {
    if (node.connection == nullptr) node.connection = actor_.Connect(node.server->name());
    return *node.connection;
  }

  store::SlotNode NodeOf(Node& node) {
    const memory::ClusterAddress& address = node.server->cluster()->address();
    return {&StoreOf(node), address.id, node.server->name(), kServerPort};
  }

  base::Task<absl::Status> Move(int slot, Node& from, Node& to, store::SlotMoveOptions options) {
    std::vector<store::Store*> others;
    for (Node* const master : Masters()) {
      if (master != &from && master != &to) others.push_back(&StoreOf(*master));
    }
    co_return co_await store::MoveSlot(slot, NodeOf(from), NodeOf(to), std::move(others), options);
  }

  Actor& actor_;
  std::vector<Node> nodes_;
};

}  // namespace

base::Task<absl::Status> MoveSlotOf(Actor& actor, std::string key, std::string from,
                                    std::string to) {
  SlotMover mover(actor);
  co_return co_await mover.MoveSlotOf(key, from, to);
}

base::Task<void> MoveSlots(Actor& actor, SlotMoves moves) {
  SlotMover mover(actor);
  if (mover.masters() < 2) {
    actor.world().ReportMistake(
        absl::InvalidArgumentError("slots are moved between two masters of a cluster at least"));
    co_return;
  }
  for (int64_t i = 0; i < moves.most; ++i) {
    co_await actor.clock().Sleep(DrawPause(actor.rng(), moves.longest_pause));
    if (moves.end && moves.end()) co_return;
    const absl::Status moved = co_await mover.MoveOne();
    if (moved.ok()) continue;
    actor.world().ReportMistake(
        absl::InvalidArgumentError(absl::StrCat("a slot cannot be moved: ", moved.message())));
    co_return;
  }
}

}  // namespace redouble::inline v0_1::sim
