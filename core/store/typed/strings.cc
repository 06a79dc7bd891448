#include "redouble/core/store/typed/strings.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::store {
namespace {

using Pairs = std::span<const std::pair<std::string_view, std::string_view>>;

Command SetCommand(std::string_view key, std::string_view value, const SetOptions& options) {
  Command command(CommandId::kSet, {key, value});
  if (options.condition == SetOptions::Condition::kIfAbsent) command.Add("NX");
  if (options.condition == SetOptions::Condition::kIfPresent) command.Add("XX");
  options.expiry.AppendTo(command);
  if (options.keep_ttl) command.Add("KEEPTTL");
  return command;
}

Command PairsCommand(CommandId id, Pairs pairs) {
  Command command(id);
  for (const auto& [key, value] : pairs) command.Add(key).Add(value);
  return command;
}

}  // namespace

base::Task<absl::StatusOr<std::optional<std::string>>> Get(Store& store, std::string_view key) {
  const Command command(CommandId::kGet, {key});
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> Set(Store& store, std::string_view key, std::string_view value,
                                     SetOptions options) {
  const Command command = SetCommand(key, value, options);
  co_return DecodeStatusOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> SetAndGet(Store& store, std::string_view key,
                                                                 std::string_view value,
                                                                 SetOptions options) {
  Command command = SetCommand(key, value, options);
  command.Add("GET");
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> GetEx(Store& store, std::string_view key,
                                                             Expiry expiry) {
  Command command(CommandId::kGetEx, {key});
  expiry.AppendTo(command);
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> GetDel(Store& store, std::string_view key) {
  const Command command(CommandId::kGetDel, {key});
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> MGet(
    Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kMGet);
  command.AddAll(keys);
  co_return DecodeStringsOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<absl::StatusOr<std::optional<std::string>>>>> GetEach(
    Store& store, std::span<const std::string> keys) {
  constexpr size_t kKeysAtOnce = 400;
  std::vector<absl::StatusOr<std::optional<std::string>>> values;
  values.reserve(keys.size());
  for (size_t first = 0; first < keys.size(); first += kKeysAtOnce) {
    Batch batch(Batch::Atomicity::kPipeline);
    for (const std::string& key : keys.subspan(first, std::min(kKeysAtOnce, keys.size() - first))) {
      batch.Add(CommandId::kGet, {key});
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await Execute(store, batch));
    for (Reply& reply : replies) values.push_back(DecodeStringOrNil(std::move(reply)));
  }
  co_return values;
}

base::Task<absl::Status> MSet(Store& store, Pairs pairs) {
  const Command command = PairsCommand(CommandId::kMSet, pairs);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> MSetNx(Store& store, Pairs pairs) {
  const Command command = PairsCommand(CommandId::kMSetNx, pairs);
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> Append(Store& store, std::string_view key,
                                           std::string_view value) {
  const Command command(CommandId::kAppend, {key, value});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> StrLen(Store& store, std::string_view key) {
  const Command command(CommandId::kStrLen, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::string>> GetRange(Store& store, std::string_view key, int64_t first,
                                                 int64_t last) {
  Command command(CommandId::kGetRange, {key});
  command.AddInteger(first).AddInteger(last);
  co_return DecodeString(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> SetRange(Store& store, std::string_view key, int64_t offset,
                                             std::string_view value) {
  Command command(CommandId::kSetRange, {key});
  command.AddInteger(offset).Add(value);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> Incr(Store& store, std::string_view key) {
  const Command command(CommandId::kIncr, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> IncrBy(Store& store, std::string_view key, int64_t increment) {
  Command command(CommandId::kIncrBy, {key});
  command.AddInteger(increment);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> Decr(Store& store, std::string_view key) {
  const Command command(CommandId::kDecr, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> DecrBy(Store& store, std::string_view key, int64_t decrement) {
  Command command(CommandId::kDecrBy, {key});
  command.AddInteger(decrement);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::string>> IncrByFloat(Store& store, std::string_view key,
                                                    std::string_view increment) {
  const Command command(CommandId::kIncrByFloat, {key, increment});
  co_return DecodeString(co_await store.Execute(command));
}

}  // namespace redouble::inline v0_1::store
