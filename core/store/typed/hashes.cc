#include "redouble/core/store/typed/hashes.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::store {
namespace {

void AddFields(Command& command, std::span<const std::string_view> fields) {
  command.Add("FIELDS").AddInteger(static_cast<int64_t>(fields.size())).AddAll(fields);
}

// An older server does not know the command. The status keeps its kind and says what is needed.
absl::Status NameTheVersion(const absl::Status& status, CommandId id) {
  if (ErrorKindOf(status) != ErrorKind::kServer ||
      !absl::StartsWith(status.message(), "ERR unknown command")) {
    return status;
  }
  const CommandSpec& spec = SpecOf(id);
  absl::Status named(
      absl::StatusCode::kUnimplemented,
      absl::StrCat(base::ToAbsl(spec.name), " needs Redis ", base::ToAbsl(spec.since),
                   " or later; the server answered: ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { named.SetPayload(url, payload); });
  return named;
}

absl::StatusOr<Reply> KnownCommand(absl::StatusOr<Reply> reply, CommandId id) {
  absl::StatusOr<Reply> known = DecodeAny(std::move(reply));
  if (!known.ok()) return NameTheVersion(known.status(), id);
  return known;
}

// One integer for each field.
absl::StatusOr<std::vector<int64_t>> DecodeNumbers(absl::StatusOr<Reply> reply, CommandId id,
                                                   size_t count) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> elements,
                            DecodeArray(KnownCommand(std::move(reply), id)));
  if (elements.size() != count) {
    return ProtocolError(absl::StrCat(base::ToAbsl(SpecOf(id).name), " returned ", elements.size(),
                                      " numbers for ", count, " fields"));
  }
  std::vector<int64_t> numbers;
  for (Reply& element : elements) {
    REDOUBLE_ASSIGN_OR_RETURN(const int64_t number, DecodeInteger(std::move(element)));
    numbers.push_back(number);
  }
  return numbers;
}

absl::StatusOr<FieldExpiryResult> ResultOf(int64_t number) {
  switch (number) {
    case -2:
      return FieldExpiryResult::kNoField;
    case 0:
      return FieldExpiryResult::kConditionNotMet;
    case 1:
      return FieldExpiryResult::kSet;
    case 2:
      return FieldExpiryResult::kDeleted;
    default:
      return ProtocolError(absl::StrCat("HEXPIRE returned ", number));
  }
}

base::Task<absl::StatusOr<std::vector<FieldExpiryResult>>> SetExpiry(
    Store& store, Command command, std::span<const std::string_view> fields) {
  AddFields(command, fields);
  absl::StatusOr<Reply> reply = co_await store.Execute(command);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers,
                               DecodeNumbers(std::move(reply), command.id(), fields.size()));
  std::vector<FieldExpiryResult> results;
  for (const int64_t number : numbers) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const FieldExpiryResult result, ResultOf(number));
    results.push_back(result);
  }
  co_return results;
}

// Asks for one number of each field.
base::Task<absl::StatusOr<std::vector<int64_t>>> AskFields(
    Store& store, CommandId id, std::string_view key, std::span<const std::string_view> fields) {
  Command command(id, {key});
  AddFields(command, fields);
  absl::StatusOr<Reply> reply = co_await store.Execute(command);
  co_return DecodeNumbers(std::move(reply), id, fields.size());
}

base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> AskValues(
    Store& store, Command command, std::span<const std::string_view> fields) {
  AddFields(command, fields);
  absl::StatusOr<Reply> reply = co_await store.Execute(command);
  co_return DecodeStringsOrNil(KnownCommand(std::move(reply), command.id()));
}

}  // namespace

base::Task<absl::StatusOr<int64_t>> HSet(Store& store, std::string_view key,
                                         std::span<const FieldView> fields) {
  Command command(CommandId::kHSet, {key});
  for (const auto& [field, value] : fields) command.Add(field).Add(value);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> HSet(Store& store, std::string_view key, std::string_view field,
                                      std::string_view value) {
  const Command command(CommandId::kHSet, {key, field, value});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> HSetNx(Store& store, std::string_view key, std::string_view field,
                                        std::string_view value) {
  const Command command(CommandId::kHSetNx, {key, field, value});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> HGet(Store& store, std::string_view key,
                                                            std::string_view field) {
  const Command command(CommandId::kHGet, {key, field});
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HMGet(
    Store& store, std::string_view key, std::span<const std::string_view> fields) {
  Command command(CommandId::kHMGet, {key});
  command.AddAll(fields);
  co_return DecodeStringsOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::pair<std::string, std::string>>>> HGetAll(
    Store& store, std::string_view key) {
  const Command command(CommandId::kHGetAll, {key});
  co_return DecodePairs(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> HKeys(Store& store, std::string_view key) {
  const Command command(CommandId::kHKeys, {key});
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> HVals(Store& store, std::string_view key) {
  const Command command(CommandId::kHVals, {key});
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> HDel(Store& store, std::string_view key,
                                         std::span<const std::string_view> fields) {
  Command command(CommandId::kHDel, {key});
  command.AddAll(fields);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> HExists(Store& store, std::string_view key,
                                         std::string_view field) {
  const Command command(CommandId::kHExists, {key, field});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> HLen(Store& store, std::string_view key) {
  const Command command(CommandId::kHLen, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> HIncrBy(Store& store, std::string_view key,
                                            std::string_view field, int64_t increment) {
  Command command(CommandId::kHIncrBy, {key, field});
  command.AddInteger(increment);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::string>> HIncrByFloat(Store& store, std::string_view key,
                                                     std::string_view field,
                                                     std::string_view increment) {
  const Command command(CommandId::kHIncrByFloat, {key, field, increment});
  co_return DecodeString(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<FieldExpiryResult>>> HExpireIn(
    Store& store, std::string_view key, std::span<const std::string_view> fields,
    absl::Duration ttl, ExpireCondition condition) {
  return SetExpiry(store,
                   ExpireCommand(CommandId::kHExpire, CommandId::kHPExpire, key,
                                 absl::ToInt64Milliseconds(ttl), condition),
                   fields);
}

base::Task<absl::StatusOr<std::vector<FieldExpiryResult>>> HExpireAt(
    Store& store, std::string_view key, std::span<const std::string_view> fields,
    absl::Time deadline, ExpireCondition condition) {
  return SetExpiry(store,
                   ExpireCommand(CommandId::kHExpireAt, CommandId::kHPExpireAt, key,
                                 absl::ToUnixMillis(deadline), condition),
                   fields);
}

base::Task<absl::StatusOr<std::vector<bool>>> HPersist(Store& store, std::string_view key,
                                                       std::span<const std::string_view> fields) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers,
                               co_await AskFields(store, CommandId::kHPersist, key, fields));
  std::vector<bool> had_expiry;
  for (const int64_t number : numbers) had_expiry.push_back(number == 1);
  co_return had_expiry;
}

base::Task<absl::StatusOr<std::vector<Ttl>>> HTimeToLive(Store& store, std::string_view key,
                                                         std::span<const std::string_view> fields) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers,
                               co_await AskFields(store, CommandId::kHPTtl, key, fields));
  co_return std::vector<Ttl>(numbers.begin(), numbers.end());
}

base::Task<absl::StatusOr<std::vector<ExpiryTime>>> HExpiryTimesOf(
    Store& store, std::string_view key, std::span<const std::string_view> fields) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers,
                               co_await AskFields(store, CommandId::kHPExpireTime, key, fields));
  co_return std::vector<ExpiryTime>(numbers.begin(), numbers.end());
}

base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HGetEx(
    Store& store, std::string_view key, std::span<const std::string_view> fields, Expiry expiry) {
  Command command(CommandId::kHGetEx, {key});
  expiry.AppendTo(command);
  return AskValues(store, std::move(command), fields);
}

base::Task<absl::StatusOr<bool>> HSetEx(Store& store, std::string_view key,
                                        std::span<const FieldView> fields, HSetExOptions options) {
  Command command(CommandId::kHSetEx, {key});
  if (options.condition == HSetCondition::kIfNoneExists) command.Add("FNX");
  if (options.condition == HSetCondition::kIfAllExist) command.Add("FXX");
  options.expiry.AppendTo(command);
  if (options.keep_ttl) command.Add("KEEPTTL");
  command.Add("FIELDS").AddInteger(static_cast<int64_t>(fields.size()));
  for (const auto& [field, value] : fields) command.Add(field).Add(value);
  absl::StatusOr<Reply> reply = co_await store.Execute(command);
  co_return DecodeBool(KnownCommand(std::move(reply), CommandId::kHSetEx));
}

base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HGetDel(
    Store& store, std::string_view key, std::span<const std::string_view> fields) {
  return AskValues(store, Command(CommandId::kHGetDel, {key}), fields);
}

}  // namespace redouble::inline v0_1::store
