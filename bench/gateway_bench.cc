// The gateway's operations on the memory engine and on live Redis (a redis-server that this program
// starts, on a Unix socket).
//
//   bazel run --config=opt //bench:gateway
#include "benchmark/benchmark.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/rate_limiter.h"

namespace redouble::inline v0_1::bench {
namespace {

constexpr char kKeyId[] = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

template <typename Backend>
void BM_RateCheck(benchmark::State& state) {
  Counted<Backend> backend;
  gateway::RateLimiter limiter(backend.store());
  backend.Begin();
  for (auto _ : state) {
    const auto decision = base::Run(limiter.CheckRequestRateLimit(kKeyId, 1'000'000'000, kNow));
    if (!decision.ok()) return state.SkipWithError("the rate check failed");
    benchmark::DoNotOptimize(decision->count);
  }
  backend.Report(state);
}
BENCHMARK(BM_RateCheck<Memory>);
BENCHMARK(BM_RateCheck<Live>)->UseRealTime();

template <typename Backend>
void BM_CheckBudget(benchmark::State& state) {
  Counted<Backend> backend;
  gateway::BudgetStore budget(backend.store());
  const gateway::BudgetLimits limits{.daily_usd = 1e9, .monthly_usd = 1e9};
  backend.Begin();
  for (auto _ : state) {
    const auto decision = base::Run(budget.CheckBudget(kKeyId, limits, kNow));
    if (!decision.ok()) return state.SkipWithError("the budget check failed");
    benchmark::DoNotOptimize(decision->daily_spend_usd);
  }
  backend.Report(state);
}
BENCHMARK(BM_CheckBudget<Memory>);
BENCHMARK(BM_CheckBudget<Live>)->UseRealTime();

template <typename Backend>
void BM_ReserveAndReconcile(benchmark::State& state) {
  Counted<Backend> backend;
  gateway::BudgetStore budget(backend.store());
  const gateway::BudgetRequest request{kKeyId, "req-1"};
  backend.Begin();
  for (auto _ : state) {
    const absl::Status reserved = base::Run(budget.ReserveBudget(request, 0.25, kNow));
    const absl::Status settled = base::Run(budget.ReconcileBudgetReservation(request, 0.25, kNow));
    if (!reserved.ok() || !settled.ok()) return state.SkipWithError("a write failed");
  }
  backend.Report(state);
}
BENCHMARK(BM_ReserveAndReconcile<Memory>);
BENCHMARK(BM_ReserveAndReconcile<Live>)->UseRealTime();

}  // namespace
}  // namespace redouble::inline v0_1::bench
