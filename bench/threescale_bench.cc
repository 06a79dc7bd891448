// 3scale's authrep on the memory engine and on live Redis (a redis-server of this program's own, on
// a Unix socket), with 1, 10 and 100 metrics that have a limit each and a usage of all of them.
//
//   bazel run --config=opt //bench:threescale
//
// The counters beside the times are those of one operation: how many commands it sent, and in how
// many round trips. Jobs that an authrep enqueues are taken, not run: that is the reports' part.
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
#include "core/threescale/listener.h"
#include "core/threescale/metric.h"
#include "core/threescale/service.h"
#include "core/threescale/usage_limit.h"

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
class CountingStore final : public store::ForwardingStore {
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

// Service 2, application a1, and the metrics m1, m2, ... with a limit each that nobody reaches.
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
  Backend backend;
  base::VirtualClock clock(kNow);
  CountingStore store(backend.store());
  Process process(store, clock);
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
  store.round_trips = store.commands = 0;
  for (auto _ : state) {
    const auto answer = base::Run(listener.Handle(Endpoint::kAuthrep, request, "{}"));
    if (!answer.ok() || !answer->authorized()) return state.SkipWithError("it was rejected");
    benchmark::DoNotOptimize(queue.Pop());
  }
  using benchmark::Counter;
  state.counters["round_trips"] =
      Counter(static_cast<double>(store.round_trips), Counter::kAvgIterations);
  state.counters["commands"] =
      Counter(static_cast<double>(store.commands), Counter::kAvgIterations);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Authrep<Memory, Mode::kDefault>)->Arg(1)->Arg(10)->Arg(100);
BENCHMARK(BM_Authrep<Memory, Mode::kMemoized>)->Arg(1)->Arg(10)->Arg(100);
BENCHMARK(BM_Authrep<Memory, Mode::kAtomic>)->Arg(1)->Arg(10)->Arg(100);
BENCHMARK(BM_Authrep<Live, Mode::kDefault>)->Arg(1)->Arg(10)->Arg(100)->UseRealTime();
BENCHMARK(BM_Authrep<Live, Mode::kMemoized>)->Arg(1)->Arg(10)->Arg(100)->UseRealTime();
BENCHMARK(BM_Authrep<Live, Mode::kAtomic>)->Arg(1)->Arg(10)->Arg(100)->UseRealTime();

}  // namespace
}  // namespace redouble::threescale
