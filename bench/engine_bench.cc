// The memory engine through the typed API beside a raw hash map.
//
//   bazel run --config=opt //bench:engine
//
// Compare within one run: GET and INCR with find and copy in the map, on the same number of keys.
// "allocations" are those of one call. The values are too long for the string itself, so that
// copying one to the caller is one allocation.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/bench/allocations.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble {
namespace {

// Reports the allocations of the benchmark's loop, by call.
class CountAllocations {
 public:
  explicit CountAllocations(benchmark::State& state)
      : state_(state), before_(bench::Allocations()) {}
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;
  ~CountAllocations() {
    state_.counters["allocations"] = benchmark::Counter(
        static_cast<double>(bench::Allocations() - before_), benchmark::Counter::kAvgIterations);
  }

 private:
  benchmark::State& state_;
  const int64_t before_;
};

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
}

std::vector<std::string> MakeKeys(int64_t count) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (int64_t i = 0; i < count; ++i) keys.push_back(absl::StrCat("key:", i));
  return keys;
}

void BM_RawMapFindAndCopy(benchmark::State& state) {
  const std::vector<std::string> keys = MakeKeys(state.range(0));
  absl::flat_hash_map<std::string, std::string> map;
  for (const std::string& key : keys) map[key] = "value:0123456789";
  size_t next = 0;
  const CountAllocations count(state);
  for (auto _ : state) {
    const auto found = map.find(keys[next]);
    std::optional<std::string> value = found->second;
    benchmark::DoNotOptimize(value);
    if (++next == keys.size()) next = 0;
  }
}
BENCHMARK(BM_RawMapFindAndCopy)->Apply(Sizes);

class EngineFixture {
 public:
  explicit EngineFixture(const benchmark::State& state) : keys(MakeKeys(state.range(0))) {}
  const std::string& NextKey() {
    const std::string& key = keys[next_];
    if (++next_ == keys.size()) next_ = 0;
    return key;
  }
  std::vector<std::string> keys;
  base::VirtualClock clock;
  memory::Engine engine{clock};
  std::unique_ptr<memory::Session> session = engine.Connect();

 private:
  size_t next_ = 0;
};

void BM_Get(benchmark::State& state) {
  EngineFixture fixture(state);
  for (const std::string& key : fixture.keys) {
    benchmark::DoNotOptimize(base::Run(store::Set(*fixture.session, key, "value:0123456789")));
  }
  const CountAllocations count(state);
  for (auto _ : state) {
    const auto value = base::Run(store::Get(*fixture.session, fixture.NextKey()));
    if (!value.ok() || !*value) return state.SkipWithError("no value");
    benchmark::DoNotOptimize((*value)->data());
  }
}
BENCHMARK(BM_Get)->Apply(Sizes);

void BM_Incr(benchmark::State& state) {
  EngineFixture fixture(state);
  const CountAllocations count(state);
  for (auto _ : state) {
    const auto value = base::Run(store::Incr(*fixture.session, fixture.NextKey()));
    if (!value.ok()) return state.SkipWithError("no integer");
    benchmark::DoNotOptimize(*value);
  }
}
BENCHMARK(BM_Incr)->Apply(Sizes);

void BM_Set(benchmark::State& state) {
  EngineFixture fixture(state);
  const CountAllocations count(state);
  for (auto _ : state) {
    const auto set = base::Run(store::Set(*fixture.session, fixture.NextKey(), "value:0123456789"));
    if (!set.ok()) return state.SkipWithError("not set");
    benchmark::DoNotOptimize(*set);
  }
}
BENCHMARK(BM_Set)->Apply(Sizes);

}  // namespace
}  // namespace redouble
