#include "redouble/backends/memory/cluster/cluster_view.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

void GiveId(ClusterAddress& address) {
  if (address.id.empty()) {
    address.id = base::Sha1Hex(base::ToStd(absl::StrCat(address.host, ":", address.port)));
  }
}

// Shard channels have slots, as keys do.
store::CommandSpec WithChannelsAsKeys(store::CommandSpec spec) {
  for (store::KeySpec& key : spec.key_specs) {
    key.flags = static_cast<uint16_t>(key.flags & ~store::KeySpec::kNotKey);
  }
  return spec;
}

}  // namespace

ClusterView::ClusterView(ClusterOptions options)
    : shards_(std::move(options.shards)),
      self_replica_(options.self_replica),
      migrates_in_scripts_(options.migrates_in_scripts) {
  if (shards_.empty()) shards_.push_back(ClusterShard());
  self_ = std::min(options.self, shards_.size() - 1);
  assert(is_master() || *self_replica_ < shards_[self_].replicas.size());
  shard_of_.fill(kNobody);
  for (size_t i = 0; i < shards_.size(); ++i) {
    ClusterShard& shard = shards_[i];
    epochs_.push_back(shard.epoch.value_or(i));
    GiveId(shard.master);
    for (ClusterAddress& replica : shard.replicas) GiveId(replica);
    for (const SlotRange& range : shard.slots) {
      const int last = std::min(range.last, base::kClusterSlots - 1);
      for (int slot = std::max(range.first, 0); slot <= last; ++slot) {
        int16_t& owner = shard_of_[static_cast<size_t>(slot)];
        if (owner != kNobody) continue;
        owner = static_cast<int16_t>(i);
        ++assigned_slots_;
      }
    }
  }
}

const ClusterAddress& ClusterView::address() const {
  const ClusterShard& shard = shards_[self_];
  return is_master() ? shard.master : shard.replicas[*self_replica_];
}

void ClusterView::Assign(int slot, int16_t shard) {
  int16_t& owner = shard_of_[static_cast<size_t>(slot)];
  assigned_slots_ += (shard == kNobody ? 0 : 1) - (owner == kNobody ? 0 : 1);
  owner = shard;
  if (IsOwn(slot) && importing_.erase(slot) > 0) BumpEpoch();
}

uint64_t ClusterView::current_epoch() const {
  return *std::max_element(epochs_.begin(), epochs_.end());
}

bool ClusterView::BumpEpoch() {
  const uint64_t newest = current_epoch();
  if (EpochOf(self_) != 0 && EpochOf(self_) == newest) return false;
  SetEpoch(newest + 1);
  return true;
}

void ClusterView::TakeOver(uint64_t epoch) {
  assert(!is_master() && epoch > current_epoch());
  ClusterShard& shard = shards_[self_];
  std::swap(shard.master, shard.replicas[*self_replica_]);
  self_replica_.reset();
  SetEpoch(epoch);
}

bool ClusterView::IsTaken(int slot, const ClusterView& sender) const {
  const int16_t owner = ShardOf(slot);
  if (!sender.IsOwn(slot) || owner == static_cast<int16_t>(sender.self_)) return false;
  if (importing_.contains(slot)) return false;
  return owner == kNobody || EpochOf(static_cast<size_t>(owner)) < sender.EpochOf(sender.self_);
}

// Of two masters with one epoch, that with the smaller id takes another.
bool ClusterView::Collides(const ClusterView& sender) const {
  return sender.self_ != self_ && is_master() && sender.EpochOf(sender.self_) == EpochOf(self_) &&
         address().id < sender.address().id;
}

bool ClusterView::HasNews(const ClusterView& sender) const {
  // A former master that has not heard of its successor claims the slots with an old epoch.
  const uint64_t epoch = sender.EpochOf(sender.self_);
  if (!sender.is_master() || epoch < EpochOf(sender.self_)) return false;
  if (epoch > EpochOf(sender.self_) || Collides(sender)) return true;
  if (shard_of_ == sender.shard_of_) return false;
  for (int slot = 0; slot < base::kClusterSlots; ++slot) {
    if (IsTaken(slot, sender)) return true;
  }
  return false;
}

void ClusterView::LearnNodes(const ClusterView& sender) {
  const size_t shard = sender.self_;
  const std::string own_id = address().id;
  shards_[shard].master = sender.shards_[shard].master;
  shards_[shard].replicas = sender.shards_[shard].replicas;
  if (shard != self_) return;
  // It has another master, or is a replica now.
  const std::vector<ClusterAddress>& replicas = shards_[self_].replicas;
  const auto own =
      std::find_if(replicas.begin(), replicas.end(),
                   [&](const ClusterAddress& replica) { return replica.id == own_id; });
  assert(own != replicas.end());
  self_replica_ = static_cast<size_t>(own - replicas.begin());
}

std::set<int> ClusterView::Learn(const ClusterView& sender) {
  assert(HasNews(sender));
  const size_t shard = sender.self_;
  std::set<int> lost;
  if (sender.EpochOf(shard) > EpochOf(shard)) LearnNodes(sender);
  for (int slot = 0; slot < base::kClusterSlots; ++slot) {
    if (!IsTaken(slot, sender)) continue;
    if (is_master() && IsOwn(slot)) lost.insert(slot);
    Assign(slot, static_cast<int16_t>(shard));
  }
  epochs_[shard] = sender.EpochOf(shard);
  if (Collides(sender)) SetEpoch(current_epoch() + 1);
  return lost;
}

void ClusterView::Keys::Add(const store::CommandSpec& spec,
                            std::span<const std::string_view> arguments, HasKey has_key) {
  const bool has_channels = spec.group == store::CommandGroup::kPubSub;
  const std::optional<std::vector<size_t>> indexes =
      store::KeyIndexes(has_channels ? WithChannelsAsKeys(spec) : spec, arguments);
  if (!indexes) return;
  for (const size_t index : *indexes) {
    const std::string_view key = arguments[index];
    const int slot = base::KeySlot(key);
    const bool is_first = slot_ == kNoSlot;
    if (is_first) slot_ = slot;
    crosses_ = crosses_ || slot != slot_;
    const bool asks = view_.IsMoving(slot) || view_.migrates_in_scripts();
    if (has_channels || crosses_ || !asks) continue;
    if (is_first) first_key_ = key;
    has_several_keys_ = has_several_keys_ || key != first_key_;
    (has_key(key) ? has_present_keys_ : has_missing_keys_) = true;
  }
}

// Redis checks the slot of the first key before those of the others.
ClusterView::Verdict ClusterView::Keys::verdict(const Sender& sender) const {
  if (slot_ == kNoSlot) return Verdict::kServes;
  const int16_t owner = view_.ShardOf(slot_);
  if (owner == kNobody) return Verdict::kNotServed;
  if (crosses_) return Verdict::kCrossSlot;
  if (!view_.is_up()) return Verdict::kDown;
  const bool is_migrating = view_.IsOwn(slot_) && view_.migrating_.contains(slot_);
  const bool is_importing = !is_migrating && view_.importing_.contains(slot_);
  if ((is_migrating || is_importing) && sender.migrates) return Verdict::kServes;
  if (is_migrating && has_missing_keys_) {
    if (has_present_keys_) return Verdict::kTryAgain;
    // Redis lets a node move a slot to itself.
    return view_.migrating_.at(slot_) == view_.self_ ? Verdict::kServes : Verdict::kAsk;
  }
  if (is_importing && sender.asking) {
    return has_several_keys_ && has_missing_keys_ ? Verdict::kTryAgain : Verdict::kServes;
  }
  if (!view_.IsOwn(slot_)) return Verdict::kMoved;
  return view_.is_master() || sender.reads_replica ? Verdict::kServes : Verdict::kMoved;
}

std::string ClusterView::Redirection(std::string_view word, int slot, size_t shard) const {
  const ClusterAddress& node = shards_[shard].master;
  return absl::StrCat(base::ToAbsl(word), " ", slot, " ", node.host, ":", node.port);
}

std::string ClusterView::ErrorText(Verdict verdict, int slot) const {
  switch (verdict) {
    case Verdict::kCrossSlot:
      return "CROSSSLOT Keys in request don't hash to the same slot";
    case Verdict::kNotServed:
      return "CLUSTERDOWN Hash slot not served";
    case Verdict::kDown:
      return "CLUSTERDOWN The cluster is down";
    case Verdict::kMoved:
      return Redirection("MOVED", slot, static_cast<size_t>(ShardOf(slot)));
    case Verdict::kAsk:
      return Redirection("ASK", slot, migrating_.at(slot));
    case Verdict::kTryAgain:
      return "TRYAGAIN Multiple keys request during rehashing of slot";
    case Verdict::kServes:
      break;
  }
  assert(false && "nothing is wrong");
  return {};
}

}  // namespace redouble::inline v0_1::memory
