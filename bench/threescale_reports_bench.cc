// 3scale's reports on the memory engine and on live Redis (a redis-server of this program's own, on
// a Unix socket): a worker's whole job, from the parsing of its transactions to the alerts, of an
// application that has had traffic today.
//
//   bazel run --config=opt //bench:threescale_reports
//
// The counters beside the times are those of one job: how many commands it sent, and in how many
// round trips.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "backends/memory/engine.h"
#include "backends/redis/net/blocking_client.h"
#include "backends/redis/spawn/spawned_server.h"
#include "benchmark/benchmark.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/store/wrappers/forwarding_store.h"
#include "core/threescale/application.h"
#include "core/threescale/metric.h"
#include "core/threescale/worker.h"

namespace redouble::threescale {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'745'430'159);

template <typename T>
T ValueOrExit(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

void ExitUnlessOk(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

class Memory {
 public:
  store::Store& store() { return *session_; }

 private:
  base::VirtualClock clock_{kNow};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
};

class Live {
 public:
  store::Store& store() { return *client_; }

 private:
  std::unique_ptr<redis::SpawnedServer> server_ = ValueOrExit(redis::SpawnedServer::Start());
  std::unique_ptr<redis::BlockingClient> client_ =
      ValueOrExit(redis::BlockingClient::Connect(server_->uri()));
};

// Counts what passes.
class PassingStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void Submit(store::Request& request) override {
    ++round_trips;
    commands += static_cast<int64_t>(request.commands().size());
    ForwardingStore::Submit(request);
  }

  int64_t round_trips = 0;
  int64_t commands = 0;
};

// Application a1 of service 2, and the metrics m1, m2, ...
void SetUp(const Process& process, int64_t metric_count) {
  ApplicationSave application = {.service_id = "2", .id = "a1", .state = "active"};
  application.plan_id = "44";
  ExitUnlessOk(base::Run(ApplicationStore(process).Save(application)));
  for (int64_t i = 1; i <= metric_count; ++i) {
    const Metric metric = {"2", absl::StrCat(i), absl::StrCat("m", i)};
    ExitUnlessOk(base::Run(MetricStore(process).Save(metric)));
  }
}

ReportJob JobOf(int64_t transactions, int64_t metrics) {
  ReportJob job;
  job.service_id = "2";
  Transaction transaction;
  transaction.app_id = "a1";
  for (int64_t i = 1; i <= metrics; ++i) {
    transaction.usage.push_back({absl::StrCat("m", i), "1"});
  }
  job.transactions.assign(static_cast<size_t>(transactions), transaction);
  return job;
}

enum class Mode { kDefault, kMemoized, kHardened };

// The arguments are how many transactions a job has, and how many metrics a transaction.
template <typename Backend, Mode mode>
void BM_Report(benchmark::State& state) {
  Backend backend;
  base::VirtualClock clock(kNow);
  PassingStore store(backend.store());
  Process process(store, clock);
  SetUp(process, state.range(1));
  Memoizer memoizer(clock);
  if (mode == Mode::kMemoized) process.memoizer = &memoizer;
  WorkerOptions options;
  options.aggregator.hardening.expire_atomically = mode == Mode::kHardened;
  Worker worker(process, options);
  const ReportJob job = JobOf(state.range(0), state.range(1));
  ExitUnlessOk(base::Run(worker.Run(Job(job))));
  store.round_trips = store.commands = 0;
  for (auto _ : state) {
    const absl::Status ran = base::Run(worker.Run(Job(job)));
    if (!ran.ok()) return state.SkipWithError("the job failed");
  }
  using benchmark::Counter;
  state.counters["round_trips"] =
      Counter(static_cast<double>(store.round_trips), Counter::kAvgIterations);
  state.counters["commands"] =
      Counter(static_cast<double>(store.commands), Counter::kAvgIterations);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"transactions", "metrics"});
  benchmark->Args({1, 1})->Args({1, 10})->Args({1, 100})->Args({1000, 1});
}
BENCHMARK(BM_Report<Memory, Mode::kDefault>)->Apply(Sizes);
BENCHMARK(BM_Report<Memory, Mode::kMemoized>)->Apply(Sizes);
BENCHMARK(BM_Report<Memory, Mode::kHardened>)->Apply(Sizes);
BENCHMARK(BM_Report<Live, Mode::kDefault>)->Apply(Sizes)->UseRealTime();
BENCHMARK(BM_Report<Live, Mode::kMemoized>)->Apply(Sizes)->UseRealTime();
BENCHMARK(BM_Report<Live, Mode::kHardened>)->Apply(Sizes)->UseRealTime();

}  // namespace
}  // namespace redouble::threescale
