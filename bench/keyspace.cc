#include "redouble/bench/keyspace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCallsPerBatch = 64;
constexpr int kBatches = 9;
constexpr auto kPatience = std::chrono::milliseconds(100);
// The kinds of keys in a keyspace, which has the same number of each.
constexpr std::string_view kKinds = "sibplhtzxg";

std::string KeyName(char kind, int64_t number) {
  return absl::StrCat("key:", std::string(1, kind), ":", number);
}

store::Command CommandOf(const Words& words) {
  store::Command command = store::Command::Named(words[0]);
  command.AddAll(std::span<const std::string>(words).subspan(1));
  return command;
}

base::Task<absl::StatusOr<store::Reply>> CallTask(store::Store& store, const Words& words) {
  const store::Command command = CommandOf(words);
  co_return co_await store.Execute(command);
}

void Send(store::Store& store, const std::vector<Words>& calls) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const Words& call : calls) batch.Add(CommandOf(call));
  if (!base::Run(store::Execute(store, batch)).ok()) std::abort();
}

// Appends the commands that create key number `i` of each kind.
void AppendCalls(int64_t i, std::vector<Words>& calls) {
  calls.push_back({"SET", KeyName('s', i), absl::StrCat("value ", i)});
  calls.push_back({"SET", KeyName('i', i), absl::StrCat(i)});
  calls.push_back({"SET", KeyName('b', i), "bits of a text"});
  calls.push_back({"PFADD", KeyName('p', i), "a", "b", "c"});
  calls.push_back({"RPUSH", KeyName('l', i), "a", "b", "c", "d", "e"});
  calls.push_back(
      {"HSET", KeyName('h', i), "f1", "v1", "f2", "v2", "f3", "v3", "n", "1", "d", "1.5"});
  calls.push_back({"SADD", KeyName('t', i), "m1", "m2", "m3", "m4", absl::StrCat("x", i)});
  calls.push_back({"ZADD", KeyName('z', i), "1", "m1", "2", "m2", "3", "m3", "4", "m4"});
  calls.push_back({"XADD", KeyName('x', i), "1-1", "f", "v"});
  calls.push_back({"XADD", KeyName('x', i), "1-2", "f", "v"});
  calls.push_back({"XGROUP", "CREATE", KeyName('x', i), "g", "0"});
  calls.push_back(
      {"XREADGROUP", "GROUP", "g", "c1", "COUNT", "1", "STREAMS", KeyName('x', i), ">"});
  calls.push_back({"GEOADD", KeyName('g', i), "13.361389", "38.115556", "Palermo", "15.087269",
                   "37.502669", "Catania"});
}

}  // namespace

void Call(store::Store& store, const Words& words) {
  const auto reply = base::Run(CallTask(store, words));
  if (reply.ok()) return;
  std::fprintf(stderr, "%s: %s\n", words[0].c_str(), std::string(reply.status().message()).c_str());
  std::exit(1);
}

void LoadKeyspace(store::Store& store, int64_t keys) {
  constexpr size_t kCallsPerSend = 1000;
  std::vector<Words> calls;
  for (int64_t i = 0; i < keys / static_cast<int64_t>(kKinds.size()); ++i) {
    AppendCalls(i, calls);
    if (calls.size() > kCallsPerSend) Send(store, std::exchange(calls, {}));
  }
  Send(store, calls);
}

Names::Names(int64_t keys, uint64_t seed)
    : per_kind_(keys / static_cast<int64_t>(kKinds.size())), rng_(seed) {}

void Names::Next() {
  number_ = static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(per_kind_)));
  ++calls_;
}

std::string Names::Key(char kind, bool is_second) const {
  return KeyName(kind, is_second ? (number_ + 1) % per_kind_ : number_);
}

std::string Names::NewKey() const { return absl::StrCat("new:", calls_); }

Words Names::FillIn(std::string_view line) const {
  std::string text(line);
  for (const char kind : kKinds) {
    const std::string letter(1, kind);
    text = absl::StrReplaceAll(text, {{absl::StrCat("{", letter, "}"), Key(kind)},
                                      {absl::StrCat("{", letter, "2}"), Key(kind, true)}});
  }
  text = absl::StrReplaceAll(text, {{"{n}", NewKey()}, {"{u}", absl::StrCat(calls_)}});
  return absl::StrSplit(text, ' ');
}

std::vector<Words> Names::FillInAll(std::string_view lines) const {
  std::vector<Words> commands;
  for (const absl::string_view line : absl::StrSplit(base::ToAbsl(lines), ';', absl::SkipEmpty())) {
    commands.push_back(FillIn(base::ToStd(line)));
  }
  return commands;
}

double MedianNanoseconds(const std::function<void()>& prepare, const std::function<void()>& call,
                         const std::function<void()>& finish) {
  std::vector<double> batches;
  const Clock::time_point begin = Clock::now();
  while (batches.size() < kBatches && (batches.empty() || Clock::now() - begin < kPatience)) {
    double nanoseconds = 0;
    int calls = 0;
    while (calls < kCallsPerBatch && (calls == 0 || Clock::now() - begin < kPatience)) {
      prepare();
      const Clock::time_point start = Clock::now();
      call();
      nanoseconds += std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      ++calls;
      finish();
    }
    batches.push_back(nanoseconds / calls);
  }
  std::nth_element(batches.begin(), batches.begin() + batches.size() / 2, batches.end());
  return batches[batches.size() / 2];
}

}  // namespace redouble::inline v0_1::bench
