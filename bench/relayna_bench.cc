// Relayna's stores on the memory engine and on live Redis (a redis-server that this program starts,
// on a Unix socket). The columns `round_trips` and `commands` are those of one operation.
//
//   bazel run --config=opt //bench:relayna
#include <cstdint>
#include <string>

#include "benchmark/benchmark.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/relayna/workflow_contract_store.h"

namespace redouble::inline v0_1::bench {
namespace {

using python::Object;
using python::Value;

// A status event with ten members, one of which is a child.
Value EventOf(int64_t number) {
  return Object({{"task_id", "task-" + std::to_string(number % 100)},
                 {"status", "running"},
                 {"event_id", "event-" + std::to_string(number)},
                 {"timestamp", "2026-01-01T12:00:00Z"},
                 {"correlation_id", "correlation-1"},
                 {"stage", "ocr"},
                 {"attempt", number},
                 {"progress", 0.25},
                 {"message", "page 3 of 12"},
                 {"meta", Object({{"parent_task_id", "parent-1"}})}});
}

enum Shape { kDefault, kWithFeed, kAtomic, kNewestFirst };
constexpr const char* kShapes[] = {"default", "with a feed", "atomic", "newest first"};

template <typename Backend>
void BM_SetHistory(benchmark::State& state) {
  Counted<Backend> backend;
  relayna::ServiceEventFeed feed(backend.store());
  relayna::StatusOptions options;
  const auto shape = static_cast<Shape>(state.range(0));
  if (shape == kWithFeed) options.feed = &feed;
  options.hardening.atomic_events = shape == kAtomic;
  options.hardening.newest_first = shape == kNewestFirst;
  relayna::StatusStore statuses(backend.store(), options);
  int64_t number = 0;
  backend.Begin();
  for (auto _ : state) {
    const Value event = EventOf(++number);
    if (!base::Run(statuses.SetHistory(*event.Find("task_id")->text(), event)).ok()) {
      return state.SkipWithError("set_history failed");
    }
  }
  backend.Report(state);
  state.SetLabel(kShapes[shape]);
}
BENCHMARK(BM_SetHistory<Memory>)->ArgName("shape")->DenseRange(kDefault, kNewestFirst);
BENCHMARK(BM_SetHistory<Live>)->ArgName("shape")->DenseRange(kDefault, kNewestFirst)->UseRealTime();

template <typename Backend>
void BM_SetHistoryDuplicate(benchmark::State& state) {
  Counted<Backend> backend;
  relayna::StatusStore statuses(backend.store());
  const Value event = EventOf(1);
  backend.Begin();
  for (auto _ : state) {
    if (!base::Run(statuses.SetHistory("task-1", event)).ok()) {
      return state.SkipWithError("set_history failed");
    }
  }
  backend.Report(state);
}
BENCHMARK(BM_SetHistoryDuplicate<Memory>);
BENCHMARK(BM_SetHistoryDuplicate<Live>)->UseRealTime();

template <typename Backend>
void BM_GetHistory(benchmark::State& state) {
  Counted<Backend> backend;
  relayna::StatusStore statuses(backend.store());
  for (int64_t i = 0; i < 50; ++i) (void)base::Run(statuses.SetHistory("task-1", EventOf(i)));
  backend.Begin();
  for (auto _ : state) {
    const auto history = base::Run(statuses.GetHistory("task-1"));
    if (!history.ok()) return state.SkipWithError("get_history failed");
    benchmark::DoNotOptimize(history->size());
  }
  backend.Report(state);
}
BENCHMARK(BM_GetHistory<Memory>);
BENCHMARK(BM_GetHistory<Live>)->UseRealTime();

// A page of 100 from a feed of the given size: the whole feed is read and parsed.
template <typename Backend>
void BM_FeedPage(benchmark::State& state) {
  Counted<Backend> backend;
  relayna::ServiceEventFeed feed(backend.store());
  for (int64_t i = 0; i < state.range(0); ++i) (void)base::Run(feed.AddStatusEvent(EventOf(i)));
  backend.Begin();
  for (auto _ : state) {
    const auto page = base::Run(feed.GetFeed({.limit = 100}));
    if (!page.ok()) return state.SkipWithError("get_feed failed");
    benchmark::DoNotOptimize(page->items.size());
  }
  backend.Report(state);
}
BENCHMARK(BM_FeedPage<Memory>)->ArgName("items")->Arg(100)->Arg(5000);
BENCHMARK(BM_FeedPage<Live>)->ArgName("items")->Arg(100)->Arg(5000)->UseRealTime();

// A page of 50 from a list of 1,000.
template <typename Backend>
void BM_DlqPage(benchmark::State& state) {
  Counted<Backend> backend;
  relayna::DlqStore dlq(backend.store());
  for (int i = 0; i < 1000; ++i) {
    relayna::DlqRecord record;
    record.dlq_id = std::to_string(i);
    record.queue_name = "q.dlq";
    record.dead_lettered_at = kNow;
    record.SetBody(R"({"task_id": "task-1", "payload": {"document": "D1"}})");
    (void)base::Run(dlq.Add(record));
  }
  backend.Begin();
  for (auto _ : state) {
    const auto page = base::Run(dlq.ListRecords());
    if (!page.ok()) return state.SkipWithError("list_records failed");
    benchmark::DoNotOptimize(page->records.size());
  }
  backend.Report(state);
}
BENCHMARK(BM_DlqPage<Memory>);
BENCHMARK(BM_DlqPage<Live>)->UseRealTime();

// Acquire, mark, clear, release; with an owner token if the argument is 1.
template <typename Backend>
void BM_WorkflowContract(benchmark::State& state) {
  Counted<Backend> backend;
  relayna::WorkflowContractStore contracts(
      backend.store(), {.hardening = {.owner_token = state.range(0) == 1 ? "worker-1" : ""}});
  const relayna::WorkflowContract contract = {.stage = "ocr",
                                              .task_id = "task-1",
                                              .action = "extract",
                                              .payload = Object({{"doc", "D1"}, {"page", 2}}),
                                              .dedup_key_fields = {"doc", "page"}};
  backend.Begin();
  for (auto _ : state) {
    const auto acquired = base::Run(contracts.AcquireDedup(contract));
    if (!acquired.ok() || !*acquired) return state.SkipWithError("the marker was not free");
    (void)base::Run(contracts.MarkInflight(contract));
    (void)base::Run(contracts.ClearInflight(contract));
    (void)base::Run(contracts.ReleaseDedup(contract));
  }
  backend.Report(state);
  state.SetLabel(state.range(0) == 1 ? "with an owner token" : "default");
}
BENCHMARK(BM_WorkflowContract<Memory>)->ArgName("owner")->Arg(0)->Arg(1);
BENCHMARK(BM_WorkflowContract<Live>)->ArgName("owner")->Arg(0)->Arg(1)->UseRealTime();

void BM_PyJson(benchmark::State& state) {
  const Value event = EventOf(7);
  for (auto _ : state) benchmark::DoNotOptimize(python::PyJson(event));
}
BENCHMARK(BM_PyJson);

void BM_ParseJson(benchmark::State& state) {
  const std::string text = *python::PyJson(EventOf(7));
  for (auto _ : state) benchmark::DoNotOptimize(python::ParseJson(text));
}
BENCHMARK(BM_ParseJson);

}  // namespace
}  // namespace redouble::inline v0_1::bench
