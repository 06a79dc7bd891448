// The orchestrator on the memory engine and on live Redis (a redis-server that this program starts,
// on a Unix socket): tokens through a full hop, single operations, and bytes per run.
//
//   bazel run --config=opt //bench:orchestrator
//
// A hop is one turn of a worker and one of a coordinator: read the token, signal, acknowledge; take
// the signal, store and emit, publish, consume, forget. Single operations run one at a time ("/1",
// one round trip each) and fifty in a pipeline ("/50"). For comparison, redis-benchmark sends the
// same command with fifty clients ("RedisBenchmark", counter per_second). The counters
// document_per_second and document_latency_ms are what the original document states for the
// operation; bench/tables/orchestrator_table.py writes both beside each other.
//
// Each call does new work: an operation, a field or a member that the run does not have yet. A run
// gets 100 of them, as a large workflow does, and the next run follows. Bytes per run are measured
// with 1,000 runs that have reached their last node, without streams.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/orchestrator/scripts/script_texts.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::bench {
namespace {

using orchestrator::Coordinator;
using orchestrator::Keys;
using orchestrator::NodeResult;
using orchestrator::Token;
using orchestrator::Worker;
using store::Command;
using Words = std::vector<std::string>;

base::Task<absl::StatusOr<store::Reply>> SendTask(store::Store& store, Words words) {
  Command command = Command::Named(words.front());
  command.AddAll(std::span<const std::string>(words).subspan(1));
  co_return co_await store.Execute(command);
}

store::Reply Send(store::Store& store, Words words) {
  store::Reply reply = ValueOrExit(base::Run(SendTask(store, std::move(words))));
  if (reply.is_error()) ExitUnlessOk(absl::InternalError(reply.DebugString()));
  return reply;
}

// A node that follows itself: each iteration of its loop is a hop.
std::string LoopIr() {
  return R"({"nodes":{"R":{"id":"R","type":"function","loop":{"enabled":true,)"
         R"("max_iterations":1000000000,"loop_back_to":"R","break_path":["E"],)"
         R"("timeout_path":["E"]}},"E":{"id":"E","type":"function"}},"entry_nodes":["R"]})";
}

template <typename Backend>
void BM_Hop(benchmark::State& state) {
  Counted<Backend> backend;
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
  ExitUnlessOk(base::Run(worker.EnsureGroup()));
  ValueOrExit(base::Run(coordinator.Start("run_1", LoopIr())));
  backend.Begin();
  for (auto _ : state) {
    ValueOrExit(base::Run(worker.Poll()));
    const auto outcome = ValueOrExit(base::Run(coordinator.Poll()));
    if (!outcome || outcome->tokens.size() != 1) return state.SkipWithError("the run stopped");
  }
  backend.Report(state);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Hop<Memory>);
BENCHMARK(BM_Hop<Live>)->UseRealTime();

// A measured operation. Scripts are called by their digest. In the words, {run} is replaced by
// the number of a run, and {n} by a number that is new in each call.
struct Row {
  const char* name;
  Words words;
  // What the original document states (docs/systems/orchestrator.md 1.4).
  int64_t document_per_second;
  int64_t document_latency_ms = 1;  // An upper bound.
};
const std::vector<Row>& Table() {
  static const std::vector<Row> kRows = {
      {"GetIr", {"GET", "ir:run_1"}, 100'000},
      {"HSet", {"HSET", "context:run_{run}", "node_{n}:output", "cas://sha256:abc"}, 80'000},
      {"IncrBy", {"INCRBY", "counter:run_{run}", "1"}, 100'000},
      {"SAdd", {"SADD", "applied:run_{run}", "consume:token_{n}"}, 100'000},
      {"ApplyDelta",
       {"EVALSHA", "", "2", "applied:run_{run}", "counter:run_{run}", "consume:token_{n}", "1"},
       80'000,
       2},
      // The same operation again: the script finds it in the applied set and changes nothing.
      {"ApplyDeltaAgain",
       {"EVALSHA", "", "2", "applied:run_1", "counter:run_1", "consume:token_2", "1"},
       80'000,
       2},
      {"XAdd",
       {"XADD", "wf.tasks.agent", "MAXLEN", "~", "10000", "*", "token", "{}", "run_id", "run_1",
        "node_id", "n"},
       50'000,
       5},
      {"RPush", {"RPUSH", "completion_signals", R"({"run_id":"run_1","node_id":"n"})"}, 100'000},
  };
  return kRows;
}

void SetDocumentCounters(benchmark::State& state, const Row& row) {
  state.counters["document_per_second"] = static_cast<double>(row.document_per_second);
  state.counters["document_latency_ms"] = static_cast<double>(row.document_latency_ms);
}

// The words of the call with this number. A run gets 100 calls.
Words WordsOf(const Words& words, int64_t call) {
  constexpr int64_t kCallsPerRun = 100;
  Words filled = words;
  for (std::string& word : filled) {
    absl::StrReplaceAll({{"{run}", absl::StrCat(call / kCallsPerRun)}, {"{n}", absl::StrCat(call)}},
                        &word);
  }
  return filled;
}

// Whether the calls of a row differ.
bool IsNewInEachCall(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("{n}") != word.npos || word.find("{run}") != word.npos;
  });
}

// A graph of 12 kB, as in a large workflow. Returns the words, with the script's digest.
Words SetUp(store::Store& store, const Row& row) {
  Send(store, {"SET", "ir:run_1", std::string(12'344, 'x')});
  Send(store, {"SET", "counter:run_1", "1"});
  const store::Reply sha =
      Send(store, {"SCRIPT", "LOAD", std::string(orchestrator::kApplyDeltaText)});
  Words words = row.words;
  if (words[0] == "EVALSHA") words[1] = sha.text();
  return words;
}

// A pipeline of calls, the first of which has the number `call`.
store::Batch BatchOf(const Words& words, int64_t call, int64_t count) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (int64_t i = 0; i < count; ++i) {
    const Words filled = WordsOf(words, call + i);
    Command command = Command::Named(filled.front());
    for (const std::string& word : std::span<const std::string>(filled).subspan(1)) {
      command.AddOwned(word);
    }
    batch.Add(std::move(command));
  }
  return batch;
}

// The texts of new calls are built between the measured times, 1,000 batches at once.
template <typename Backend>
void RunRow(benchmark::State& state, const Row& row) {
  constexpr int64_t kBatchesAtOnce = 1000;
  Backend backend;
  const Words words = SetUp(backend.store(), row);
  const bool is_new = IsNewInEachCall(words);
  std::vector<store::Batch> batches;
  int64_t call = 0;
  size_t next = 0;
  for (auto _ : state) {
    if (next == batches.size()) {
      state.PauseTiming();
      batches.clear();
      for (int64_t i = 0; i < (is_new ? kBatchesAtOnce : 1); ++i) {
        batches.push_back(BatchOf(words, call, state.range(0)));
        call += state.range(0);
      }
      next = 0;
      state.ResumeTiming();
    }
    const auto replies = ValueOrExit(base::Run(store::Execute(backend.store(), batches[next])));
    if (is_new) ++next;
    if (replies.front().is_error()) return state.SkipWithError("an operation failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  SetDocumentCounters(state, row);
}

// Runs the same command with redis-benchmark: 200,000 requests of 50 clients, with random numbers
// for {run} and {n}. The last line of its CSV output has the requests per second in the second
// column.
void RunRedisBenchmark(benchmark::State& state, const Row& row) {
  Live backend;
  const Words words = SetUp(backend.store(), row);
  std::string command = absl::StrCat("redis-benchmark --csv -n 200000 -r 1000000000 -c 50 -s ",
                                     backend.server().unix_socket());
  for (std::string word : words) {
    absl::StrReplaceAll({{"{run}", "__rand_int__"}, {"{n}", "__rand_int__"}}, &word);
    absl::StrAppend(&command, " '", word, "'");
  }
  std::string output;
  for (auto _ : state) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return state.SkipWithError("redis-benchmark cannot be started");
    char buffer[256];
    while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
    pclose(pipe);
  }
  // The command itself may contain commas; the numbers follow it.
  constexpr size_t kNumbers = 7;
  const std::vector<std::string> columns = absl::StrSplit(output, "\",\"");
  double per_second = 0;
  if (columns.size() < kNumbers + 1 ||
      !absl::SimpleAtod(columns[columns.size() - kNumbers], &per_second)) {
    return state.SkipWithError("redis-benchmark says nothing that can be read");
  }
  state.counters["per_second"] = per_second;
  SetDocumentCounters(state, row);
}

void RegisterTable() {
  for (const Row& row : Table()) {
    const std::string name = absl::StrCat("BM_", row.name);
    benchmark::RegisterBenchmark((name + "<Memory>").c_str(),
                                 [&row](benchmark::State& state) { RunRow<Memory>(state, row); })
        ->Arg(1)
        ->Arg(50);
    benchmark::RegisterBenchmark((name + "<Live>").c_str(),
                                 [&row](benchmark::State& state) { RunRow<Live>(state, row); })
        ->Arg(1)
        ->Arg(50)
        ->UseRealTime();
    benchmark::RegisterBenchmark((name + "/RedisBenchmark").c_str(),
                                 [&row](benchmark::State& s) { RunRedisBenchmark(s, row); })
        ->Iterations(1)
        ->UseRealTime();
  }
}

// A chain of `nodes` nodes with a configuration of 200 bytes each.
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

// Runs a workflow up to just before its last node.
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
  // Streams are not counted as part of a run.
  Send(store, {"DEL", "wf.tasks.function"});
}

constexpr const char* kFamilies[] = {"ir", "context", "counter", "applied"};

// The memory engine with its memory accounting, which is active if maxmemory is set: the bytes that
// a redis-server would use for the same keys.
class Accounted {
 public:
  store::Store& store() { return *session_; }
  int64_t UsedBytes() { return static_cast<int64_t>(engine_.core().memory_limit().UsedBytes()); }

 private:
  static memory::EngineOptions Options() {
    memory::EngineOptions options;
    options.maxmemory_bytes = uint64_t{1} << 40;
    return options;
  }

  base::VirtualClock clock_{kNow};
  memory::Engine engine_{clock_, Options()};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
};

// The memory engine, measured by the bytes that this process has allocated.
class Allocated : public Memory {
 public:
  int64_t UsedBytes() { return static_cast<int64_t>(mallinfo2().uordblks); }
};

class Used : public Live {
 public:
  int64_t UsedBytes() {
    const std::string info = Send(store(), {"INFO", "memory"}).text();
    const std::string name = "used_memory:";
    const size_t at = info.find(name) + name.size();
    int64_t bytes = 0;
    if (!absl::SimpleAtoi(info.substr(at, info.find('\r', at) - at), &bytes)) {
      ExitUnlessOk(absl::InternalError("INFO memory has no used_memory"));
    }
    return bytes;
  }
};

// 1,000 unfinished runs in the same state as the first; for the first also MEMORY USAGE by key.
template <typename Backend>
void BM_BytesOfActiveRuns(benchmark::State& state) {
  constexpr int kRuns = 1000;
  Backend backend;
  store::Store& store = backend.store();
  Fill(store, "warm_up", 5);
  for (const char* family : kFamilies) Send(store, {"DEL", absl::StrCat(family, ":warm_up")});
  const int64_t before = backend.UsedBytes();
  for (auto _ : state) {
    Fill(store, "run_0", state.range(0));
    for (int i = 1; i < kRuns; ++i) {
      for (const char* family : kFamilies) {
        Send(store, {"COPY", absl::StrCat(family, ":run_0"), absl::StrCat(family, ":run_", i)});
      }
    }
  }
  state.counters["per_run"] = static_cast<double>(backend.UsedBytes() - before) / kRuns;
  for (const char* family : kFamilies) {
    const store::Reply bytes =
        Send(store, {"MEMORY", "USAGE", absl::StrCat(family, ":run_1"), "SAMPLES", "0"});
    state.counters[family] = static_cast<double>(bytes.integer());
  }
}
BENCHMARK(BM_BytesOfActiveRuns<Accounted>)->Arg(5)->Arg(20)->Arg(50)->Arg(100)->Iterations(1);
BENCHMARK(BM_BytesOfActiveRuns<Allocated>)->Arg(5)->Arg(20)->Arg(50)->Arg(100)->Iterations(1);
BENCHMARK(BM_BytesOfActiveRuns<Used>)->Arg(5)->Arg(20)->Arg(50)->Arg(100)->Iterations(1);

}  // namespace
}  // namespace redouble::inline v0_1::bench

int main(int argc, char** argv) {
  redouble::bench::RegisterTable();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
