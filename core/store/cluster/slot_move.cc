#include "redouble/core/store/cluster/slot_move.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr std::string_view kKeysAtOnce = "2";
constexpr std::string_view kMigrateMillis = "30000";

base::Task<absl::Status> SetSlot(Store& store, std::string_view slot, std::string_view state,
                                 std::string_view node) {
  Command command = Command::Named("CLUSTER");
  command.Add("SETSLOT").Add(slot).Add(state).Add(node);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::Status> MoveKeys(std::string_view slot, const SlotNode& from, const SlotNode& to,
                                  SlotMoveOptions options) {
  const std::string port = base::FormatInt64(to.port);
  while (true) {
    Command list = Command::Named("CLUSTER");
    list.Add("GETKEYSINSLOT").Add(slot).Add(kKeysAtOnce);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                                 DecodeStrings(co_await from.store->Execute(list)));
    if (keys.empty()) co_return absl::OkStatus();
    Command migrate(CommandId::kMigrate, {to.host, port, "", "0", kMigrateMillis});
    if (options.replace) migrate.Add("REPLACE");
    migrate.Add("KEYS");
    for (const std::string& key : keys) migrate.Add(key);
    REDOUBLE_CO_RETURN_IF_ERROR(DecodeStatus(co_await from.store->Execute(migrate)));
  }
}

// The id and the config epoch of each master, as the node knows them.
base::Task<absl::StatusOr<std::set<std::string>>> EpochsOf(Store& node) {
  Command nodes = Command::Named("CLUSTER");
  nodes.Add("NODES");
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string text, DecodeString(co_await node.Execute(nodes)));
  std::set<std::string> epochs;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    // ID ADDRESS FLAGS MASTER PING PONG EPOCH ...
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    if (words.size() < 7 || !absl::StrContains(words[2], "master")) continue;
    epochs.insert(absl::StrCat(words[0], " ", words[6]));
  }
  co_return epochs;
}

}  // namespace

base::Task<absl::StatusOr<bool>> AgreeOnEpochs(std::vector<Store*> masters) {
  std::optional<std::set<std::string>> first;
  for (Store* master : masters) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::set<std::string> epochs, co_await EpochsOf(*master));
    if (!first) {
      first = std::move(epochs);
    } else if (*first != epochs) {
      co_return false;
    }
  }
  co_return true;
}

base::Task<absl::Status> MoveSlot(int slot, SlotNode from, SlotNode to, std::vector<Store*> others,
                                  SlotMoveOptions options) {
  const std::string number = base::FormatInt64(slot);
  const absl::Status importing = co_await SetSlot(*to.store, number, "IMPORTING", from.id);
  // An earlier call was interrupted when the new owner had the slot, and so all its keys.
  if (!absl::StrContains(importing.message(), "already the owner")) {
    REDOUBLE_CO_RETURN_IF_ERROR(importing);
    REDOUBLE_CO_RETURN_IF_ERROR(co_await SetSlot(*from.store, number, "MIGRATING", to.id));
    REDOUBLE_CO_RETURN_IF_ERROR(co_await MoveKeys(number, from, to, options));
  }
  // The new owner first: a node that gave the slot away already would send clients in circles.
  std::vector<Store*> all = {to.store, from.store};
  all.insert(all.end(), others.begin(), others.end());
  for (Store* store : all) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await SetSlot(*store, number, "NODE", to.id));
  }
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::store
