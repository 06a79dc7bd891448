#include "redouble/core/relayna/append_once.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/relayna/scripts/script_texts.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::relayna {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;

Command MarkerCommand(const Append& append) {
  Command command(CommandId::kSet, {append.marker, "1", "NX"});
  if (HasTtl(append.ttl_seconds)) command.Add("EX").AddInteger(*append.ttl_seconds);
  return command;
}

void AddExpire(Batch& batch, const Append& append, std::string_view key) {
  if (HasTtl(append.ttl_seconds)) {
    batch.Add(CommandId::kExpire, {key}).AddInteger(*append.ttl_seconds);
  }
}

Batch WriteBatch(const Append& append) {
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kLPush, {append.list, append.payload});
  batch.Add(CommandId::kLTrim, {append.list, "0"}).AddInteger(append.maxlen - 1);
  AddExpire(batch, append, append.list);
  if (append.membership) {
    batch.Add(CommandId::kSAdd, {append.membership->set, append.membership->member});
    AddExpire(batch, append, append.membership->set);
  }
  if (!append.channels.documented.empty()) {
    batch.Add(CommandId::kPublish, {append.channels.documented, append.payload});
  }
  return batch;
}

// KEYS: for each append its marker, list and set; the list again if it has no set.
// ARGV: for each append payload, last index to keep, TTL or "", has a set (1 or 0), member,
// channel or "", shard channel or "", digest of the list or "", place. The script reads the lengths
// first, so that a key of a wrong type fails before anything is written.
const store::Script& AppendScript() {
  static const store::Script& script = *new store::Script(std::string(kAppendOnceText));
  return script;
}

void AddKeys(std::vector<std::string_view>& keys, const Append& append) {
  keys.push_back(append.marker);
  keys.push_back(append.list);
  keys.push_back(append.membership ? append.membership->set : append.list);
}

void AddArguments(std::vector<std::string>& arguments, const Append& append) {
  arguments.push_back(append.payload);
  arguments.push_back(base::FormatInt64(append.maxlen - 1));
  arguments.push_back(HasTtl(append.ttl_seconds) ? base::FormatInt64(*append.ttl_seconds) : "");
  arguments.push_back(append.membership ? "1" : "0");
  arguments.push_back(append.membership ? append.membership->member : "");
  arguments.push_back(append.channels.documented);
  arguments.push_back(append.channels.sharded);
  arguments.push_back(append.place ? append.place->seen_sha1 : "");
  arguments.push_back(base::FormatInt64(append.place ? append.place->index : 0));
}

// The set and its TTL, which have one slot.
base::Task<absl::Status> AddMember(store::Store& store, const Append& append) {
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSAdd, {append.membership->set, append.membership->member});
  AddExpire(batch, append, append.membership->set);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store, batch));
  co_return store::FirstError(replies);
}

}  // namespace

bool HasTtl(std::optional<int64_t> ttl_seconds) { return ttl_seconds.value_or(0) != 0; }

base::Task<absl::StatusOr<bool>> AppendOnce(store::Store& store, const Append& append) {
  const Command mark = MarkerCommand(append);
  const absl::StatusOr<bool> is_new = store::DecodeStatusOrNil(co_await store.Execute(mark));
  if (!is_new.ok() || !*is_new) co_return is_new;
  const Batch write = WriteBatch(append);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store, write));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  co_return true;
}

base::Task<absl::StatusOr<bool>> AppendOnceAtomically(store::Store& store,
                                                      std::span<const Append> appends) {
  std::vector<std::string_view> keys;
  std::vector<std::string> arguments;
  for (const Append& append : appends) {
    AddKeys(keys, append);
    AddArguments(arguments, append);
  }
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const int64_t outcome, store::DecodeInteger(co_await AppendScript().Run(store, keys, views)));
  if (outcome < 0) co_return absl::AbortedError("the list has changed");
  co_return outcome == 1;
}

base::Task<absl::StatusOr<bool>> AppendOnceInLayout(store::Store& store, store::KeyLayout layout,
                                                    std::span<const Append> appends,
                                                    bool atomically) {
  // A transaction cannot publish on a shard channel (core/store/pubsub/channel.h).
  atomically = atomically || !appends.front().channels.sharded.empty();
  if (layout == store::KeyLayout::kCluster) return AppendOnceInSteps(store, appends, atomically);
  return atomically ? AppendOnceAtomically(store, appends) : AppendOnce(store, appends.front());
}

base::Task<absl::StatusOr<bool>> AppendOnceInSteps(store::Store& store,
                                                   std::span<const Append> appends,
                                                   bool atomically) {
  Append first = appends.front();
  const std::span<const Append> others = appends.subspan(1);
  if (first.membership || !others.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_known, co_await store::Exists(store, first.marker));
    if (is_known) co_return false;
  }
  for (size_t i = 0; i < others.size(); ++i) {
    REDOUBLE_CO_RETURN_IF_ERROR(
        (co_await AppendOnceAtomically(store, others.subspan(i, 1))).status());
  }
  if (first.membership) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await AddMember(store, first));
    first.membership.reset();
  }
  if (!atomically) co_return co_await AppendOnce(store, first);
  co_return co_await AppendOnceAtomically(store, std::span(&first, 1));
}

}  // namespace redouble::inline v0_1::relayna
