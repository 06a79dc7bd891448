#include "redouble/core/store/pubsub/channel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::store {

absl::StatusOr<ChannelKind> ParseChannelKind(std::string_view name) {
  const auto found = std::find(kChannelKindNames.begin(), kChannelKindNames.end(), name);
  if (found != kChannelKindNames.end()) {
    return static_cast<ChannelKind>(found - kChannelKindNames.begin());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected documented, sharded or both, got '", base::ToAbsl(name), "'"));
}

PublishedChannels::PublishedChannels(ChannelKind kind, std::string documented_name,
                                     std::string sharded_name) {
  if (kind != ChannelKind::kSharded) documented = std::move(documented_name);
  if (kind != ChannelKind::kDocumented) sharded = std::move(sharded_name);
}

Channel PublishedChannels::followed() const {
  return sharded.empty() ? Channel{documented, false} : Channel{sharded, true};
}

void AddPublish(Batch& batch, PublishedChannels channels, std::string payload) {
  if (!channels.documented.empty()) {
    batch.Add(CommandId::kPublish).AddOwned(std::move(channels.documented)).AddOwned(payload);
  }
  if (!channels.sharded.empty()) {
    batch.Add(CommandId::kSPublish)
        .AddOwned(std::move(channels.sharded))
        .AddOwned(std::move(payload));
  }
}

}  // namespace redouble::inline v0_1::store
