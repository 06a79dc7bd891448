#include "backends/redis/net/blocking_client.h"

#include <utility>

#include "absl/memory/memory.h"
#include "backends/redis/net/blocking_submit.h"
#include "core/base/run.h"

namespace redouble::redis {

BlockingClient::BlockingClient() = default;
BlockingClient::~BlockingClient() = default;

absl::StatusOr<std::unique_ptr<BlockingClient>> BlockingClient::Connect(std::string_view uri,
                                                                        Sharing sharing) {
  absl::StatusOr<Options> options = Options::Parse(uri);
  if (!options.ok()) return options.status();
  return Connect(*options, sharing);
}

absl::StatusOr<std::unique_ptr<BlockingClient>> BlockingClient::Connect(const Options& options,
                                                                        Sharing sharing) {
  auto blocking = absl::WrapUnique(new BlockingClient());
  boost::asio::io_context& context = blocking->context_;
  absl::StatusOr<std::unique_ptr<Client>> client =
      base::RunUntilDone(Client::Connect(context.get_executor(), options, sharing),
                         [&] { return context.run_one() > 0; });
  if (!client.ok()) return client.status();
  blocking->client_ = *std::move(client);
  return blocking;
}

void BlockingClient::Submit(store::Request& request) {
  SubmitAndRun(context_, *client_, request, [this] { client_->Close(); });
}

}  // namespace redouble::redis
