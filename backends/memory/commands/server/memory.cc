// MEMORY.
#include <string>

#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/commands/keys/shown_encoding.h"
#include "redouble/backends/memory/commands/server/info_memory.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/memory_usage.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

MemoryModel::Keys KeysOf(const Compatibility& compatibility) {
  if (compatibility.Has(Feature::kEmbeddedKeys)) return MemoryModel::Keys::kInValue;
  if (compatibility.Has(Feature::kKeysInEntries)) return MemoryModel::Keys::kInEntry;
  return MemoryModel::Keys::kApart;
}

}  // namespace

Reply HandleMemoryHelp(CommandContext& context, Arguments) {
  static constexpr HelpLine kLines[] = {
      "DOCTOR",
      "    Return memory problems reports.",
      "MALLOC-STATS",
      "    Return internal statistics report from the memory allocator.",
      "PURGE",
      "    Attempt to purge dirty pages for reclamation by the allocator.",
      "STATS",
      "    Return information about the memory usage of the server.",
      "USAGE <key> [SAMPLES <count>]",
      "    Return memory in bytes used by <key> and its value. Nested values are",
      "    sampled up to <count> times (default: 5, 0 means sample all).",
  };
  return HelpReply(context, kLines);
}

Reply HandleMemoryDoctor(CommandContext& context, Arguments) {
  constexpr uint64_t kTooLittleBytes = 5 << 20;
  if (UsedMemory(context.engine()) < kTooLittleBytes) {
    return Reply::Verbatim(
        "Hi Sam, this instance is empty or is using very little memory, my issues detector can't "
        "be used in these conditions. Please, leave for your mission on Earth and fill it with "
        "some data. The new Sam and I will be back to our programming as soon as I finished "
        "rebooting.\n");
  }
  return Reply::Verbatim(
      "Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs "
      "on this base.\n");
}

Reply HandleMemoryMallocStats(CommandContext&, Arguments) {
  return Reply::Bulk("Stats not supported for the current allocator");
}

Reply HandleMemoryStats(CommandContext& context, Arguments) {
  return Reply::Map(MemoryStats(context.engine()));
}

// The allocator belongs to the program: there is nothing to purge.
Reply HandleMemoryPurge(CommandContext&, Arguments) { return Reply::Ok(); }

Reply HandleMemoryUsage(CommandContext& context, Arguments arguments) {
  size_t samples = kUsageSamples;
  for (size_t i = 1; i < arguments.size(); i += 2) {
    if (!IsWord(arguments[i], "SAMPLES") || i + 1 == arguments.size()) return SyntaxError();
    const std::optional<int64_t> count = base::ParseInt64(arguments[i + 1]);
    if (!count) return Reply::Error(error_text::kNotAnInteger);
    if (*count < 0) return SyntaxError();
    samples = static_cast<size_t>(*count);
  }
  const Database::Entry* entry = context.db().FindStored(arguments[0]);
  if (entry == nullptr) return Reply::Nil();
  const MemoryModel model = {.keys = KeysOf(context.engine().compatibility()),
                             .encoding = ShownEncoding(context, *entry)};
  const size_t bytes = MemoryUsage(entry->key(), entry->value, samples, model);
  return Reply::Integer(static_cast<int64_t>(bytes));
}

}  // namespace redouble::inline v0_1::memory
