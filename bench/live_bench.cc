// The live clients beside raw hiredis pipelines of the same depth, on servers that this program
// starts: one connection over a Unix socket, one with TLS on loopback, a cluster of three masters,
// and a master that sentinels watch. The clients that block beside hiredis at depth 1. And replies
// from the client's cache beside the memory engine.
//
//   bazel run --config=opt //bench:live -- --benchmark_repetitions=7
//     --benchmark_enable_random_interleaving=true
//
// Compare the items per second at equal depth in one run: the server is the same, the difference is
// client-side work. allocations: allocations of this program per command. p50_us, p99_us: from the
// submission of a command to its reply. At the end the program runs redis-benchmark against the
// server with the Unix socket, which shows its throughput at the same depths.
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/certificates_for_test.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/bench/allocations.h"
#include "redouble/bench/raw_connections.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::bench {
namespace {

// `before`: the allocations before the loop.
void ReportAllocations(benchmark::State& state, int64_t before, int64_t commands) {
  state.counters["allocations"] = static_cast<double>(Allocations() - before) /
                                  static_cast<double>(state.iterations() * commands);
}

void ReportLatency(benchmark::State& state, const redis::Counters& counters) {
  state.counters["p50_us"] = static_cast<double>(counters.latency.QuantileMicros(0.5));
  state.counters["p99_us"] = static_cast<double>(counters.latency.QuantileMicros(0.99));
}

// What the benchmarks run on: the server, its URI, the keys, and both clients.
struct Plain {
  using Raw = RawPlain;
  using Client = redis::Client;
  static redis::SpawnedServer& Server() {
    static redis::SpawnedServer& server = *ValueOrExit(redis::SpawnedServer::Start()).release();
    return server;
  }
  static std::string Uri() { return Server().uri(); }
  static std::string_view Key(int64_t) { return kBenchKey; }
  static redis::Counters TrafficOf(const Client& client) { return client.counters(); }
};

// For hiredis only.
struct Events : Plain {
  using Raw = RawEvents;
};

struct Tls : Plain {
  using Raw = RawTls;
  static redis::SpawnedServer& Server() {
    static redis::SpawnedServer& server = *Start().release();
    return server;
  }
  static std::unique_ptr<redis::SpawnedServer> Start() {
    const auto folder = ValueOrExit(redis::PrivateFolder::Create("redouble-bench-"));
    const redis::CertificatesForTest certificates(folder.path());
    redis::SpawnedServerOptions options;
    options.listen_on_loopback = true;
    options.tls = redis::SpawnedTls{certificates.server_certificate(), certificates.server_key(),
                                    certificates.authority()};
    return ValueOrExit(redis::SpawnedServer::Start(options));
  }
  static std::string Uri() { return Server().loopback_uri() + "?tls_verify=no"; }
};

struct Cluster {
  using Raw = RawCluster;
  using Client = redis::ClusterClient;
  static redis::SpawnedCluster& Server() {
    static redis::SpawnedCluster& cluster = *ValueOrExit(redis::SpawnedCluster::Start()).release();
    return cluster;
  }
  static std::string Uri() { return Server().uri(); }
  static std::string_view Key(int64_t index) { return RawCluster::Key(index); }
  static redis::Counters TrafficOf(const Client& client) { return client.traffic(); }
};

struct Sentinels : Plain {
  using Client = redis::SentinelClient;
  static redis::SpawnedSentinels& All() {
    static redis::SpawnedSentinels& all = *ValueOrExit(redis::SpawnedSentinels::Start()).release();
    return all;
  }
  static redis::SpawnedServer& Server() { return All().server(0); }
  static std::string Uri() { return All().uri(); }
  static redis::Counters TrafficOf(const Client& client) { return client.traffic(); }
};

template <typename On>
class LiveClient {
 public:
  explicit LiveClient(const std::string& uri = On::Uri()) {
    typename On::Raw sets_the_keys(On::Server());
    const redis::Options options = ValueOrExit(redis::Options::Parse(uri));
    client_ = ValueOrExit(Drive(On::Client::Connect(context_.get_executor(), options)));
  }
  ~LiveClient() {
    client_.reset();
    context_.run();
  }

  typename On::Client& client() { return *client_; }
  template <typename T>
  T Drive(base::Task<T> task) {
    return base::RunUntilDone(std::move(task), [this] {
      context_.restart();
      return context_.run_one() > 0;
    });
  }

 private:
  boost::asio::io_context context_{1};
  std::unique_ptr<typename On::Client> client_;
};

template <typename On>
void BM_Hiredis(benchmark::State& state) {
  typename On::Raw raw(On::Server());
  const int64_t depth = state.range(0);
  const int64_t before = Allocations();
  for (auto _ : state) {
    for (int64_t i = 0; i < depth; ++i) raw.AppendGet(i);
    raw.Flush();
    for (int64_t i = 0; i < depth; ++i) {
      if (!raw.Receive()) return state.SkipWithError("no value");
    }
  }
  ReportAllocations(state, before, depth);
  state.SetItemsProcessed(state.iterations() * depth);
}

template <typename On>
void BM_SpawnedCoroutines(benchmark::State& state) {
  LiveClient<On> live;
  const int64_t depth = state.range(0);
  const int64_t before = Allocations();
  for (auto _ : state) {
    std::vector<base::Task<absl::StatusOr<std::optional<std::string>>>> gets;
    gets.reserve(static_cast<size_t>(depth));
    for (int64_t i = 0; i < depth; ++i) gets.push_back(store::Get(live.client(), On::Key(i)));
    const auto values = live.Drive(base::WhenAll(std::move(gets)));
    if (!values.back().ok() || !*values.back()) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(values.data());
  }
  ReportLatency(state, On::TrafficOf(live.client()));
  ReportAllocations(state, before, depth);
  state.SetItemsProcessed(state.iterations() * depth);
}

// One coroutine of a service: sends a request, waits for the reply, and repeats.
base::Task<void> SendRequests(store::Store& client, std::string_view key, int64_t& left) {
  while (left > 0) {
    --left;
    auto value = co_await store::Get(client, key);
    benchmark::DoNotOptimize(value);
  }
}

template <typename On>
void BM_StandingCoroutines(benchmark::State& state) {
  LiveClient<On> live;
  const int64_t depth = state.range(0);
  const int64_t before = Allocations();
  for (auto _ : state) {
    int64_t left = 64 * depth;
    std::vector<base::Task<void>> actors;
    for (int64_t i = 0; i < depth; ++i) {
      actors.push_back(SendRequests(live.client(), On::Key(i), left));
    }
    live.Drive(base::WhenAll(std::move(actors)));
  }
  ReportAllocations(state, before, 64 * depth);
  state.SetItemsProcessed(state.iterations() * 64 * depth);
  ReportLatency(state, On::TrafficOf(live.client()));
}

#define REDOUBLE_BENCHMARK_LIVE(On)                                               \
  BENCHMARK(BM_Hiredis<On>)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();           \
  BENCHMARK(BM_SpawnedCoroutines<On>)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime(); \
  BENCHMARK(BM_StandingCoroutines<On>)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime()

REDOUBLE_BENCHMARK_LIVE(Plain);
BENCHMARK(BM_Hiredis<Events>)->Arg(1)->UseRealTime();
REDOUBLE_BENCHMARK_LIVE(Tls);
REDOUBLE_BENCHMARK_LIVE(Cluster);
REDOUBLE_BENCHMARK_LIVE(Sentinels);

template <typename Blocking>
void BM_Blocking(benchmark::State& state) {
  RawPlain sets_the_key(Plain::Server());
  const auto client = ValueOrExit(Blocking::Connect(Plain::Uri()));
  for (auto _ : state) {
    auto value = base::Run(store::Get(*client, kBenchKey));
    if (!value.ok() || !*value) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Blocking<redis::SyncClient>)->UseRealTime();
BENCHMARK(BM_Blocking<redis::SyncPool>)->UseRealTime();

void BM_PipelineBatch(benchmark::State& state) {
  LiveClient<Plain> live;
  const int64_t depth = state.range(0);
  const int64_t before = Allocations();
  for (auto _ : state) {
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    for (int64_t i = 0; i < depth; ++i) batch.Add(store::CommandId::kGet, {kBenchKey});
    const auto replies = live.Drive(store::Execute(live.client(), batch));
    if (!replies.ok() || !replies->back().is_bulk()) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(replies->data());
  }
  ReportAllocations(state, before, depth);
  state.SetItemsProcessed(state.iterations() * depth);
}
BENCHMARK(BM_PipelineBatch)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime();

void BM_CachedGet(benchmark::State& state) {
  LiveClient<Plain> live(absl::StrCat(Plain::Uri(), "?protocol=3&cache_bytes=1000000"));
  for (auto _ : state) {
    auto value = live.Drive(store::Get(live.client(), kBenchKey));
    if (!value.ok() || !*value) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(value);
  }
  state.counters["hits"] = static_cast<double>(live.client().counters().cache_hits) /
                           static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CachedGet);

void BM_MemoryGet(benchmark::State& state) {
  Memory memory;
  ExitUnlessOk(base::Run(store::Set(memory.store(), kBenchKey, kBenchValue)).status());
  for (auto _ : state) {
    auto value = base::Run(store::Get(memory.store(), kBenchKey));
    if (!value.ok() || !*value) return state.SkipWithError("no value");
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_MemoryGet);

void RunRedisBenchmark() {
  for (const char* depth : {"1", "64", "1024"}) {
    std::printf("redis-benchmark, one connection, pipelines of %s\n", depth);
    std::fflush(stdout);
    const std::string command = absl::StrCat("redis-benchmark -s ", Plain::Server().unix_socket(),
                                             " -t get -n 300000 -c 1 -q -P ", depth);
    if (std::system(command.c_str()) != 0) std::printf("redis-benchmark failed\n");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  redouble::bench::RunRedisBenchmark();
  benchmark::Shutdown();
  return 0;
}
