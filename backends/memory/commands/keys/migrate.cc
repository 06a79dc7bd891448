// MIGRATE. The host connects to the target; without a host no target is reached.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/keys/dump_payload.h"
#include "redouble/backends/memory/engine/administration.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/migration/exchange.h"
#include "redouble/backends/memory/server/host.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::memory {
namespace {

using Failure = MigrationResult::Failure;

constexpr size_t kKeyAt = 2;  // After host and port.
constexpr size_t kOptionsAt = 5;
constexpr int64_t kDefaultTimeoutMs = 1000;
constexpr int64_t kMicrosPerMilli = 1000;

struct Migration {
  MigrationTarget target;
  Arguments keys;
  bool copies = false;
  bool replaces = false;
};

// Reads what follows the timeout. Returns an error reply, or nil if `migration` is filled.
Reply ReadMigrateOptions(Arguments arguments, Migration& migration) {
  for (size_t i = kOptionsAt; i < arguments.size(); ++i) {
    const size_t behind = arguments.size() - i - 1;
    if (IsWord(arguments[i], "COPY")) {
      migration.copies = true;
    } else if (IsWord(arguments[i], "REPLACE")) {
      migration.replaces = true;
    } else if (IsWord(arguments[i], "AUTH") && behind >= 1) {
      migration.target.password = arguments[++i];
    } else if (IsWord(arguments[i], "AUTH2") && behind >= 2) {
      migration.target.user = arguments[++i];
      migration.target.password = arguments[++i];
    } else if (IsWord(arguments[i], "KEYS")) {
      if (!arguments[kKeyAt].empty()) {
        return Reply::Error(
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string");
      }
      migration.keys = arguments.subspan(i + 1);
      break;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

// Returns an error reply, or nil if `migration` is filled.
Reply ReadMigration(Arguments arguments, Migration& migration) {
  migration.target.host = arguments[0];
  migration.target.port = arguments[1];
  migration.keys = arguments.subspan(kKeyAt, 1);
  if (Reply error = ReadMigrateOptions(arguments, migration); error.is_error()) return error;
  const std::optional<int64_t> database = base::ParseInt64(arguments[3]);
  const std::optional<int64_t> timeout_ms = base::ParseInt64(arguments[4]);
  if (!database || !timeout_ms) return Reply::Error(error_text::kNotAnInteger);
  migration.target.database = *database;
  migration.target.timeout_ms = *timeout_ms > 0 ? *timeout_ms : kDefaultTimeoutMs;
  return Reply::Nil();
}

// The keys that exist.
std::vector<std::string_view> PresentKeys(CommandContext& context, Arguments keys) {
  std::vector<std::string_view> present;
  for (const std::string_view key : keys) {
    const bool exists = context.FindAny(key) != nullptr;
    context.CountRead(key, exists);
    if (exists) present.push_back(key);
  }
  return present;
}

// Writes the RESTOREs of one MIGRATE. The engine's time stands still meanwhile, but connecting
// takes time: a key that expires until then is left out, and the others live shorter.
class Restores {
 public:
  Restores(CommandContext& context, const Migration& migration)
      : context_(context),
        host_(context.engine().administration().host()),
        migration_(migration),
        begun_us_(host_ == nullptr ? 0 : host_->MonotonicMicros()) {}

  // Returns those of the keys that have not expired.
  std::vector<std::string_view> Append(const std::vector<std::string_view>& keys,
                                       std::string& out) const {
    std::vector<std::string_view> written;
    for (const std::string_view key : keys) {
      if (AppendRestore(key, out)) written.push_back(key);
    }
    return written;
  }

 private:
  int64_t now_ms() const {
    if (host_ == nullptr || !host_->runs_in_real_time()) return context_.now_ms();
    return context_.now_ms() + (host_->MonotonicMicros() - begun_us_) / kMicrosPerMilli;
  }

  // Returns false if the key has expired.
  bool AppendRestore(std::string_view key, std::string& out) const {
    const Database::Entry& entry = *context_.db().Find(key);
    int64_t ttl_ms = 0;
    if (const std::optional<int64_t> deadline_ms = context_.db().DeadlineOf(entry)) {
      ttl_ms = *deadline_ms - now_ms();
      if (ttl_ms < 0) return false;
      ttl_ms = std::max<int64_t>(ttl_ms, 1);  // 0 would mean that it never expires.
    }
    const bool in_cluster = context_.engine().cluster() != nullptr;
    const std::string payload = DumpPayloadOf(context_, entry);
    store::Command restore = store::Command::Named(in_cluster ? "RESTORE-ASKING" : "RESTORE");
    restore.Add(key).AddInteger(ttl_ms).Add(payload);
    if (migration_.replaces) restore.Add("REPLACE");
    store::AppendCommand(restore, out);
    return true;
  }

  CommandContext& context_;
  Host* const host_;
  const Migration& migration_;
  const int64_t begun_us_;
};

// Redis propagates the DEL of what has arrived at the target, also if not everything has.
void DeleteAcknowledged(CommandContext& context, const std::vector<std::string_view>& keys) {
  if (keys.empty()) return;
  std::vector<std::string> words = {"DEL"};
  for (const std::string_view key : keys) {
    context.Remove(key);
    context.Changed(key, EventClass::kGeneric, "del");
    words.emplace_back(key);
  }
  context.PropagateAs(std::move(words));
}

Reply ReplyOf(const MigrationResult& result) {
  if (result.target_error) {
    return Reply::Error(absl::StrCat("ERR Target instance replied with error: ",
                                     WordInError(*result.target_error)));
  }
  switch (result.failure) {
    case Failure::kConnecting:
      return Reply::Error("IOERR error or timeout connecting to the client");
    case Failure::kWriting:
      return Reply::Error("IOERR error or timeout writing to target instance");
    case Failure::kReading:
      return Reply::Error("IOERR error or timeout reading to target instance");
    case Failure::kNone:
      break;
  }
  return Reply::Ok();
}

}  // namespace

Reply HandleMigrate(CommandContext& context, Arguments arguments) {
  Migration migration;
  if (Reply error = ReadMigration(arguments, migration); error.is_error()) return error;
  const std::vector<std::string_view> keys = PresentKeys(context, migration.keys);
  if (keys.empty()) return Reply::Status("NOKEY");
  MigrationConnector* const connector = context.engine().administration().migration_connector();
  // As Redis replies if no server listens there.
  if (connector == nullptr) return ReplyOf({.failure = Failure::kWriting});
  const Restores restores(context, migration);
  const MigrationResult result = MoveKeys(
      *connector, migration.target, [&](std::string& out) { return restores.Append(keys, out); });
  if (!migration.copies) DeleteAcknowledged(context, result.acknowledged);
  return ReplyOf(result);
}

}  // namespace redouble::inline v0_1::memory
