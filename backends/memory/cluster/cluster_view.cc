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
    : shards_(std::move(options.shards)), migrates_in_scripts_(options.migrates_in_scripts) {
  if (shards_.empty()) shards_.push_back(ClusterShard());
  self_ = std::min(options.self, shards_.size() - 1);
  shard_of_.fill(kNobody);
  for (size_t i = 0; i < shards_.size(); ++i) {
    ClusterShard& shard = shards_[i];
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

void ClusterView::Keys::Add(const store::CommandSpec& spec,
                            std::span<const std::string_view> arguments) {
  const bool has_channels = spec.group == store::CommandGroup::kPubSub;
  const std::optional<std::vector<size_t>> indexes =
      store::KeyIndexes(has_channels ? WithChannelsAsKeys(spec) : spec, arguments);
  if (!indexes) return;
  for (const size_t index : *indexes) {
    const int slot = base::KeySlot(arguments[index]);
    if (slot_ == kNoSlot) slot_ = slot;
    crosses_ = crosses_ || slot != slot_;
  }
}

// Redis checks the slot of the first key before those of the others.
ClusterView::Verdict ClusterView::Keys::verdict() const {
  if (slot_ == kNoSlot) return Verdict::kServes;
  const int16_t owner = view_.ShardOf(slot_);
  if (owner == kNobody) return Verdict::kNotServed;
  if (crosses_) return Verdict::kCrossSlot;
  if (!view_.is_up()) return Verdict::kDown;
  return static_cast<size_t>(owner) == view_.self() ? Verdict::kServes : Verdict::kMoved;
}

std::string ClusterView::ErrorText(Verdict verdict, int slot) const {
  switch (verdict) {
    case Verdict::kCrossSlot:
      return "CROSSSLOT Keys in request don't hash to the same slot";
    case Verdict::kNotServed:
      return "CLUSTERDOWN Hash slot not served";
    case Verdict::kDown:
      return "CLUSTERDOWN The cluster is down";
    case Verdict::kMoved: {
      const ClusterAddress& owner = shards_[static_cast<size_t>(ShardOf(slot))].master;
      return absl::StrCat("MOVED ", slot, " ", owner.host, ":", owner.port);
    }
    case Verdict::kServes:
      break;
  }
  assert(false && "nothing is wrong");
  return {};
}

}  // namespace redouble::inline v0_1::memory
