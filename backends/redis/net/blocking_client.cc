#include "backends/redis/net/blocking_client.h"

#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "core/base/run.h"

namespace redouble::redis {
namespace {

// Stands in for a request while the loop runs: the request itself may be gone the moment it is
// complete.
class AwaitedRequest final : public store::Request {
 public:
  explicit AwaitedRequest(const store::Request& request)
      : Request(request.kind(), request.commands()) {}

  absl::StatusOr<store::Reply>&& Take() { return *std::move(result_); }

 private:
  void OnComplete(absl::StatusOr<store::Reply>&& result) override {
    result_.emplace(std::move(result));
  }

  std::optional<absl::StatusOr<store::Reply>> result_;
};

}  // namespace

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
  // A loop that ran out of work, as it does once the connection is lost, has to be told to go on.
  if (context_.stopped()) context_.restart();
  // Notices what happened to the connection while nobody ran the loop.
  context_.poll();
  AwaitedRequest awaited(request);
  client_->Submit(awaited);
  while (!awaited.completed()) {
    // Out of work without an answer: closing fails the request.
    if (context_.run_one() == 0) client_->Close();
  }
  request.Complete(awaited.Take());
}

}  // namespace redouble::redis
