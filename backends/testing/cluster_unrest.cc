#include "redouble/backends/testing/cluster_unrest.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/cluster/info_field.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {
namespace {

// A test that moves the clock hundreds of times does it in the pauses.
constexpr std::chrono::milliseconds kPauseBetweenMoves(20);
// A client follows a slot only so many times per request (Options::redirections). On a busy machine
// it is slower than the mover, so a slot does not move again before so many others have moved.
constexpr size_t kRestInMoves = 16;
// The most commands of a test before its master dies.
constexpr uint64_t kMostCommands = 12;

[[noreturn]] void Die(const absl::Status& status) {
  std::fprintf(stderr, "the unrest of the cluster failed: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

Unrest WantedUnrest() {
  const char* const word = std::getenv("REDOUBLE_LIVE_WHILE");
  const std::string_view unrest = word == nullptr ? "" : word;
  if (unrest.empty()) return Unrest::kNone;
  if (unrest == "moving") return Unrest::kMoving;
  if (unrest == "failover") return Unrest::kFailover;
  std::fprintf(stderr, "REDOUBLE_LIVE_WHILE is moving, failover or unset, not \"%s\"\n", word);
  std::abort();
}

SlotMover::SlotMover(redis::SpawnedCluster& cluster, size_t masters, uint64_t seed)
    : cluster_(cluster), masters_(masters), rng_(seed), owners_(base::kClusterSlots) {
  for (size_t master = 0; master < masters; ++master) {
    const auto [first, last] = cluster.SlotsOf(master);
    std::fill(owners_.begin() + first, owners_.begin() + last + 1, master);
  }
  thread_ = std::thread([this] { Run(); });
}

SlotMover::~SlotMover() {
  {
    const auto calm = Calm();
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
  std::printf("[cluster moved] %lld slots with keys\n", static_cast<long long>(with_keys_));
}

void SlotMover::Run() {
  auto calm = Calm();
  while (!ends_) {
    if (const absl::Status moved = MoveOne(); !moved.ok()) Die(moved);
    ended_.wait_for(calm, kPauseBetweenMoves);
  }
}

absl::StatusOr<std::optional<int>> SlotMover::SlotWithKeys() {
  const size_t first = rng_.Below(masters_);
  for (size_t i = 0; i < masters_; ++i) {
    REDOUBLE_ASSIGN_OR_RETURN(
        const store::Reply key,
        redis::AskServer(cluster_.node((first + i) % masters_), {"RANDOMKEY"}));
    if (!key.is_bulk()) continue;
    const int slot = base::KeySlot(key.text());
    if (std::find(moved_.begin(), moved_.end(), slot) != moved_.end()) continue;
    REDOUBLE_ASSIGN_OR_RETURN(const bool expires_now, ExpiresNow(slot));
    if (!expires_now) return slot;
  }
  return std::nullopt;
}

absl::StatusOr<bool> SlotMover::ExpiresNow(int slot) {
  const redis::SpawnedServer& node = cluster_.node(owners_[static_cast<size_t>(slot)]);
  REDOUBLE_ASSIGN_OR_RETURN(
      const store::Reply keys,
      redis::AskServer(node, {"CLUSTER", "GETKEYSINSLOT", absl::StrCat(slot), "1000"}));
  for (const store::Reply& key : keys.elements()) {
    REDOUBLE_ASSIGN_OR_RETURN(const store::Reply ttl, redis::AskServer(node, {"PTTL", key.text()}));
    if (ttl == store::Reply::Integer(0)) return true;
  }
  return false;
}

absl::Status SlotMover::MoveOne() {
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<int> with_keys, SlotWithKeys());
  const int slot = with_keys.value_or(static_cast<int>(rng_.Below(base::kClusterSlots)));
  size_t& owner = owners_[static_cast<size_t>(slot)];
  const size_t to = (owner + 1 + rng_.Below(masters_ - 1)) % masters_;
  REDOUBLE_RETURN_IF_ERROR(cluster_.MoveSlot(slot, owner, to));
  owner = to;
  if (with_keys) ++with_keys_;
  moved_.push_back(slot);
  if (moved_.size() > kRestInMoves) moved_.pop_front();
  return absl::OkStatus();
}

MasterKiller::MasterKiller(redis::SpawnedCluster& cluster, size_t masters, base::Rng rng)
    : cluster_(cluster),
      masters_(masters),
      master_(rng.Below(masters)),
      between_commands_(rng.Chance(0.5)),
      commands_left_(static_cast<int64_t>(rng.Below(kMostCommands))) {}

MasterKiller::~MasterKiller() { WaitUntilTaken(); }

void MasterKiller::BeforeCommand() {
  if (commands_left_-- != 0) return;
  has_killed_ = true;
  std::printf("[cluster killed] %s\n", between_commands_ ? "between commands" : "at any moment");
  if (between_commands_) {
    if (const absl::Status waited = WaitForReplica(); !waited.ok()) Die(waited);
    Kill();
  }
  thread_ = std::thread([this] {
    if (!between_commands_) Kill();
    TakeOver();
  });
}

void MasterKiller::WaitUntilTaken() {
  if (thread_.joinable()) thread_.join();
}

void MasterKiller::Kill() { cluster_.node(master_).Kill(); }

absl::Status MasterKiller::WaitForReplica() {
  const auto offset = [](const redis::SpawnedServer& node,
                         absl::string_view field) -> absl::StatusOr<int64_t> {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string text,
                              redis::AskServer(node, "INFO", "replication"));
    const std::optional<int64_t> value =
        base::ParseInt64(store::InfoField(text, {field.data(), field.size()}));
    if (value) return *value;
    return absl::NotFoundError(absl::StrCat(field, " is not in: ", text));
  };
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t written,
                            offset(cluster_.node(master_), "master_repl_offset"));
  while (true) {
    REDOUBLE_ASSIGN_OR_RETURN(const int64_t received,
                              offset(cluster_.node(master_ + masters_), "slave_repl_offset"));
    if (received >= written) return absl::OkStatus();
  }
}

// The held clocks of the nodes keep them from noticing the loss by themselves.
void MasterKiller::TakeOver() {
  const auto answer =
      redis::AskServer(cluster_.node(master_ + masters_), {"CLUSTER", "FAILOVER", "TAKEOVER"});
  if (!answer.ok()) Die(answer.status());
}

}  // namespace redouble::inline v0_1::tests
