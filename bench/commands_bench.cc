// Every command of the table: what one call costs on the memory engine, and on a redis-server over
// a Unix socket in the same run, with few keys and with many.
//
//   bazel run --config=opt //bench:commands              # 1 k and 10 k keys
//   bazel run --config=opt //bench:commands -- --full    # 1 k and 1 M keys
//
// Each call is one store::Command through Store::Execute, which is all that a typed function does
// but for turning the reply into its own type. The calls stand in command_rows.cc; a command of the
// table that has neither a line there nor a reason to have none fails the program. Prints a table
// of the medians of some batches; read the columns against each other.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/memory/engine.h"
#include "backends/redis/net/blocking_client.h"
#include "backends/redis/options.h"
#include "backends/redis/spawn/spawned_server.h"
#include "bench/command_rows.h"
#include "core/base/rng.h"
#include "core/base/run.h"
#include "core/base/string_bridge.h"
#include "core/base/task.h"
#include "core/base/virtual_clock.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/command_table.h"

namespace redouble {
namespace {

using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr int kCallsPerBatch = 64;
constexpr int kBatches = 9;
constexpr auto kPatience = std::chrono::milliseconds(100);
// Kinds of keys in a keyspace; each has as many.
constexpr std::string_view kKinds = "sibplhtzxg";

std::string KeyName(char kind, int64_t number) {
  return absl::StrCat("key:", std::string(1, kind), ":", number);
}

// Fills in the names that a line leaves open.
class Names {
 public:
  Names(int64_t keys, uint64_t seed) : per_kind_(keys / kKinds.size()), rng_(seed) {}

  // Draws the keys of the next call.
  void Next() {
    number_ = static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(per_kind_)));
    ++calls_;
  }
  Words FillIn(std::string_view line) const {
    std::string text(line);
    for (const char kind : kKinds) {
      const std::string letter(1, kind);
      text = absl::StrReplaceAll(
          text, {{absl::StrCat("{", letter, "}"), KeyName(kind, number_)},
                 {absl::StrCat("{", letter, "2}"), KeyName(kind, (number_ + 1) % per_kind_)}});
    }
    text = absl::StrReplaceAll(
        text, {{"{n}", absl::StrCat("new:", calls_)}, {"{u}", absl::StrCat(calls_)}});
    return absl::StrSplit(text, ' ');
  }
  std::vector<Words> FillInAll(std::string_view lines) const {
    std::vector<Words> commands;
    for (const absl::string_view line :
         absl::StrSplit(base::ToAbsl(lines), ';', absl::SkipEmpty())) {
      commands.push_back(FillIn(base::ToStd(line)));
    }
    return commands;
  }

 private:
  const int64_t per_kind_;
  base::Rng rng_;
  int64_t number_ = 0;
  int64_t calls_ = 0;
};

base::Task<absl::StatusOr<store::Reply>> CallTask(store::Store& store, const Words& words) {
  store::Command command = store::Command::Named(words[0]);
  command.AddAll(std::span<const std::string>(words).subspan(1));
  co_return co_await store.Execute(command);
}

void Call(store::Store& store, const Words& words) {
  const auto reply = base::Run(CallTask(store, words));
  if (reply.ok()) return;
  std::fprintf(stderr, "%s: %s\n", words[0].c_str(), std::string(reply.status().message()).c_str());
  std::exit(1);
}

void Load(store::Store& store, int64_t keys) {
  const auto per_kind = keys / static_cast<int64_t>(kKinds.size());
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  std::vector<Words> words;
  const auto send = [&] {
    for (const Words& call : words) {
      store::Command command = store::Command::Named(call[0]);
      command.AddAll(std::span<const std::string>(call).subspan(1));
      batch.Add(std::move(command));
    }
    if (!base::Run(store::Execute(store, batch)).ok()) std::abort();
    batch = store::Batch(store::Batch::Atomicity::kPipeline);
    words.clear();
  };
  for (int64_t i = 0; i < per_kind; ++i) {
    words.push_back({"SET", KeyName('s', i), absl::StrCat("value ", i)});
    words.push_back({"SET", KeyName('i', i), absl::StrCat(i)});
    words.push_back({"SET", KeyName('b', i), "bits of a text"});
    words.push_back({"PFADD", KeyName('p', i), "a", "b", "c"});
    words.push_back({"RPUSH", KeyName('l', i), "a", "b", "c", "d", "e"});
    words.push_back(
        {"HSET", KeyName('h', i), "f1", "v1", "f2", "v2", "f3", "v3", "n", "1", "d", "1.5"});
    words.push_back({"SADD", KeyName('t', i), "m1", "m2", "m3", "m4", absl::StrCat("x", i)});
    words.push_back({"ZADD", KeyName('z', i), "1", "m1", "2", "m2", "3", "m3", "4", "m4"});
    words.push_back({"XADD", KeyName('x', i), "1-1", "f", "v"});
    words.push_back({"XADD", KeyName('x', i), "1-2", "f", "v"});
    words.push_back({"XGROUP", "CREATE", KeyName('x', i), "g", "0"});
    words.push_back(
        {"XREADGROUP", "GROUP", "g", "c1", "COUNT", "1", "STREAMS", KeyName('x', i), ">"});
    words.push_back({"GEOADD", KeyName('g', i), "13.361389", "38.115556", "Palermo", "15.087269",
                     "37.502669", "Catania"});
    if (words.size() > 1000) send();
  }
  send();
}

// The median of the batches' nanoseconds per call.
double Measure(store::Store& store, const bench::CommandRow& row, Names& names) {
  std::vector<double> batches;
  const Clock::time_point begin = Clock::now();
  while (batches.size() < kBatches && (batches.empty() || Clock::now() - begin < kPatience)) {
    double nanoseconds = 0;
    int calls = 0;
    while (calls < kCallsPerBatch && (calls == 0 || Clock::now() - begin < kPatience)) {
      names.Next();
      for (const Words& words : names.FillInAll(row.prepare)) Call(store, words);
      const Words words = names.FillIn(row.call);
      const Clock::time_point start = Clock::now();
      Call(store, words);
      nanoseconds += std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      ++calls;
      if (row.call == "MULTI") Call(store, {"DISCARD"});
    }
    batches.push_back(nanoseconds / calls);
  }
  std::nth_element(batches.begin(), batches.begin() + batches.size() / 2, batches.end());
  return batches[batches.size() / 2];
}

std::vector<double> MeasureAll(store::Store& store, int64_t keys) {
  Load(store, keys);
  Names names(keys, /*seed=*/1);
  std::vector<double> results;
  for (const bench::CommandRow& row : bench::CommandRows()) {
    results.push_back(Measure(store, row, names));
    // What a line has selected or watched ends with it.
    Call(store, {"UNWATCH"});
    Call(store, {"SELECT", "0"});
  }
  return results;
}

std::vector<double> MeasureEngine(int64_t keys) {
  base::VirtualClock clock;
  memory::Engine engine(clock);
  const std::unique_ptr<memory::Session> session = engine.Connect();
  return MeasureAll(*session, keys);
}

std::vector<double> MeasureServer(int64_t keys) {
  auto server = redis::SpawnedServer::Start();
  if (!server.ok()) std::abort();
  auto client = redis::BlockingClient::Connect(*redis::Options::Parse((*server)->uri()));
  if (!client.ok()) std::abort();
  return MeasureAll(**client, keys);
}

// The row of the command that a line calls.
store::CommandId CommandOf(std::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(base::ToAbsl(line), ' ');
  const store::CommandId id = store::FindCommand(words[0]);
  if (id == store::CommandId::kUnknown || words.size() < 2 || !store::IsContainer(id)) return id;
  return store::FindSubcommand(id, words[1]);
}

// Commands that nothing is said about: the names of all that have neither a line nor a reason.
Words Forgotten() {
  Words forgotten;
  for (const store::CommandSpec& spec : store::AllCommands()) {
    const std::string name(spec.name);
    const auto& rows = bench::CommandRows();
    const auto& reasons = bench::CommandsNotMeasured();
    const bool is_container = store::IsContainer(store::FindCommand(name)) && name != "command";
    const bool is_help = absl::EndsWith(name, "|help");
    const bool told =
        is_container || is_help ||
        std::any_of(rows.begin(), rows.end(),
                    [&](const bench::CommandRow& row) {
                      return store::SpecOf(CommandOf(row.call)).name == spec.name;
                    }) ||
        std::any_of(reasons.begin(), reasons.end(),
                    [&](const bench::NotMeasured& reason) { return reason.command == spec.name; });
    if (!told) forgotten.push_back(name);
  }
  return forgotten;
}

void Print(int64_t few, int64_t many) {
  const std::vector<std::vector<double>> columns = {MeasureEngine(few), MeasureEngine(many),
                                                    MeasureServer(few), MeasureServer(many)};
  std::printf(
      "ns per call\n\n| call | engine, %lld keys | engine, %lld keys | redis-server, %lld "
      "keys | redis-server, %lld keys |\n| --- | --- | --- | --- | --- |\n",
      static_cast<long long>(few), static_cast<long long>(many), static_cast<long long>(few),
      static_cast<long long>(many));
  for (size_t i = 0; i < bench::CommandRows().size(); ++i) {
    std::string call(bench::CommandRows()[i].call.substr(0, 60));
    std::replace_if(
        call.begin(), call.end(), [](char c) { return !absl::ascii_isprint(c); }, ' ');
    std::printf("| `%s` |", call.c_str());
    for (const std::vector<double>& column : columns) std::printf(" %.0f |", column[i]);
    std::printf("\n");
  }
  for (const bench::NotMeasured& reason : bench::CommandsNotMeasured()) {
    std::printf("\nNot measured: %s: %s", std::string(reason.command).c_str(),
                std::string(reason.why).c_str());
  }
  std::printf("\n");
}

}  // namespace
}  // namespace redouble

int main(int argc, char** argv) {
  const std::vector<std::string> forgotten = redouble::Forgotten();
  for (const std::string& name : forgotten) std::fprintf(stderr, "no line for %s\n", name.c_str());
  const bool full = argc > 1 && std::string_view(argv[1]) == "--full";
  redouble::Print(1000, full ? 1'000'000 : 10'000);
  return forgotten.empty() ? 0 : 1;
}
