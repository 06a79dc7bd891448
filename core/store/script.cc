#include "redouble/core/store/script.h"

#include <utility>

#include "redouble/core/base/hash/digest.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {

Script::Script(std::string source) : source_(std::move(source)), sha1_(base::Sha1Hex(source_)) {}

base::Task<absl::StatusOr<Reply>> Script::Run(Store& store, std::span<const std::string_view> keys,
                                              std::span<const std::string_view> arguments) const {
  const Command by_sha1 = Call(CommandId::kEvalSha, sha1_, keys, arguments);
  absl::StatusOr<Reply> reply = DecodeAny(co_await store.Execute(by_sha1));
  if (ServerErrorCode(reply.status()) != "NOSCRIPT") co_return reply;
  const Command by_source = Call(CommandId::kEval, source_, keys, arguments);
  co_return DecodeAny(co_await store.Execute(by_source));
}

Command& Script::AddTo(Batch& batch, std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments) const {
  return batch.Add(Call(CommandId::kEval, source_, keys, arguments));
}

Command Script::Call(CommandId id, std::string_view script, std::span<const std::string_view> keys,
                     std::span<const std::string_view> arguments) const {
  Command command(id, {script});
  command.AddInteger(static_cast<int64_t>(keys.size()));
  command.AddAll(keys).AddAll(arguments);
  return command;
}

}  // namespace redouble::inline v0_1::store
