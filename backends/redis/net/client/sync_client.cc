#include "redouble/backends/redis/net/client/sync_client.h"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "absl/memory/memory.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/sync_submit.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"

namespace redouble::inline v0_1::redis {

struct SyncClient::Loop {
  // One thread runs the loop; this hint avoids locks.
  boost::asio::io_context context{1};
  std::unique_ptr<Client> client;
};

SyncClient::SyncClient() : loop_(std::make_unique<Loop>()) {}
SyncClient::~SyncClient() = default;

absl::StatusOr<std::unique_ptr<SyncClient>> SyncClient::Connect(std::string_view uri,
                                                                Sharing sharing) {
  REDOUBLE_ASSIGN_OR_RETURN(Options options, Options::Parse(uri));
  return Connect(options, sharing);
}

absl::StatusOr<std::unique_ptr<SyncClient>> SyncClient::Connect(const Options& options,
                                                                Sharing sharing) {
  return Connect(options, sharing, ClientHooks());
}

absl::StatusOr<std::unique_ptr<SyncClient>> SyncClient::Connect(const Options& options,
                                                                Sharing sharing,
                                                                ClientHooks hooks) {
  auto sync = absl::WrapUnique(new SyncClient());
  boost::asio::io_context& context = sync->loop_->context;
  REDOUBLE_ASSIGN_OR_RETURN(sync->loop_->client,
                            base::RunUntilDone(Client::Connect(context.get_executor(), options,
                                                               sharing, std::move(hooks)),
                                               [&] { return context.run_one() > 0; }));
  return sync;
}

void SyncClient::Submit(store::Request& request) {
  Client& client = *loop_->client;
  SubmitAndRun(loop_->context, client, request, [&client] { client.Close(); });
}

bool SyncClient::connected() const { return loop_->client->connected(); }

const Options& SyncClient::options() const { return loop_->client->options(); }

const Counters& SyncClient::counters() const { return loop_->client->counters(); }

}  // namespace redouble::inline v0_1::redis
