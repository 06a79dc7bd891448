#include "redouble/sim/cluster/slot_mover.h"

#include <algorithm>
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
      const memory::ClusterView* const view = server->cluster();
      if (view != nullptr && view->is_master()) masters_.push_back({server.get(), nullptr});
    }
  }

  size_t masters() const { return masters_.size(); }

  base::Task<absl::Status> MoveSlotOf(std::string_view key, std::string_view from,
                                      std::string_view to) {
    Master* const giver = Find(from);
    Master* const taker = Find(to);
    if (giver == nullptr || taker == nullptr || giver == taker) {
      co_return absl::InvalidArgumentError("a slot is moved from a master to another one");
    }
    co_return co_await Move(base::KeySlot(key), *giver, *taker);
  }

  // Moves the slot of a random key of a random master to another one.
  base::Task<absl::Status> MoveOne() {
    const size_t from = actor_.rng().Below(masters_.size());
    const size_t to = (from + 1 + actor_.rng().Below(masters_.size() - 1)) % masters_.size();
    const absl::StatusOr<std::optional<std::string>> key =
        co_await store::RandomKey(StoreOf(masters_[from]));
    // A broken connection, or no key: another time.
    if (!key.ok() || !key->has_value()) {
      masters_[from].connection.reset();
      co_return absl::OkStatus();
    }
    const int slot = base::KeySlot(**key);
    absl::Status moved;
    for (int i = 0; i < kTries; ++i) {
      moved = co_await Move(slot, masters_[from], masters_[to]);
      if (moved.ok()) break;
      for (Master& master : masters_) master.connection.reset();
    }
    co_return moved;
  }

 private:
  struct Master {
    WorldServer* server;
    std::unique_ptr<store::MessageSource> connection;
  };

  Master* Find(std::string_view name) {
    const auto found = std::find_if(masters_.begin(), masters_.end(), [&](const Master& master) {
      return master.server->name() == name;
    });
    return found == masters_.end() ? nullptr : &*found;
  }

  store::Store& StoreOf(Master& master) {
    if (master.connection == nullptr) master.connection = actor_.Connect(master.server->name());
    return *master.connection;
  }

  store::SlotNode NodeOf(Master& master) {
    const memory::ClusterAddress& address = master.server->cluster()->address();
    return {&StoreOf(master), address.id, master.server->name(), kServerPort};
  }

  base::Task<absl::Status> Move(int slot, Master& from, Master& to) {
    std::vector<store::Store*> others;
    for (Master& master : masters_) {
      if (&master != &from && &master != &to) others.push_back(&StoreOf(master));
    }
    co_return co_await store::MoveSlot(slot, NodeOf(from), NodeOf(to), std::move(others));
  }

  Actor& actor_;
  std::vector<Master> masters_;
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
