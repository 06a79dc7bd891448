// OBJECT and WAIT.
#include <string>
#include <string_view>

#include "redouble/backends/memory/commands/block_timeout.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/keys/shown_encoding.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// Such a lookup neither updates the LRU and LFU fields nor publishes "keymiss".
const Database::Entry* Look(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.db().Find(arguments[0]);
  context.CountLookup(entry != nullptr);
  return entry;
}

}  // namespace

Reply HandleObjectEncoding(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = Look(context, arguments);
  if (entry == nullptr) return Reply::Nil();
  return Reply::Bulk(ShownEncoding(context, *entry));
}

Reply HandleObjectFreq(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = Look(context, arguments);
  if (entry == nullptr) return Reply::Nil();
  const EngineOptions& options = context.engine().options();
  if (!IsLfu(options.maxmemory_policy)) {
    return Reply::Error(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time to "
        "adjust.");
  }
  return Reply::Integer(
      entry->eviction.FrequencyNow(context.now_s(), options.lfu_decay_time_minutes));
}

Reply HandleObjectHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "ENCODING <key>",
      "    Return the kind of internal representation used in order to store the value",
      "    associated with a <key>.",
      "FREQ <key>",
      "    Return the access frequency index of the <key>. The returned integer is",
      "    proportional to the logarithm of the recent access frequency of the key.",
      "IDLETIME <key>",
      "    Return the idle time of the <key>, that is the approximated number of",
      "    seconds elapsed since the last access to the key.",
      "REFCOUNT <key>",
      "    Return the number of references of the value associated with the specified",
      "    <key>.",
  };
  return HelpReply(context, kLines);
}

// Redis counts clock ticks of one second, not elapsed seconds.
Reply HandleObjectIdleTime(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = Look(context, arguments);
  if (entry == nullptr) return Reply::Nil();
  if (IsLfu(context.engine().options().maxmemory_policy)) {
    return Reply::Error(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
        "switching between policies at runtime LRU and LFU data will take some time to adjust.");
  }
  return Reply::Integer(entry->eviction.IdleSeconds(context.now_s()));
}

Reply HandleObjectRefCount(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = Look(context, arguments);
  if (entry == nullptr) return Reply::Nil();
  return Reply::Integer(ShownReferences(context, *entry));
}

namespace {

// The host ends a blocked WAIT; without replicas, it waits until the timeout. `nobody` is the reply
// if no replica has acknowledged.
Reply WaitForReplicas(CommandContext& context, std::string_view timeout_ms, bool waits,
                      Reply nobody) {
  BlockTimeout timeout = ReadTimeoutMillis(context, timeout_ms);
  if (timeout.error) return *std::move(timeout.error);
  if (!waits || !context.may_block()) return nobody;
  return context.Block({.keys = {},
                        .type = store::KeyType::kNone,
                        .deadline_ms = timeout.deadline_ms,
                        .retry = [](CommandContext&, std::string_view) { return std::nullopt; },
                        .timed_out = std::move(nobody)});
}

}  // namespace

Reply HandleWait(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> replicas = base::ParseInt64(arguments[0]);
  if (!replicas) return Reply::Error(error_text::kNotAnInteger);
  Replication* replication = context.engine().administration().replication();
  if (context.engine().authority() == EngineCore::Authority::kMaster) {
    return Reply::Error(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if "
        "a replica is configured to be writable (which is not the default) writes to replicas are "
        "just local and are not propagated.");
  }
  const int64_t offset = replication == nullptr ? 0 : replication->OffsetOf(context.session());
  const int64_t acknowledged = replication == nullptr ? 0 : replication->Acknowledged(offset);
  Reply reply = WaitForReplicas(context, arguments[1], acknowledged < *replicas,
                                Reply::Integer(acknowledged));
  if (replication != nullptr && context.session().blocked()) {
    replication->Wait(context.session(), *replicas, offset);
  }
  return reply;
}

// It does not know the append-only log of a host.
Reply HandleWaitAof(CommandContext& context, Arguments arguments) {
  constexpr int64_t kMostLocal = 1;
  const std::optional<int64_t> local = base::ParseInt64(arguments[0]);
  if (!local) return Reply::Error(error_text::kNotAnInteger);
  if (*local < 0 || *local > kMostLocal) return Reply::Error(OutOfRangeText(0, kMostLocal));
  const std::optional<int64_t> replicas = base::ParseInt64(arguments[1]);
  if (!replicas || *replicas < 0) return Reply::Error(error_text::kMustBePositive);
  if (*local > 0) {
    return Reply::Error(
        "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  }
  return WaitForReplicas(context, arguments[2], *replicas > 0,
                         Reply::Array({Reply::Integer(0), Reply::Integer(0)}));
}

}  // namespace redouble::inline v0_1::memory
