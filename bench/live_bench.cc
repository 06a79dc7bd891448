// The live backend beside raw hiredis pipelines of the same depth, on one redis-server that this
// program starts on a Unix socket.
//
//   bazel run --config=opt //bench:live
//
// Read the ratios of items per second at equal depth in one run: the work is client-side, the
// server is the same.
#include <hiredis/hiredis.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/redis/net/await_task.h"
#include "backends/redis/net/client.h"
#include "backends/redis/options.h"
#include "backends/redis/spawn/spawned_server.h"
#include "benchmark/benchmark.h"
#include "core/base/run.h"
#include "core/store/batch.h"
#include "core/store/strings.h"

namespace redouble {
namespace {

constexpr char kKey[] = "key:000000000001";
constexpr char kValue[] = "value:0123456789";

redis::SpawnedServer& Server() {
  static redis::SpawnedServer* server = [] {
    auto started = redis::SpawnedServer::Start();
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
      std::exit(1);
    }
    return started->release();
  }();
  return *server;
}

class RawConnection {
 public:
  RawConnection() : context_(redisConnectUnix(Server().unix_socket().c_str())) {
    freeReplyObject(redisCommand(context_, "SET %s %s", kKey, kValue));
  }
  ~RawConnection() { redisFree(context_); }
  redisContext* get() { return context_; }

 private:
  redisContext* context_;
};

void BM_HiredisPipeline(benchmark::State& state) {
  RawConnection raw;
  const int64_t depth = state.range(0);
  const char* words[] = {"GET", kKey};
  for (auto _ : state) {
    for (int64_t i = 0; i < depth; ++i) redisAppendCommandArgv(raw.get(), 2, words, nullptr);
    for (int64_t i = 0; i < depth; ++i) {
      void* reply = nullptr;
      if (redisGetReply(raw.get(), &reply) != REDIS_OK) return state.SkipWithError("connection");
      benchmark::DoNotOptimize(reply);
      freeReplyObject(reply);
    }
  }
  state.SetItemsProcessed(state.iterations() * depth);
}
BENCHMARK(BM_HiredisPipeline)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

class LiveClient {
 public:
  LiveClient() {
    const redis::Options options = *redis::Options::Parse(Server().uri());
    client_ = *Drive(redis::Client::Connect(context_.get_executor(), options));
    RawConnection sets_the_key;
  }
  ~LiveClient() {
    client_.reset();
    context_.run();
  }

  redis::Client& client() { return *client_; }
  template <typename T>
  T Drive(base::Task<T> task) {
    return base::RunUntilDone(std::move(task), [this] {
      context_.restart();
      return context_.run_one() > 0;
    });
  }

 private:
  boost::asio::io_context context_{1};
  std::unique_ptr<redis::Client> client_;
};

void BM_ConcurrentCoroutines(benchmark::State& state) {
  LiveClient live;
  const int64_t depth = state.range(0);
  for (auto _ : state) {
    std::vector<base::Task<absl::StatusOr<std::optional<std::string>>>> gets;
    gets.reserve(depth);
    for (int64_t i = 0; i < depth; ++i) gets.push_back(store::Get(live.client(), kKey));
    const auto values = live.Drive(base::WhenAll(std::move(gets)));
    if (!values.back().ok() || !*values.back()) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * depth);
}
BENCHMARK(BM_ConcurrentCoroutines)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

void BM_PipelineBatch(benchmark::State& state) {
  LiveClient live;
  const int64_t depth = state.range(0);
  for (auto _ : state) {
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    for (int64_t i = 0; i < depth; ++i) batch.Add(store::CommandId::kGet, {kKey});
    const auto replies = live.Drive(store::Execute(live.client(), batch));
    if (!replies.ok() || !replies->back().is_bulk()) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(replies->data());
  }
  state.SetItemsProcessed(state.iterations() * depth);
}
BENCHMARK(BM_PipelineBatch)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

}  // namespace
}  // namespace redouble
