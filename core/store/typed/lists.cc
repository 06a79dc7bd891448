#include "redouble/core/store/typed/lists.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

std::string_view Word(ListEnd end) { return end == ListEnd::kLeft ? "LEFT" : "RIGHT"; }

// Returns seconds with the decimals that Redis evaluates; 0 means no timeout.
std::string TimeoutText(absl::Duration timeout) {
  if (timeout <= absl::ZeroDuration() || timeout == absl::InfiniteDuration()) return "0";
  const int64_t millis =
      std::max<int64_t>(absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1))), 1);
  return absl::StrFormat("%d.%03d", millis / 1000, millis % 1000);
}

Command MoveCommand(CommandId id, const ListMove& move) {
  return Command(id, {move.from, move.to, Word(move.from_end), Word(move.to_end)});
}

Command BlockingPopCommand(CommandId id, std::span<const std::string_view> keys,
                           absl::Duration timeout) {
  Command command(id);
  command.AddAll(keys).AddOwned(TimeoutText(timeout));
  return command;
}

absl::StatusOr<std::optional<PoppedElement>> DecodePopped(absl::StatusOr<Reply> reply) {
  if (reply.ok() && reply->is_nil()) return std::optional<PoppedElement>();
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<std::string> pair, DecodeStrings(std::move(reply)));
  if (pair.size() != 2) return ProtocolError("a key and an element were expected");
  return std::optional(PoppedElement{std::move(pair[0]), std::move(pair[1])});
}

}  // namespace

base::Task<absl::StatusOr<int64_t>> LPush(Store& store, std::string_view key,
                                          std::span<const std::string_view> elements) {
  Command command(CommandId::kLPush, {key});
  command.AddAll(elements);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> LPush(Store& store, std::string_view key,
                                          std::string_view element) {
  const Command command(CommandId::kLPush, {key, element});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> RPush(Store& store, std::string_view key,
                                          std::span<const std::string_view> elements) {
  Command command(CommandId::kRPush, {key});
  command.AddAll(elements);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> RPush(Store& store, std::string_view key,
                                          std::string_view element) {
  const Command command(CommandId::kRPush, {key, element});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> LPop(Store& store, std::string_view key) {
  const Command command(CommandId::kLPop, {key});
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> RPop(Store& store, std::string_view key) {
  const Command command(CommandId::kRPop, {key});
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> LMove(Store& store, ListMove move) {
  const Command command = MoveCommand(CommandId::kLMove, move);
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> LLen(Store& store, std::string_view key) {
  const Command command(CommandId::kLLen, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> LIndex(Store& store, std::string_view key,
                                                              int64_t index) {
  Command command(CommandId::kLIndex, {key});
  command.AddInteger(index);
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> LRange(Store& store, std::string_view key,
                                                            int64_t first, int64_t last) {
  Command command(CommandId::kLRange, {key});
  command.AddInteger(first).AddInteger(last);
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::Status> LSet(Store& store, std::string_view key, int64_t index,
                              std::string_view element) {
  Command command(CommandId::kLSet, {key});
  command.AddInteger(index).Add(element);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::Status> LTrim(Store& store, std::string_view key, int64_t first, int64_t last) {
  Command command(CommandId::kLTrim, {key});
  command.AddInteger(first).AddInteger(last);
  co_return DecodeStatus(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> LRem(Store& store, std::string_view key, int64_t count,
                                         std::string_view element) {
  Command command(CommandId::kLRem, {key});
  command.AddInteger(count).Add(element);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<PoppedElement>>> BLPop(
    Store& store, std::span<const std::string_view> keys, absl::Duration timeout) {
  const Command command = BlockingPopCommand(CommandId::kBLPop, keys, timeout);
  co_return DecodePopped(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<PoppedElement>>> BRPop(
    Store& store, std::span<const std::string_view> keys, absl::Duration timeout) {
  const Command command = BlockingPopCommand(CommandId::kBRPop, keys, timeout);
  co_return DecodePopped(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> BLMove(Store& store, ListMove move,
                                                              absl::Duration timeout) {
  Command command = MoveCommand(CommandId::kBLMove, move);
  command.AddOwned(TimeoutText(timeout));
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

}  // namespace redouble::inline v0_1::store
