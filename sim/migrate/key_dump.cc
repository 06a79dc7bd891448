#include "redouble/sim/migrate/key_dump.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// Whether a server refused a dump itself. Other codes, such as OOM, refuse every dump.
bool IsUnreadable(const absl::Status& status) { return store::ServerErrorCode(status) == "ERR"; }

}  // namespace

base::Task<absl::StatusOr<std::vector<std::optional<KeyDump>>>> DumpKeys(
    store::Store& store, std::span<const std::string> keys) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& key : keys) {
    // A key that expires in between has no dump.
    batch.Add(CommandId::kPExpireTime).Add(key);
    batch.Add(CommandId::kDump).Add(key);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  std::vector<std::optional<KeyDump>> dumps(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t deadline_ms,
                                 store::DecodeInteger(std::move(replies[2 * i])));
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> payload,
                                 store::DecodeStringOrNil(std::move(replies[2 * i + 1])));
    if (!payload) continue;
    KeyDump& dump = dumps[i].emplace();
    dump.payload = *std::move(payload);
    if (deadline_ms >= 0) dump.deadline_ms = deadline_ms;
  }
  co_return dumps;
}

base::Task<absl::StatusOr<std::vector<UnreadDump>>> RestoreKeys(store::Store& store,
                                                                std::span<const NamedDump> dumps) {
  Batch batch(Batch::Atomicity::kPipeline);
  for (const auto& [key, dump] : dumps) {
    batch.Add(CommandId::kRestore)
        .Add(key)
        .AddInteger(dump->deadline_ms.value_or(0))
        .Add(dump->payload)
        .Add("REPLACE")
        .Add("ABSTTL");
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> replies, co_await store::Execute(store, batch));
  std::vector<UnreadDump> unread;
  for (size_t i = 0; i < dumps.size(); ++i) {
    const absl::Status status = store::DecodeStatus(std::move(replies[i]));
    if (IsUnreadable(status)) {
      unread.push_back({i, std::string(status.message())});
    } else {
      REDOUBLE_CO_RETURN_IF_ERROR(status);
    }
  }
  co_return unread;
}

}  // namespace redouble::inline v0_1::sim
