#include "redouble/backends/redis/spawn/ask_server.h"

#include <memory>
#include <utility>

#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

absl::StatusOr<store::Reply> AskServer(const SpawnedServer& server,
                                       const std::vector<std::string>& words) {
  REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<SyncClient> client, SyncClient::Connect(server.uri()));
  auto ask = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    store::Command command = store::Command::Named(words[0]);
    for (size_t i = 1; i < words.size(); ++i) command.Add(words[i]);
    co_return co_await client->Execute(command);
  };
  REDOUBLE_ASSIGN_OR_RETURN(store::Reply reply, base::Run(ask()));
  if (reply.is_error()) return store::ServerError(reply.text());
  return reply;
}

absl::StatusOr<std::string> AskServer(const SpawnedServer& server, std::string_view name,
                                      std::string_view argument) {
  REDOUBLE_ASSIGN_OR_RETURN(
      store::Reply reply,
      AskServer(server, std::vector<std::string>{std::string(name), std::string(argument)}));
  return reply.is_bulk() ? std::move(reply).text() : std::string();
}

}  // namespace redouble::inline v0_1::redis
