#include "redouble/core/store/typed/keys.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

Command ScanCommand(std::string_view cursor, const ScanOptions& options) {
  Command command(CommandId::kScan, {cursor});
  if (!options.match.empty()) command.Add("MATCH").Add(options.match);
  if (options.count != 0) command.Add("COUNT").AddInteger(options.count);
  if (!options.type.empty()) command.Add("TYPE").Add(options.type);
  return command;
}

absl::StatusOr<ScanPage> DecodeScanPage(absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> parts, DecodeArray(std::move(reply)));
  if (parts.size() != 2) return ProtocolError("SCAN answers a cursor and an array of keys");
  REDOUBLE_ASSIGN_OR_RETURN(std::string cursor, DecodeString(std::move(parts[0])));
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> keys, DecodeStrings(std::move(parts[1])));
  return ScanPage{std::move(cursor), std::move(keys)};
}

}  // namespace

base::Task<absl::StatusOr<int64_t>> Del(Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kDel);
  command.AddAll(keys);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> Del(Store& store, std::string_view key) {
  const Command command(CommandId::kDel, {key});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> Unlink(Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kUnlink);
  command.AddAll(keys);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> Exists(Store& store, std::string_view key) {
  const Command command(CommandId::kExists, {key});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> Exists(Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kExists);
  command.AddAll(keys);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<size_t>>> FindMissing(Store& store,
                                                            std::span<const std::string> keys) {
  std::vector<size_t> missing;
  if (keys.empty()) co_return missing;
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) batch.Add(CommandId::kExists, {key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await Execute(store, batch));
  for (size_t i = 0; i < replies.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, DecodeBool(std::move(replies[i])));
    if (!exists) missing.push_back(i);
  }
  co_return missing;
}

base::Task<absl::StatusOr<KeyType>> TypeOf(Store& store, std::string_view key) {
  const Command command(CommandId::kType, {key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string name, DecodeString(co_await store.Execute(command)));
  const std::optional<KeyType> type = ParseKeyType(name);
  if (!type) co_return ProtocolError("TYPE answered a type that is not known: " + name);
  co_return *type;
}

base::Task<absl::StatusOr<bool>> ExpireIn(Store& store, std::string_view key, absl::Duration ttl,
                                          ExpireCondition condition) {
  const Command command = ExpireCommand(CommandId::kExpire, CommandId::kPExpire, key,
                                        absl::ToInt64Milliseconds(ttl), condition);
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> ExpireAt(Store& store, std::string_view key, absl::Time deadline,
                                          ExpireCondition condition) {
  const Command command = ExpireCommand(CommandId::kExpireAt, CommandId::kPExpireAt, key,
                                        absl::ToUnixMillis(deadline), condition);
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> Persist(Store& store, std::string_view key) {
  const Command command(CommandId::kPersist, {key});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<Ttl>> TimeToLive(Store& store, std::string_view key) {
  const Command command(CommandId::kPTtl, {key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t reply_ms,
                               DecodeInteger(co_await store.Execute(command)));
  co_return Ttl(reply_ms);
}

base::Task<absl::StatusOr<ExpiryTime>> ExpiryTimeOf(Store& store, std::string_view key) {
  const Command command(CommandId::kPExpireTime, {key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t reply_ms,
                               DecodeInteger(co_await store.Execute(command)));
  co_return ExpiryTime(reply_ms);
}

base::Task<absl::StatusOr<int64_t>> TtlSeconds(Store& store, std::string_view key) {
  const Command command(CommandId::kTtl, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::Status> Rename(Store& store, std::string_view from, std::string_view to) {
  const Command command(CommandId::kRename, {from, to});
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> RenameNx(Store& store, std::string_view from,
                                          std::string_view to) {
  const Command command(CommandId::kRenameNx, {from, to});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> Copy(Store& store, std::string_view from, std::string_view to,
                                      CopyOptions options) {
  Command command(CommandId::kCopy, {from, to});
  if (options.replace) command.Add("REPLACE");
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<ScanPage>> Scan(Store& store, std::string_view cursor,
                                          ScanOptions options) {
  const Command command = ScanCommand(cursor, options);
  co_return DecodeScanPage(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> ScanAll(Store& store, ScanOptions options) {
  std::vector<std::string> keys;
  absl::flat_hash_set<std::string> seen;
  std::string cursor = "0";
  do {
    REDOUBLE_CO_ASSIGN_OR_RETURN(ScanPage page, co_await Scan(store, cursor, options));
    for (std::string& key : page.keys) {
      if (seen.insert(key).second) keys.push_back(std::move(key));
    }
    cursor = std::move(page.cursor);
  } while (cursor != "0");
  co_return keys;
}

base::Task<absl::StatusOr<std::vector<std::string>>> Keys(Store& store, std::string_view pattern) {
  const Command command(CommandId::kKeys, {pattern});
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> RandomKey(Store& store) {
  const Command command(CommandId::kRandomKey);
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> Touch(Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kTouch);
  command.AddAll(keys);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> DbSize(Store& store) {
  const Command command(CommandId::kDbSize);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::Status> FlushDb(Store& store) {
  const Command command(CommandId::kFlushDb);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::Status> FlushAll(Store& store) {
  const Command command(CommandId::kFlushAll);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::Status> Ping(Store& store) {
  const Command command(CommandId::kPing);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::StatusOr<absl::Time>> Time(Store& store) {
  const Command command(CommandId::kTime);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                               DecodeStrings(co_await store.Execute(command)));
  if (parts.size() != 2) co_return ProtocolError("TIME answers seconds and microseconds");
  const std::optional<int64_t> seconds = base::ParseInt64(parts[0]);
  const std::optional<int64_t> micros = base::ParseInt64(parts[1]);
  if (!seconds || !micros) co_return ProtocolError("TIME answers two decimal numbers");
  co_return absl::FromUnixSeconds(*seconds) + absl::Microseconds(*micros);
}

}  // namespace redouble::inline v0_1::store
