#include "redouble/backends/memory/commands/lazy_free.h"

#include "redouble/backends/memory/server/kept_parameters.h"

namespace redouble::inline v0_1::memory {

std::string_view RemovalWord(const CommandContext& context, LazyFree operation) {
  return context.propagates() ? RemovalWord(context.engine().options(), operation) : "DEL";
}

bool FlushesLater(const EngineCore& engine, Arguments arguments) {
  if (!arguments.empty()) return IsWord(arguments[0], "ASYNC");
  return KeptValue("lazyfree-lazy-user-flush", engine.options()) == "yes";
}

void CountFlushedLater(EngineCore& engine, size_t count) {
  if (count > kLazyFreeThreshold) engine.CountLazyFreed(count);
}

}  // namespace redouble::inline v0_1::memory
