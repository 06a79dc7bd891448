#include "backends/redis/net/blocking_store.h"

#include <utility>

#include "absl/memory/memory.h"
#include "backends/redis/net/blocking_submit.h"
#include "backends/redis/net/client.h"
#include "backends/redis/net/cluster_client.h"
#include "backends/redis/net/sentinel_client.h"
#include "core/base/run.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<store::Store>>;

template <typename Client>
Opened AsStore(absl::StatusOr<std::unique_ptr<Client>> client) {
  if (!client.ok()) return client.status();
  return *std::move(client);
}

base::Task<Opened> Open(boost::asio::any_io_executor executor, Options options) {
  if (options.cluster) {
    auto cluster = co_await ClusterClient::Connect(std::move(executor), std::move(options));
    co_return AsStore(std::move(cluster));
  }
  if (!options.sentinel_master.empty()) {
    auto master = co_await SentinelClient::Connect(std::move(executor), std::move(options));
    co_return AsStore(std::move(master));
  }
  auto client =
      co_await Client::Connect(std::move(executor), std::move(options), Sharing::kDedicated);
  co_return AsStore(std::move(client));
}

}  // namespace

BlockingStore::BlockingStore() = default;
BlockingStore::~BlockingStore() = default;

absl::StatusOr<std::unique_ptr<BlockingStore>> BlockingStore::Connect(std::string_view uri) {
  absl::StatusOr<Options> options = Options::Parse(uri);
  if (!options.ok()) return options.status();
  return Connect(*options);
}

absl::StatusOr<std::unique_ptr<BlockingStore>> BlockingStore::Connect(const Options& options) {
  auto blocking = absl::WrapUnique(new BlockingStore());
  boost::asio::io_context& context = blocking->context_;
  Opened store = base::RunUntilDone(Open(context.get_executor(), options),
                                    [&] { return context.run_one() > 0; });
  if (!store.ok()) return store.status();
  blocking->store_ = *std::move(store);
  return blocking;
}

void BlockingStore::Submit(store::Request& request) {
  if (store_ == nullptr) {
    return request.Complete(store::NotSentError("the connection was lost before"));
  }
  // Out of work without an answer: nothing will come any more.
  SubmitAndRun(context_, *store_, request, [this] { store_.reset(); });
}

}  // namespace redouble::redis
