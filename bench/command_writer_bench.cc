// The cost of writing one command, compared with hiredis's formatter.
//
//   bazel run --config=opt //bench:command_writer
#include <benchmark/benchmark.h>
#include <hiredis/hiredis.h>

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::redis {
namespace {

constexpr std::string_view kKey = "gateway:rate:tenant-42:2026-05-09T23:59";
constexpr std::string_view kValue = "0.000125";
constexpr size_t kBufferBytes = 64 * 1024;

void BM_AppendCommand(benchmark::State& state) {
  // On the heap: g++ 12 with sanitizers warns of uninitialized members otherwise.
  const auto command = std::make_unique<store::Command>(
      store::CommandId::kSet, std::initializer_list<std::string_view>{kKey, kValue});
  std::string out;
  for (auto _ : state) {
    if (out.size() > kBufferBytes) out.clear();
    AppendCommand(*command, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_AppendCommand);

void BM_HiredisFormatCommandArgv(benchmark::State& state) {
  std::array<const char*, 3> words = {"set", kKey.data(), kValue.data()};
  const std::array<size_t, 3> sizes = {3, kKey.size(), kValue.size()};
  std::string out;
  for (auto _ : state) {
    if (out.size() > kBufferBytes) out.clear();
    char* text = nullptr;
    const int size = redisFormatCommandArgv(&text, 3, words.data(), sizes.data());
    out.append(text, size);
    redisFreeCommand(text);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_HiredisFormatCommandArgv);

}  // namespace
}  // namespace redouble::inline v0_1::redis
