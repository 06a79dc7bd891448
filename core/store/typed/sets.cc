#include "redouble/core/store/typed/sets.h"

#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::store {

base::Task<absl::StatusOr<int64_t>> SAdd(Store& store, std::string_view key,
                                         std::span<const std::string_view> members) {
  Command command(CommandId::kSAdd, {key});
  command.AddAll(members);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> SAdd(Store& store, std::string_view key, std::string_view member) {
  const Command command(CommandId::kSAdd, {key, member});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> SRem(Store& store, std::string_view key,
                                         std::span<const std::string_view> members) {
  Command command(CommandId::kSRem, {key});
  command.AddAll(members);
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> SRem(Store& store, std::string_view key, std::string_view member) {
  const Command command(CommandId::kSRem, {key, member});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> SMove(Store& store, std::string_view from, std::string_view to,
                                       std::string_view member) {
  const Command command(CommandId::kSMove, {from, to, member});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::optional<std::string>>> SPop(Store& store, std::string_view key) {
  const Command command(CommandId::kSPop, {key});
  co_return DecodeStringOrNil(co_await store.Execute(command));
}

base::Task<absl::StatusOr<bool>> SIsMember(Store& store, std::string_view key,
                                           std::string_view member) {
  const Command command(CommandId::kSIsMember, {key, member});
  co_return DecodeBool(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> SCard(Store& store, std::string_view key) {
  const Command command(CommandId::kSCard, {key});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> SMembers(Store& store, std::string_view key) {
  const Command command(CommandId::kSMembers, {key});
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> SInter(
    Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kSInter);
  command.AddAll(keys);
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> SUnion(
    Store& store, std::span<const std::string_view> keys) {
  Command command(CommandId::kSUnion);
  command.AddAll(keys);
  co_return DecodeStrings(co_await store.Execute(command));
}

base::Task<absl::StatusOr<std::vector<std::string>>> SDiff(Store& store,
                                                           std::span<const std::string_view> keys) {
  Command command(CommandId::kSDiff);
  command.AddAll(keys);
  co_return DecodeStrings(co_await store.Execute(command));
}

}  // namespace redouble::inline v0_1::store
