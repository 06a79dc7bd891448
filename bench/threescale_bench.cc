// 3scale's authrep on the memory engine and on live Redis (a redis-server that this program starts,
// on a Unix socket), with 1, 10 and 100 metrics that each have a limit and a usage.
//
//   bazel run --config=opt //bench:threescale
//
// The counters beside the times are those of one operation: its commands and its round trips. Jobs
// that an authrep enqueues are dequeued but not run (see threescale_reports_bench.cc).
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/report/listener.h"

namespace redouble::inline v0_1::threescale {
namespace {

using bench::Counted;
using bench::ExitUnlessOk;
using bench::kNow;
using bench::Live;
using bench::Memory;

// Service 2, application a1, and the metrics m1, m2, ... with limits that are never reached.
void SetUp(const Process& process, int64_t metric_count) {
  ServiceSave service = {.id = "2", .provider_key = "pk"};
  ExitUnlessOk(base::Run(ServiceStore(process).Save(service)).status());
  ApplicationSave application = {.service_id = "2", .id = "a1", .state = "active"};
  application.plan_id = "44";
  ExitUnlessOk(base::Run(ApplicationStore(process).Save(application)));
  for (int64_t i = 1; i <= metric_count; ++i) {
    const std::string id = absl::StrCat(i);
    const Metric metric = {"2", id, absl::StrCat("m", i)};
    ExitUnlessOk(base::Run(MetricStore(process).Save(metric)));
    const UsageLimitSave limits[] = {{Granularity::kDay, "1000000000"}};
    ExitUnlessOk(base::Run(UsageLimitStore(process).Save({"2", "44"}, id, limits)));
  }
}

enum class Mode { kDefault, kMemoized, kAtomic };

template <typename Backend, Mode mode>
void BM_Authrep(benchmark::State& state) {
  Counted<Backend> backend;
  base::VirtualClock clock(kNow);
  Process process(backend.store(), clock);
  SetUp(process, state.range(0));
  Memoizer memoizer(clock);
  if (mode == Mode::kMemoized) process.memoizer = &memoizer;
  AuthorizerOptions options;
  options.hardening.check_and_report_atomically = mode == Mode::kAtomic;
  InProcessJobQueue queue;
  Notifier notifier(process, queue);
  Listener listener(process, queue, notifier, options);
  AuthRequest request = {.provider_key = "pk", .service_id = "2", .app_id = "a1"};
  request.usage.emplace();
  for (int64_t i = 1; i <= state.range(0); ++i) {
    request.usage->push_back({absl::StrCat("m", i), "1"});
  }
  backend.Begin();
  for (auto _ : state) {
    const auto answer = base::Run(listener.Handle(Endpoint::kAuthrep, request, "{}"));
    if (!answer.ok() || !answer->authorized()) return state.SkipWithError("it was rejected");
    benchmark::DoNotOptimize(queue.Pop());
  }
  backend.Report(state);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Authrep<Memory, Mode::kDefault>)->ArgName("metrics")->Arg(1)->Arg(10)->Arg(100);
BENCHMARK(BM_Authrep<Memory, Mode::kMemoized>)->ArgName("metrics")->Arg(1)->Arg(10)->Arg(100);
BENCHMARK(BM_Authrep<Memory, Mode::kAtomic>)->ArgName("metrics")->Arg(1)->Arg(10)->Arg(100);
BENCHMARK(BM_Authrep<Live, Mode::kDefault>)
    ->ArgName("metrics")
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->UseRealTime();
BENCHMARK(BM_Authrep<Live, Mode::kMemoized>)
    ->ArgName("metrics")
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->UseRealTime();
BENCHMARK(BM_Authrep<Live, Mode::kAtomic>)
    ->ArgName("metrics")
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->UseRealTime();

}  // namespace
}  // namespace redouble::inline v0_1::threescale
