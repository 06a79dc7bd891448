// The orchestrator on the memory engine and on live Redis (a redis-server of this program's own, on
// a Unix socket): tokens through a full hop, the seed's table of operations, and bytes per run.
//
//   bazel run --config=opt //bench:orchestrator
//
// A hop is one worker's turn and one coordinator's: read the token, signal, acknowledge; take the
// signal, store and emit, publish, consume, forget. Operations of the table run one at a time
// ("/1", a round trip each) and fifty in a pipeline ("/50", beside redis-benchmark -c 50).
#include <malloc.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bench/support.h"
#include "benchmark/benchmark.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/orchestrator/coordinator.h"
#include "core/orchestrator/script_texts.h"
#include "core/orchestrator/worker.h"
#include "core/store/batch.h"
#include "core/store/command.h"

namespace redouble::bench {
namespace {

using orchestrator::Coordinator;
using orchestrator::Keys;
using orchestrator::NodeResult;
using orchestrator::Token;
using orchestrator::Worker;
using store::Command;
using store::CommandId;

base::Task<absl::StatusOr<store::Reply>> SendTask(store::Store& store,
                                                  std::vector<std::string> words) {
  Command command = Command::Named(words.front());
  command.AddAll(std::span<const std::string>(words).subspan(1));
  co_return co_await store.Execute(command);
}

store::Reply Send(store::Store& store, std::vector<std::string> words) {
  return ValueOrExit(base::Run(SendTask(store, std::move(words))));
}

// A node that follows itself: each iteration of its loop is a hop.
std::string LoopIr() {
  return R"({"nodes":{"R":{"id":"R","type":"function","loop":{"enabled":true,)"
         R"("max_iterations":1000000000,"loop_back_to":"R","break_path":[],"timeout_path":[]}}}})";
}

template <typename Backend>
void BM_Hop(benchmark::State& state) {
  Backend backend;
  base::VirtualClock clock(kNow);
  Coordinator coordinator(backend.store(), clock, Keys());
  orchestrator::WorkerOptions options;
  options.block = std::nullopt;
  options.delete_acknowledged = true;
  Worker worker(backend.store(), clock, Keys(), options,
                [](const Token&) -> base::Task<absl::StatusOr<NodeResult>> {
                  NodeResult result;
                  result.ref = "cas://sha256:abc";
                  co_return result;
                });
  ValueOrExit(base::Run(coordinator.Start("run_1", LoopIr())));
  for (auto _ : state) {
    ValueOrExit(base::Run(worker.Poll()));
    const auto outcome = ValueOrExit(base::Run(coordinator.Poll()));
    if (!outcome || outcome->tokens.size() != 1) return state.SkipWithError("the run stopped");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Hop<Memory>);
BENCHMARK(BM_Hop<Live>)->UseRealTime();

// One operation of the seed's table, `state.range(0)` at a time.
template <typename Backend>
void Repeat(benchmark::State& state, const std::vector<std::string>& words) {
  Backend backend;
  // A graph of the size that the reference measured: 12 kB.
  Send(backend.store(), {"SET", "ir:run_1", std::string(12'344, 'x')});
  Send(backend.store(), {"SET", "counter:run_1", "1"});
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (int64_t i = 0; i < state.range(0); ++i) {
    Command command = Command::Named(words.front());
    command.AddAll(std::span<const std::string>(words).subspan(1));
    batch.Add(std::move(command));
  }
  for (auto _ : state) {
    const auto replies = ValueOrExit(base::Run(store::Execute(backend.store(), batch)));
    if (replies.front().is_error()) return state.SkipWithError("an operation failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <typename Backend>
void BM_GetIr(benchmark::State& state) {
  Repeat<Backend>(state, {"GET", "ir:run_1"});
}
template <typename Backend>
void BM_HSet(benchmark::State& state) {
  Repeat<Backend>(state, {"HSET", "context:run_1", "node:output", "cas://sha256:abc"});
}
template <typename Backend>
void BM_IncrBy(benchmark::State& state) {
  Repeat<Backend>(state, {"INCRBY", "counter:run_1", "1"});
}
template <typename Backend>
void BM_SAdd(benchmark::State& state) {
  Repeat<Backend>(state, {"SADD", "applied:run_1", "consume:token_1"});
}
template <typename Backend>
void BM_ApplyDelta(benchmark::State& state) {
  Repeat<Backend>(state, {"EVAL", std::string(orchestrator::kApplyDeltaText), "2", "applied:run_1",
                          "counter:run_1", "consume:token_1", "-1"});
}
template <typename Backend>
void BM_XAdd(benchmark::State& state) {
  Repeat<Backend>(state, {"XADD", "wf.tasks.agent", "MAXLEN", "~", "10000", "*", "token", "{}",
                          "run_id", "run_1", "node_id", "n"});
}
template <typename Backend>
void BM_RPush(benchmark::State& state) {
  Repeat<Backend>(state, {"RPUSH", "completion_signals", R"({"run_id":"run_1","node_id":"n"})"});
}

#define REDOUBLE_TABLE_ROW(name)            \
  BENCHMARK(name<Memory>)->Arg(1)->Arg(50); \
  BENCHMARK(name<Live>)->Arg(1)->Arg(50)->UseRealTime()
REDOUBLE_TABLE_ROW(BM_GetIr);
REDOUBLE_TABLE_ROW(BM_HSet);
REDOUBLE_TABLE_ROW(BM_IncrBy);
REDOUBLE_TABLE_ROW(BM_SAdd);
REDOUBLE_TABLE_ROW(BM_ApplyDelta);
REDOUBLE_TABLE_ROW(BM_XAdd);
REDOUBLE_TABLE_ROW(BM_RPush);

// A chain of `nodes` with a configuration of 200 bytes each, run to just before its end.
std::string ChainIr(int64_t nodes) {
  std::string text = R"({"version":"1.0","nodes":{)";
  for (int64_t i = 0; i < nodes; ++i) {
    const std::string next = i + 1 < nodes ? absl::StrCat("\"node_", i + 1, "\"") : "";
    absl::StrAppend(&text, i == 0 ? "" : ",", "\"node_", i, "\":{\"id\":\"node_", i,
                    "\",\"type\":\"function\",\"config\":{\"payload\":\"", std::string(200, 'p'),
                    "\"},\"dependents\":[", next, "]}");
  }
  return text + "}}";
}

void Fill(store::Store& store, const std::string& run_id, int64_t nodes) {
  base::VirtualClock clock(kNow);
  Coordinator coordinator(store, clock, Keys());
  ValueOrExit(base::Run(coordinator.Start(run_id, ChainIr(nodes))));
  std::string job =
      orchestrator::ChildTokenId(orchestrator::TokenIdForm::kHashed, {run_id, "node_0"}, {});
  for (int64_t i = 0; i + 1 < nodes; ++i) {
    orchestrator::CompletionSignal signal;
    signal.job_id = job;
    signal.run_id = run_id;
    signal.node_id = absl::StrCat("node_", i);
    signal.result_ref = "cas://sha256:" + std::string(64, 'a');
    const auto outcome = ValueOrExit(
        base::Run(coordinator.ProcessSignal(ValueOrExit(orchestrator::FormatSignal(signal)))));
    job = outcome.tokens.front();
  }
}

// MEMORY USAGE of a run's four keys, as both servers count.
template <typename Backend>
void BM_BytesPerRun(benchmark::State& state) {
  Backend backend;
  for (auto _ : state) Fill(backend.store(), "run_1", state.range(0));
  for (const char* family : {"ir", "context", "counter", "applied"}) {
    const store::Reply bytes =
        Send(backend.store(), {"MEMORY", "USAGE", absl::StrCat(family, ":run_1"), "SAMPLES", "0"});
    if (bytes.is_integer()) state.counters[family] = static_cast<double>(bytes.integer());
  }
}
BENCHMARK(BM_BytesPerRun<Memory>)->Arg(5)->Arg(20)->Arg(50)->Arg(100)->Iterations(1);
BENCHMARK(BM_BytesPerRun<Live>)->Arg(5)->Arg(20)->Arg(50)->Arg(100)->Iterations(1);

// What the server says it uses; of the engine, what this process has allocated.
int64_t UsedBytes(Memory&) { return static_cast<int64_t>(mallinfo2().uordblks); }
int64_t UsedBytes(Live& live) {
  const std::string info = Send(live.store(), {"INFO", "memory"}).text();
  const size_t at = info.find("used_memory:") + std::string("used_memory:").size();
  int64_t bytes = 0;
  if (!absl::SimpleAtoi(info.substr(at, info.find('\r', at) - at), &bytes)) std::exit(1);
  return bytes;
}

// 1,000 active runs of 20 nodes.
template <typename Backend>
void BM_ActiveRuns(benchmark::State& state) {
  constexpr int kRuns = 1000;
  Backend backend;
  const int64_t before = UsedBytes(backend);
  for (auto _ : state) {
    for (int i = 0; i < kRuns; ++i) Fill(backend.store(), absl::StrCat("run_", i), 20);
  }
  // The streams are no part of a run.
  Send(backend.store(), {"DEL", "wf.tasks.function"});
  state.counters["bytes_per_run"] = static_cast<double>(UsedBytes(backend) - before) / kRuns;
  state.SetItemsProcessed(kRuns * 19);
}
BENCHMARK(BM_ActiveRuns<Memory>)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ActiveRuns<Live>)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace redouble::bench
