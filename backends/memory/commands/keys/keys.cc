// Commands on keys of any type: existence, names, copies, random keys.
#include <string>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/keys/shown_encoding.h"
#include "redouble/backends/memory/commands/lazy_free.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/values/free_effort.h"
#include "redouble/core/base/text/glob.h"

namespace redouble::inline v0_1::memory {
namespace {

// How Redis frees what DEL and UNLINK remove.
enum class Freeing { kNow, kLater };

Reply RemoveKeys(CommandContext& context, Arguments keys, Freeing freeing) {
  int64_t removed = 0;
  for (const std::string_view key : keys) {
    if (context.db().expires_lazily()) context.db().Find(key);
    if (freeing == Freeing::kLater) {
      const Database::Entry* entry = context.FindAny(key);
      if (entry != nullptr && FreeEffort(entry->value) > kLazyFreeThreshold) {
        context.engine().CountLazyFreed(1);
      }
    }
    if (!context.Remove(key)) continue;
    ++removed;
    context.Changed(key, EventClass::kGeneric, "del");
  }
  return Reply::Integer(removed);
}

// Moves the value and expiry of an entry to a key that does not exist. Removes the entry.
void MoveEntry(CommandContext& context, std::string_view from, std::string_view to) {
  Database::Entry& source = *context.FindAny(from);
  KeepEncoding(context, source);
  const std::optional<int64_t> deadline_ms = context.db().DeadlineOf(source);
  const std::optional<FieldDeadlines::List> fields = context.FieldDeadlinesOf(from);
  Value value = context.Take(from);
  Database::Entry& target = context.Add(to, std::move(value));
  if (fields) context.PutFieldDeadlines(to, *fields);
  if (deadline_ms) context.SetExpiry(target, *deadline_ms);
}

Reply RenameGeneric(CommandContext& context, Arguments arguments, bool only_if_absent,
                    Reply renamed) {
  const auto [from, to] = std::pair(arguments[0], arguments[1]);
  if (context.FindAny(from) == nullptr) return Reply::Error(error_text::kNoSuchKey);
  if (from == to) return only_if_absent ? Reply::Integer(0) : renamed;
  if (context.FindAny(to) != nullptr) {
    if (only_if_absent) return Reply::Integer(0);
    context.Remove(to);
  }
  MoveEntry(context, from, to);
  context.Changed(from, EventClass::kGeneric, "rename_from");
  context.Changed(to, EventClass::kGeneric, "rename_to");
  return renamed;
}

// The database with the given index; null if it is out of range.
Database* FindDatabase(CommandContext& context, int32_t index) {
  if (index < 0 || index >= context.engine().database_count()) return nullptr;
  return &context.engine().database(index);
}

struct CopyOptions {
  Database* target;
  bool replace = false;
};

// Returns an error reply, or nil if `options` is filled.
Reply ReadCopyOptions(CommandContext& context, Arguments arguments, CopyOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (IsWord(arguments[i], "REPLACE")) {
      options.replace = true;
    } else if (IsWord(arguments[i], "DB") && i + 1 < arguments.size()) {
      int32_t index;
      if (std::optional<Reply> error = ReadInt32(arguments[++i], index)) return *std::move(error);
      options.target = FindDatabase(context, index);
      if (options.target == nullptr) return Reply::Error(error_text::kDbIndexOutOfRange);
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

}  // namespace

Reply HandleDel(CommandContext& context, Arguments arguments) {
  return RemoveKeys(context, arguments, Freeing::kNow);
}

Reply HandleUnlink(CommandContext& context, Arguments arguments) {
  return RemoveKeys(context, arguments, Freeing::kLater);
}

Reply HandleExists(CommandContext& context, Arguments arguments) {
  int64_t count = 0;
  for (const std::string_view key : arguments) count += context.Peek(key) != nullptr;
  return Reply::Integer(count);
}

Reply HandleType(CommandContext& context, Arguments arguments) {
  const Database::Entry* entry = context.Peek(arguments[0]);
  const store::KeyType type = entry == nullptr ? store::KeyType::kNone : entry->value.type();
  return Reply::Status(store::KeyTypeName(type));
}

Reply HandleRename(CommandContext& context, Arguments arguments) {
  return RenameGeneric(context, arguments, false, Reply::Ok());
}

Reply HandleRenameNx(CommandContext& context, Arguments arguments) {
  return RenameGeneric(context, arguments, true, Reply::Integer(1));
}

Reply HandleCopy(CommandContext& context, Arguments arguments) {
  const auto [from, to] = std::pair(arguments[0], arguments[1]);
  Database& source_db = context.db();
  CopyOptions options{.target = &source_db};
  if (Reply error = ReadCopyOptions(context, arguments.subspan(2), options); error.is_error()) {
    return error;
  }
  if (context.engine().cluster() != nullptr && options.target != &source_db) {
    return Reply::Error("ERR Copying to another database is not allowed in cluster mode");
  }
  if (options.target == &source_db && from == to) {
    return Reply::Error("ERR source and destination objects are the same");
  }
  Database::Entry* source = context.FindAny(from);
  context.CountRead(from, source != nullptr);
  if (source == nullptr) return Reply::Integer(0);
  const std::optional<int64_t> deadline_ms = source_db.DeadlineOf(*source);
  const std::optional<FieldDeadlines::List> fields = context.FieldDeadlinesOf(from);
  KeepEncoding(context, *source);
  Value copy = source->value.Clone();
  context.SetDb(*options.target);
  if (context.FindAny(to) != nullptr) {
    if (!options.replace) return Reply::Integer(0);
    context.Remove(to);
  }
  Database::Entry& target = context.Add(to, std::move(copy));
  if (fields) context.PutFieldDeadlines(to, *fields);
  if (deadline_ms) context.SetExpiry(target, *deadline_ms);
  context.Changed(to, EventClass::kGeneric, "copy_to");
  return Reply::Integer(1);
}

Reply HandleMove(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() != nullptr) {
    return Reply::Error("ERR MOVE is not allowed in cluster mode");
  }
  const std::string_view key = arguments[0];
  int32_t index;
  if (std::optional<Reply> error = ReadInt32(arguments[1], index)) return *std::move(error);
  Database* target_db = FindDatabase(context, index);
  if (target_db == nullptr) return Reply::Error(error_text::kDbIndexOutOfRange);
  if (target_db == &context.db()) {
    return Reply::Error("ERR source and destination objects are the same");
  }
  Database::Entry* source = context.FindAny(key);
  if (source == nullptr || target_db->Find(key) != nullptr) return Reply::Integer(0);
  Database& source_db = context.db();
  const std::optional<int64_t> deadline_ms = source_db.DeadlineOf(*source);
  const std::optional<FieldDeadlines::List> fields = context.FieldDeadlinesOf(key);
  Value value = context.Take(key);
  context.SetDb(*target_db);
  Database::Entry& target = context.Add(key, std::move(value));
  if (fields) context.PutFieldDeadlines(key, *fields);
  if (deadline_ms) context.SetExpiry(target, *deadline_ms);
  context.SetDb(source_db);
  context.Changed(key, EventClass::kGeneric, "move_from");
  context.SetDb(*target_db);
  context.Changed(key, EventClass::kGeneric, "move_to");
  return Reply::Integer(1);
}

Reply HandleTouch(CommandContext& context, Arguments arguments) {
  int64_t count = 0;
  for (const std::string_view key : arguments) count += context.FindAny(key) != nullptr;
  return Reply::Integer(count);
}

Reply HandleKeys(CommandContext& context, Arguments arguments) {
  // Redis's glob "*" does not match the empty key, but KEYS * returns it without matching.
  const bool all = arguments[0] == "*";
  ReplyArray keys(context, Reply::Shape::kPlain);
  for (size_t i = 0; i < context.db().size() && keys.wanted(); ++i) {
    const Database::Entry& entry = context.db().at(i);
    if (context.IsExpired(entry)) continue;
    if (all || base::GlobMatch(arguments[0], entry.key())) keys.AddBulk(entry.key());
  }
  return std::move(keys).Finish();
}

// Keys that have expired lazily are removed when they are drawn. In a pause they stay; Redis 7.0
// then never finishes if all keys have expired; later versions return one of them.
Reply HandleRandomKey(CommandContext& context, Arguments) {
  constexpr int kMostTries = 100;
  Database& db = context.db();
  int tries = 0;
  context.PropagateSeparately();
  while (db.size() > 0) {
    const std::string key(db.at(context.rng().Below(db.size())).key());
    if (db.Find(key) != nullptr) return Reply::Bulk(key);
    db.RemoveGone(key);
    const bool stays = db.FindStored(key) != nullptr;
    if (stays && ++tries == kMostTries) return Reply::Bulk(key);
  }
  return Reply::Nil();
}

}  // namespace redouble::inline v0_1::memory
