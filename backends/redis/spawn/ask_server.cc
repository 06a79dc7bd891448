#include "backends/redis/spawn/ask_server.h"

#include <memory>
#include <utility>

#include "backends/redis/net/blocking_client.h"
#include "core/base/run.h"
#include "core/store/command.h"
#include "core/store/reply.h"

namespace redouble::redis {

absl::StatusOr<std::string> AskServer(const SpawnedServer& server, std::string_view name,
                                      std::string_view argument) {
  absl::StatusOr<std::unique_ptr<BlockingClient>> client = BlockingClient::Connect(server.uri());
  if (!client.ok()) return client.status();
  auto ask = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    store::Command command = store::Command::Named(name);
    command.Add(argument);
    co_return co_await (*client)->Execute(command);
  };
  absl::StatusOr<store::Reply> reply = base::Run(ask());
  if (!reply.ok()) return reply.status();
  return reply->is_bulk() ? std::move(*reply).text() : std::string();
}

}  // namespace redouble::redis
