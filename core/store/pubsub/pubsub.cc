#include "redouble/core/store/pubsub/pubsub.h"

#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::store {
namespace {

using Names = std::span<const std::string_view>;

base::Task<absl::Status> Change(Store& store, CommandId id, Names names) {
  Command command(id);
  command.AddAll(names);
  co_return DecodeArray(co_await store.Execute(command)).status();
}

}  // namespace

base::Task<absl::Status> Subscribe(Store& store, Names channels) {
  return Change(store, CommandId::kSubscribe, channels);
}

base::Task<absl::Status> PSubscribe(Store& store, Names patterns) {
  return Change(store, CommandId::kPSubscribe, patterns);
}

base::Task<absl::Status> SSubscribe(Store& store, Names channels) {
  return Change(store, CommandId::kSSubscribe, channels);
}

base::Task<absl::Status> SubscribeTo(Store& store, const Channel& channel) {
  const std::string_view channels[] = {channel.name};
  if (channel.sharded) co_return co_await SSubscribe(store, channels);
  co_return co_await Subscribe(store, channels);
}

base::Task<absl::Status> Unsubscribe(Store& store, Names channels) {
  return Change(store, CommandId::kUnsubscribe, channels);
}

base::Task<absl::Status> PUnsubscribe(Store& store, Names patterns) {
  return Change(store, CommandId::kPUnsubscribe, patterns);
}

base::Task<absl::Status> SUnsubscribe(Store& store, Names channels) {
  return Change(store, CommandId::kSUnsubscribe, channels);
}

base::Task<absl::StatusOr<int64_t>> Publish(Store& store, std::string_view channel,
                                            std::string_view payload) {
  const Command command(CommandId::kPublish, {channel, payload});
  co_return DecodeInteger(co_await store.Execute(command));
}

base::Task<absl::StatusOr<int64_t>> SPublish(Store& store, std::string_view channel,
                                             std::string_view payload) {
  const Command command(CommandId::kSPublish, {channel, payload});
  co_return DecodeInteger(co_await store.Execute(command));
}

}  // namespace redouble::inline v0_1::store
