#include "redouble/core/store/typed/hashes.h"

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::store {

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
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> flat,
                               DecodeStrings(co_await store.Execute(command)));
  std::vector<std::pair<std::string, std::string>> fields;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    fields.emplace_back(std::move(flat[i]), std::move(flat[i + 1]));
  }
  co_return fields;
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

}  // namespace redouble::store
