// The live backend beside raw hiredis pipelines of the same depth, on one redis-server that this
// program starts on a Unix socket.
//
//   bazel run --config=opt //bench:live
//
// Compare the items per second at equal depth in one run: the server is the same, the difference is
// client-side work. allocations: allocations of this program per command. p50_us, p99_us: from the
// submission of a command to its reply. At the end the program runs redis-benchmark against the
// same server, which shows the server's throughput at the same depths.
#include <hiredis/hiredis.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble {
namespace {

constexpr char kKey[] = "key:000000000001";
constexpr char kValue[] = "value:0123456789";

// The number of allocations of this program; reset to 0 before a measurement.
std::atomic<uint64_t> allocations = 0;

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

void ReportAllocations(benchmark::State& state, int64_t depth) {
  state.counters["allocations"] =
      static_cast<double>(allocations.load()) / static_cast<double>(state.iterations() * depth);
}

void BM_HiredisPipeline(benchmark::State& state) {
  RawConnection raw;
  const int64_t depth = state.range(0);
  const char* words[] = {"GET", kKey};
  allocations = 0;
  for (auto _ : state) {
    for (int64_t i = 0; i < depth; ++i) redisAppendCommandArgv(raw.get(), 2, words, nullptr);
    for (int64_t i = 0; i < depth; ++i) {
      void* reply = nullptr;
      if (redisGetReply(raw.get(), &reply) != REDIS_OK) return state.SkipWithError("connection");
      benchmark::DoNotOptimize(reply);
      freeReplyObject(reply);
    }
  }
  ReportAllocations(state, depth);
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
  allocations = 0;
  for (auto _ : state) {
    std::vector<base::Task<absl::StatusOr<std::optional<std::string>>>> gets;
    gets.reserve(depth);
    for (int64_t i = 0; i < depth; ++i) gets.push_back(store::Get(live.client(), kKey));
    const auto values = live.Drive(base::WhenAll(std::move(gets)));
    if (!values.back().ok() || !*values.back()) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(values.data());
  }
  const redis::LatencyHistogram& latency = live.client().counters().latency;
  state.counters["p50_us"] = static_cast<double>(latency.QuantileMicros(0.5));
  state.counters["p99_us"] = static_cast<double>(latency.QuantileMicros(0.99));
  ReportAllocations(state, depth);
  state.SetItemsProcessed(state.iterations() * depth);
}
BENCHMARK(BM_ConcurrentCoroutines)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

void BM_PipelineBatch(benchmark::State& state) {
  LiveClient live;
  const int64_t depth = state.range(0);
  allocations = 0;
  for (auto _ : state) {
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    for (int64_t i = 0; i < depth; ++i) batch.Add(store::CommandId::kGet, {kKey});
    const auto replies = live.Drive(store::Execute(live.client(), batch));
    if (!replies.ok() || !replies->back().is_bulk()) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(replies->data());
  }
  ReportAllocations(state, depth);
  state.SetItemsProcessed(state.iterations() * depth);
}
BENCHMARK(BM_PipelineBatch)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

// One coroutine of a service: sends a request, waits for the reply, and repeats.
base::Task<void> SendRequests(redis::Client& client, int64_t& left) {
  while (left > 0) {
    --left;
    auto value = co_await store::Get(client, kKey);
    benchmark::DoNotOptimize(value);
  }
}

void BM_StandingCoroutines(benchmark::State& state) {
  LiveClient live;
  const int64_t depth = state.range(0);
  allocations = 0;
  for (auto _ : state) {
    int64_t left = 64 * depth;
    std::vector<base::Task<void>> actors;
    for (int64_t i = 0; i < depth; ++i) actors.push_back(SendRequests(live.client(), left));
    live.Drive(base::WhenAll(std::move(actors)));
  }
  ReportAllocations(state, 64 * depth);
  state.SetItemsProcessed(state.iterations() * 64 * depth);
  const redis::LatencyHistogram& latency = live.client().counters().latency;
  state.counters["p50_us"] = static_cast<double>(latency.QuantileMicros(0.5));
  state.counters["p99_us"] = static_cast<double>(latency.QuantileMicros(0.99));
}
BENCHMARK(BM_StandingCoroutines)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

void RunRedisBenchmark() {
  for (const char* depth : {"1", "64", "1024"}) {
    std::printf("redis-benchmark, one connection, pipelines of %s\n", depth);
    std::fflush(stdout);
    const std::string command =
        "redis-benchmark -s " + Server().unix_socket() + " -t get -n 300000 -c 1 -q -P " + depth;
    if (std::system(command.c_str()) != 0) std::printf("redis-benchmark failed\n");
  }
}

}  // namespace
}  // namespace redouble

// Not inlined, because g++ 12 would warn about a mismatched new and delete.
[[gnu::noinline]] void* operator new(size_t size) {
  redouble::allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  redouble::RunRedisBenchmark();
  benchmark::Shutdown();
  return 0;
}
