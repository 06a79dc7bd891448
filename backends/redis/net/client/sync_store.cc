#include "redouble/backends/redis/net/client/sync_store.h"

#include <utility>

#include "absl/memory/memory.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/sync_submit.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using Opened = absl::StatusOr<OpenedStore>;

// `Client` is ClusterClient or SentinelClient, which search their servers again after a loss.
template <typename Client>
Opened AsStore(absl::StatusOr<std::unique_ptr<Client>> client) {
  REDOUBLE_RETURN_IF_ERROR(client.status());
  const Client& opened = **client;
  return OpenedStore{*std::move(client), [] { return false; },
                     [&opened] { return opened.traffic(); }};
}

Opened AsStore(absl::StatusOr<std::unique_ptr<Client>> client) {
  REDOUBLE_RETURN_IF_ERROR(client.status());
  const Client& opened = **client;
  return OpenedStore{*std::move(client), [&opened] { return opened.closed(); },
                     [&opened] { return opened.counters(); }};
}

base::Task<Opened> Open(boost::asio::any_io_executor executor, Options options, Sharing sharing,
                        ClientHooks hooks) {
  if (options.cluster) {
    auto cluster =
        co_await ClusterClient::Connect(std::move(executor), std::move(options), std::move(hooks));
    co_return AsStore(std::move(cluster));
  }
  if (!options.sentinel_master.empty()) {
    auto master =
        co_await SentinelClient::Connect(std::move(executor), std::move(options), std::move(hooks));
    co_return AsStore(std::move(master));
  }
  auto client =
      co_await Client::Connect(std::move(executor), std::move(options), sharing, std::move(hooks));
  co_return AsStore(std::move(client));
}

}  // namespace

SyncStore::SyncStore() = default;
SyncStore::~SyncStore() = default;

absl::StatusOr<std::unique_ptr<SyncStore>> SyncStore::Connect(std::string_view uri,
                                                              Sharing sharing) {
  REDOUBLE_ASSIGN_OR_RETURN(Options options, Options::Parse(uri));
  return Connect(options, sharing);
}

absl::StatusOr<std::unique_ptr<SyncStore>> SyncStore::Connect(const Options& options,
                                                              Sharing sharing) {
  return Connect(options, sharing, ClientHooks());
}

absl::StatusOr<std::unique_ptr<SyncStore>> SyncStore::Connect(const Options& options,
                                                              Sharing sharing, ClientHooks hooks) {
  auto sync = absl::WrapUnique(new SyncStore());
  boost::asio::io_context& context = sync->context_;
  REDOUBLE_ASSIGN_OR_RETURN(
      sync->opened_,
      base::RunUntilDone(Open(context.get_executor(), options, sharing, std::move(hooks)),
                         [&] { return context.run_one() > 0; }));
  return sync;
}

void SyncStore::Submit(store::Request& request) {
  if (opened_.store == nullptr) {
    return request.Complete(store::NotSentError("the connection was lost before"));
  }
  // The loop has no more work and the request no reply: no reply will arrive.
  SubmitAndRun(context_, *opened_.store, request, [this] { opened_.store.reset(); });
}

bool SyncStore::IsUsable() {
  if (opened_.store == nullptr) return false;
  HandlePendingEvents(context_);
  return !opened_.is_closed();
}

Counters SyncStore::counters() const {
  return opened_.store == nullptr ? Counters() : opened_.counters();
}

}  // namespace redouble::inline v0_1::redis
