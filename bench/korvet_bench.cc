// Korvet on the memory engine and on live Redis (a redis-server that this program starts, on a Unix
// socket), beside redis-benchmark's XADD on such a server.
//
//   bazel run --config=opt //bench:korvet
//
// Items are records: produced in batches to one partition, fetched by offset, and consumed in a
// group (XREADGROUP, then XACK). The two arguments are the records of a batch and the bytes of a
// value.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"

namespace redouble::inline v0_1::bench {
namespace {

// The log is recreated after this many records, so that memory stays bounded.
constexpr int64_t kLogRecords = 20'000;

// A topic with one partition, and records for it.
template <typename Backend>
class TopicBench {
 public:
  explicit TopicBench(const benchmark::State& state)
      : records_(static_cast<size_t>(state.range(0))) {
    for (korvet::NewRecord& record : records_) {
      record.value = std::string(static_cast<size_t>(state.range(1)), 'v');
      record.timestamp_ms = 1;
    }
    Renew();
  }
  ~TopicBench() { base::Run(korvet::Topics(store(), rng_, keys_).Delete("bench")).IgnoreError(); }

  store::Store& store() { return backend_.store(); }
  Counted<Backend>& backend() { return backend_; }
  base::Clock& clock() { return clock_; }
  const korvet::Keys& keys() const { return keys_; }
  const korvet::Topic& topic() const { return topic_; }

  // Deletes the topic and creates it again, without records.
  void Renew() {
    korvet::Topics topics(store(), rng_, keys_);
    base::Run(topics.Delete("bench")).IgnoreError();
    const std::vector<korvet::ConfigEntry> config = {{"valueType", "BYTES"}};
    korvet::NewTopic request;
    request.name = "bench";
    request.config = config;
    topic_ = ValueOrExit(base::Run(topics.Create(request)));
    producer_.emplace(store(), clock_, keys_, topic_);
    length_ = 0;
  }
  bool Produce() {
    length_ += static_cast<int64_t>(records_.size());
    return base::Run(producer_->Append(0, records_)).ok();
  }
  int64_t length() const { return length_; }

 private:
  Counted<Backend> backend_;
  base::VirtualClock clock_;
  base::Rng rng_{1};
  const korvet::Keys keys_ = ValueOrExit(korvet::Keys::Create());
  std::vector<korvet::NewRecord> records_;
  korvet::Topic topic_;
  std::optional<korvet::Producer> producer_;
  int64_t length_ = 0;
};

template <typename Backend>
void BM_Produce(benchmark::State& state) {
  TopicBench<Backend> bench(state);
  bench.backend().Begin();
  for (auto _ : state) {
    if (!bench.Produce()) return state.SkipWithError("a produce failed");
    if (bench.length() < kLogRecords) continue;
    bench.backend().Pause(state);
    bench.Renew();
    bench.backend().Resume(state);
  }
  bench.backend().Report(state);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <typename Backend>
void BM_Fetch(benchmark::State& state) {
  TopicBench<Backend> bench(state);
  while (bench.length() < kLogRecords / 10) bench.Produce();
  korvet::Log log(bench.store(), bench.clock(), bench.keys(), bench.topic());
  korvet::FetchPosition position;
  korvet::FetchRequest request;
  request.positions = std::span(&position, 1);
  request.max_records = state.range(0);
  position.max_bytes = request.max_bytes;
  int64_t records = 0;
  bench.backend().Begin();
  for (auto _ : state) {
    const auto fetched = base::Run(log.Fetch(request));
    if (!fetched.ok() || !fetched->front().status.ok()) return state.SkipWithError("no records");
    records += static_cast<int64_t>(fetched->front().records.size());
    position.offset = fetched->front().records.empty() ? 0 : fetched->front().next_offset;
  }
  bench.backend().Report(state);
  state.SetItemsProcessed(records);
}

template <typename Backend>
void BM_ConsumeInAGroup(benchmark::State& state) {
  TopicBench<Backend> bench(state);
  std::optional<korvet::ConsumerGroup> group;
  group.emplace(bench.store(), bench.keys(), bench.topic(), "group");
  const std::array<int32_t, 1> partitions = {0};
  korvet::PollRequest request;
  request.member = "member";
  request.partitions = partitions;
  request.max_records = state.range(0);
  bench.backend().Begin();
  for (auto _ : state) {
    bench.backend().Pause(state);
    if (bench.length() >= kLogRecords) {
      bench.Renew();
      group.emplace(bench.store(), bench.keys(), bench.topic(), "group");
    }
    const bool produced = bench.Produce();
    bench.backend().Resume(state);
    const auto records = base::Run(group->Poll(request));
    if (!produced || !records.ok() || records->empty()) return state.SkipWithError("no records");
    std::vector<int64_t> offsets;
    for (const korvet::LogRecord& record : *records) offsets.push_back(record.offset);
    const auto acknowledged = base::Run(group->Acknowledge(0, offsets));
    if (!acknowledged.ok()) return state.SkipWithError("an acknowledgement failed");
  }
  bench.backend().Report(state);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// redis-benchmark's XADD of one field over one connection, with the given pipeline depth.
void BM_RedisBenchmarkXAdd(benchmark::State& state) {
  const Live live;
  const std::string command =
      "redis-benchmark -s " + live.server().unix_socket() + " -c 1 -n 20000 --csv -P " +
      std::to_string(state.range(0)) + " XADD benchmark MAXLEN '~' 20000 '*' value " +
      std::string(static_cast<size_t>(state.range(1)), 'v') + " 2>/dev/null | tail -n 1";
  double per_second = 0;
  for (auto _ : state) {
    std::FILE* output = popen(command.c_str(), "r");
    if (output == nullptr) return state.SkipWithError("redis-benchmark cannot be run");
    std::string line;
    for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
      line += static_cast<char>(c);
    }
    pclose(output);
    // "name","requests per second",...; the name contains no comma.
    const size_t comma = line.find("\",\"");
    if (comma == std::string::npos) return state.SkipWithError("redis-benchmark said nothing");
    per_second = std::strtod(line.c_str() + comma + 3, nullptr);
  }
  state.counters["records_per_second"] = per_second;
}

const std::vector<std::vector<int64_t>> kSizes = {{1, 100, 1000}, {100, 1024}};

BENCHMARK(BM_Produce<Memory>)->ArgNames({"records", "bytes"})->ArgsProduct(kSizes);
BENCHMARK(BM_Produce<Live>)->ArgNames({"records", "bytes"})->ArgsProduct(kSizes)->UseRealTime();
BENCHMARK(BM_RedisBenchmarkXAdd)
    ->ArgNames({"records", "bytes"})
    ->ArgsProduct(kSizes)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK(BM_Fetch<Memory>)->ArgNames({"records", "bytes"})->ArgsProduct(kSizes);
BENCHMARK(BM_Fetch<Live>)->ArgNames({"records", "bytes"})->ArgsProduct(kSizes)->UseRealTime();
BENCHMARK(BM_ConsumeInAGroup<Memory>)->ArgNames({"records", "bytes"})->ArgsProduct(kSizes);
BENCHMARK(BM_ConsumeInAGroup<Live>)
    ->ArgNames({"records", "bytes"})
    ->ArgsProduct(kSizes)
    ->UseRealTime();

}  // namespace
}  // namespace redouble::inline v0_1::bench
