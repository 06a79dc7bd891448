// 3scale's reports on the memory engine and on live Redis (a redis-server that this program starts,
// on a Unix socket): a worker's whole job, from the parsing of its transactions to the alerts, for
// an application that has had traffic on the same day.
//
//   bazel run --config=opt //bench:threescale_reports
//
// The counters beside the times are those of one job: its commands and its round trips.
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/report/worker.h"

namespace redouble::inline v0_1::threescale {
namespace {

using bench::Counted;
using bench::ExitUnlessOk;
using bench::kNow;
using bench::Live;
using bench::Memory;

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

// The arguments are the transactions of a job and the metrics of a transaction.
template <typename Backend, Mode mode>
void BM_Report(benchmark::State& state) {
  Counted<Backend> backend;
  base::VirtualClock clock(kNow);
  Process process(backend.store(), clock);
  SetUp(process, state.range(1));
  Memoizer memoizer(clock);
  if (mode == Mode::kMemoized) process.memoizer = &memoizer;
  WorkerOptions options;
  options.aggregator.hardening.expire_atomically = mode == Mode::kHardened;
  Worker worker(process, options);
  const ReportJob job = JobOf(state.range(0), state.range(1));
  ExitUnlessOk(base::Run(worker.Run(Job(job))));
  backend.Begin();
  for (auto _ : state) {
    const absl::Status ran = base::Run(worker.Run(Job(job)));
    if (!ran.ok()) return state.SkipWithError("the job failed");
  }
  backend.Report(state);
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
}  // namespace redouble::inline v0_1::threescale
