// DBSIZE, FLUSHDB, FLUSHALL, TIME, SWAPDB.
#include <string>

#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"

namespace redouble::inline v0_1::memory {
namespace {

bool FlushOptionsAreRight(Arguments arguments) {
  if (arguments.empty()) return true;
  return arguments.size() == 1 && (IsWord(arguments[0], "SYNC") || IsWord(arguments[0], "ASYNC"));
}

void Flush(CommandContext& context, int index, Arguments arguments) {
  EngineCore& engine = context.engine();
  if (FlushesLater(engine, arguments)) engine.CountLazyFreed(engine.database(index).size());
  engine.FlushDatabase(index);
}

}  // namespace

Reply HandleDbSize(CommandContext& context, Arguments) {
  return Reply::Integer(static_cast<int64_t>(context.db().size()));
}

Reply HandleFlushDb(CommandContext& context, Arguments arguments) {
  if (!FlushOptionsAreRight(arguments)) return SyntaxError();
  Flush(context, context.db_index(), arguments);
  context.PropagateAlways(EffectTargets::kAll);
  return Reply::Ok();
}

Reply HandleFlushAll(CommandContext& context, Arguments arguments) {
  if (!FlushOptionsAreRight(arguments)) return SyntaxError();
  for (int index = 0; index < context.engine().database_count(); ++index) {
    Flush(context, index, arguments);
  }
  Administration& administration = context.engine().administration();
  if (Replication* replication = administration.replication()) replication->NoteFlush();
  if (KeyFile* file = administration.key_file()) file->NoteFlush();
  context.PropagateAlways(EffectTargets::kAll);
  return Reply::Ok();
}

Reply HandleTime(CommandContext& context, Arguments) {
  constexpr int64_t kMicrosPerSecond = 1'000'000;
  const int64_t now_us = context.engine().clock().NowMicros();
  return Reply::Array({Reply::Bulk(std::to_string(now_us / kMicrosPerSecond)),
                       Reply::Bulk(std::to_string(now_us % kMicrosPerSecond))});
}

Reply HandleSwapDb(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() != nullptr) {
    return Reply::Error("ERR SWAPDB is not allowed in cluster mode");
  }
  int32_t first;
  int32_t second;
  if (ReadInt32(arguments[0], first)) return Reply::Error("ERR invalid first DB index");
  if (ReadInt32(arguments[1], second)) return Reply::Error("ERR invalid second DB index");
  const int count = context.engine().database_count();
  if (first < 0 || first >= count || second < 0 || second >= count) {
    return Reply::Error(error_text::kDbIndexOutOfRange);
  }
  context.engine().SwapDatabases(first, second);
  context.PropagateAlways(EffectTargets::kAll);
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
