// DUMP, RESTORE and RESTORE-ASKING.
#include "redouble/backends/memory/persistence/dump.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/keys/dump_payload.h"
#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMillisPerSecond = 1000;
constexpr int64_t kMaxFrequency = 255;

int RdbVersionOf(const CommandContext& context) {
  return context.engine().compatibility().spec().rdb_version;
}

struct RestoreOptions {
  bool replace = false;
  bool absolute_ttl = false;
  std::optional<int64_t> idle_s;
  std::optional<int64_t> frequency;
};

// Reads the number after IDLETIME or FREQ. Returns an error reply, or nil if `value` is set.
Reply ReadNumber(std::string_view text, int64_t max, std::string_view out_of_range,
                 std::optional<int64_t>& value) {
  value = base::ParseInt64(text);
  if (!value) return Reply::Error(error_text::kNotAnInteger);
  if (*value < 0 || *value > max) return Reply::Error(out_of_range);
  return Reply::Nil();
}

// Returns an error reply, or nil if `options` is filled.
Reply ReadRestoreOptions(Arguments arguments, RestoreOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool has_next = i + 1 < arguments.size();
    Reply error;
    if (IsWord(arguments[i], "REPLACE")) {
      options.replace = true;
    } else if (IsWord(arguments[i], "ABSTTL")) {
      options.absolute_ttl = true;
    } else if (IsWord(arguments[i], "IDLETIME") && has_next && !options.frequency) {
      error = ReadNumber(arguments[++i], INT64_MAX, "ERR Invalid IDLETIME value, must be >= 0",
                         options.idle_s);
    } else if (IsWord(arguments[i], "FREQ") && has_next && !options.idle_s) {
      error = ReadNumber(arguments[++i], kMaxFrequency,
                         "ERR Invalid FREQ value, must be >= 0 and <= 255", options.frequency);
    } else {
      return SyntaxError();
    }
    if (error.is_error()) return error;
  }
  return Reply::Nil();
}

// Stores the value at the key, whose old value has been removed.
void AddRestored(CommandContext& context, std::string_view key, Value value,
                 const std::optional<FieldTimes>& times, int64_t deadline_ms,
                 const RestoreOptions& options) {
  Database::Entry& entry = context.Add(key, std::move(value));
  if (times) context.PutFieldDeadlines(key, *times);
  if (deadline_ms != 0) context.SetExpiry(entry, deadline_ms);
  const int64_t now_s = context.now_ms() / kMillisPerSecond;
  if (options.idle_s && *options.idle_s <= now_s) {
    entry.eviction.used_s = context.now_s() - static_cast<uint32_t>(*options.idle_s);
  }
  if (options.frequency) entry.eviction.frequency = static_cast<uint8_t>(*options.frequency);
  context.Changed(key, EventClass::kGeneric, "restore");
}

}  // namespace

std::string DumpPayloadOf(const CommandContext& context, const Database::Entry& entry) {
  const std::optional<FieldTimes> times = context.FieldDeadlinesOf(entry.key());
  const bool compresses = context.engine().options().server.rdbcompression;
  const RdbFormat format{.version = RdbVersionOf(context),
                         .compression = compresses ? RdbCompression::kOn : RdbCompression::kOff};
  return DumpValue(entry.value, format, times ? &*times : nullptr);
}

Reply HandleDump(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.FindAny(arguments[0]);
  return entry == nullptr ? Reply::Nil() : Reply::Bulk(DumpPayloadOf(context, *entry));
}

Reply HandleRestore(CommandContext& context, Arguments arguments) {
  const auto [key, ttl_text, payload] = std::tuple(arguments[0], arguments[1], arguments[2]);
  RestoreOptions options;
  if (Reply error = ReadRestoreOptions(arguments.subspan(3), options); error.is_error()) {
    return error;
  }
  if (!options.replace && context.FindAny(key) != nullptr) {
    return Reply::Error("BUSYKEY Target key name already exists.");
  }
  const std::optional<int64_t> ttl_ms = base::ParseInt64(ttl_text);
  if (!ttl_ms) return Reply::Error(error_text::kNotAnInteger);
  if (*ttl_ms < 0) return Reply::Error("ERR Invalid TTL value, must be >= 0");
  const int version = RdbVersionOf(context);
  if (!DumpIsIntact(payload, context.engine().checksum_policy(), version)) {
    return Reply::Error(kDamagedDump);
  }
  std::optional<FieldTimes> times;
  std::optional<Value> value = LoadDump(payload, context.limits(), version, &times);
  if (!value) return Reply::Error("ERR Bad data format");
  const bool replaced = options.replace && context.Remove(key);
  const bool absolute = options.absolute_ttl || *ttl_ms == 0;
  // In Redis the sum overflows to a time in the past.
  const auto deadline_ms = absolute ? *ttl_ms
                                    : static_cast<int64_t>(static_cast<uint64_t>(*ttl_ms) +
                                                           static_cast<uint64_t>(context.now_ms()));
  if (deadline_ms != 0 && context.ExpiresAtOnce(deadline_ms)) {
    if (replaced) {
      context.Changed(key, EventClass::kGeneric, "del");
      context.PropagateAs(RemovalWord(context, LazyFree::kServerDel), key);
    }
    return Reply::Ok();
  }
  AddRestored(context, key, *std::move(value), times, deadline_ms, options);
  if (!absolute && context.propagates()) {
    std::vector<std::string> words = {std::string(context.called_name())};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words[2] = base::FormatInt64(deadline_ms);
    words.emplace_back("ABSTTL");
    context.PropagateAs(std::move(words));
  }
  return Reply::Ok();
}

// As RESTORE after ASKING (EngineCore::RefuseBySlots).
Reply HandleRestoreAsking(CommandContext& context, Arguments arguments) {
  return HandleRestore(context, arguments);
}

}  // namespace redouble::inline v0_1::memory
