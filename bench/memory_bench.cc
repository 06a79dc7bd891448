// Memory per key: the heap bytes of the engine's data beside the used memory that a redis-server
// reports for the same commands, and the time of expiry and of commands by the number of keys and
// of fields with deadlines.
//
//   bazel run --config=opt //bench:memory              # small sizes, seconds
//   bazel run --config=opt //bench:memory -- --full    # 1 M strings ... 10 M keys with TTLs
//
// Prints tables. Bytes per key are comparable between runs; compare times only within one run.
#include <malloc.h>

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

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/table/version.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble {
namespace {

using store::Reply;
using Words = std::vector<std::string>;

// Sends commands in pipelines, so that the round trips of a server do not dominate.
class Loader {
 public:
  explicit Loader(store::Store& store) : store_(store) {}
  ~Loader() { Flush(); }

  void Add(Words words) {
    pending_.push_back(std::move(words));
    if (pending_.size() == 1000) Flush();
  }
  void Flush() {
    if (pending_.empty()) return;
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    for (const Words& words : pending_) {
      const std::vector<std::string_view> arguments(words.begin() + 1, words.end());
      batch.Add(store::Command::Named(words[0], arguments));
    }
    if (!base::Run(store::Execute(store_, batch)).ok()) std::abort();
    pending_.clear();
  }

 private:
  store::Store& store_;
  std::vector<Words> pending_;
};

struct DataSet {
  const char* name;
  int64_t small;
  int64_t full;
  void (*load)(Loader& loader, int64_t count);
};

void Strings(Loader& loader, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    loader.Add({"SET", absl::StrCat("key:", i), absl::StrCat("value-", i)});
  }
}

void Hashes(Loader& loader, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    loader.Add({"HSET", absl::StrCat("hash:", i), "name", absl::StrCat("n", i), "state", "open",
                "count", absl::StrCat(i), "owner", "somebody", "stamp", "1778335382500"});
  }
}

void Streams(Loader& loader, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    for (int entry = 1; entry <= 100; ++entry) {
      loader.Add({"XADD", absl::StrCat("stream:", i), absl::StrCat(1778335382500 + entry, "-0"),
                  "event", "tick", "payload", absl::StrCat("text number ", entry)});
    }
  }
}

constexpr DataSet kDataSets[] = {
    {"short strings", 100'000, 1'000'000, Strings},
    {"small hashes", 10'000, 100'000, Hashes},
    {"streams of 100 entries", 1'000, 10'000, Streams},
};

int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

int64_t EngineBytes(const DataSet& data, int64_t count) {
  base::VirtualClock clock;
  memory::Engine engine(clock);
  const std::unique_ptr<memory::Session> session = engine.Connect();
  // As for the server, the memory of the empty engine and of the connection does not count.
  const int64_t before = HeapBytes();
  Loader loader(*session);
  data.load(loader, count);
  loader.Flush();
  return HeapBytes() - before;
}

base::Task<absl::StatusOr<Reply>> Info(store::Store& server) {
  const std::string_view section[] = {"memory"};
  const store::Command command = store::Command::Named("INFO", section);
  co_return co_await server.Execute(command);
}

int64_t UsedMemory(store::Store& server) {
  const absl::StatusOr<Reply> info = base::Run(Info(server));
  const std::string& text = info->text();
  constexpr std::string_view kField = "used_memory:";
  return std::atoll(text.c_str() + text.find(kField) + kField.size());
}

int64_t ServerBytes(const DataSet& data, int64_t count) {
  auto server = redis::SpawnedServer::Start();
  if (!server.ok()) return -1;
  auto client = redis::SyncClient::Connect(*redis::Options::Parse((*server)->uri()));
  if (!client.ok()) return -1;
  const int64_t before = UsedMemory(**client);
  {
    Loader loader(**client);
    data.load(loader, count);
  }
  return UsedMemory(**client) - before;
}

void PrintMemory(bool full) {
  std::printf("| data | keys | engine, bytes per key | redis-server, bytes per key |\n");
  std::printf("| --- | --- | --- | --- |\n");
  for (const DataSet& data : kDataSets) {
    const int64_t count = full ? data.full : data.small;
    const auto per_key = [&](int64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(count);
    };
    std::printf("| %s | %lld | %.1f | %.1f |\n", data.name, static_cast<long long>(count),
                per_key(EngineBytes(data, count)), per_key(ServerBytes(data, count)));
  }
}

double Nanoseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

struct Times {
  int64_t keys = 0;
  double get = 0;
  double set = 0;
  double incr = 0;
  double expire = 0;
  double expiry = 0;  // Per key, if all keys expire in one step of the clock.
};

// Nanoseconds per call of `call(i)`, for i < `keys` in an order without locality.
double PerCall(int64_t keys, const std::function<void(const std::string& key)>& call) {
  constexpr int64_t kCalls = 200'000;
  constexpr int64_t kStride = 7'919'777;
  std::vector<std::string> names;
  for (int64_t i = 0; i < kCalls; ++i) names.push_back(absl::StrCat("key:", i * kStride % keys));
  return Nanoseconds([&] {
           for (const std::string& name : names) call(name);
         }) /
         kCalls;
}

// Exits the program on an error, whose time would be meaningless.
template <typename T>
void Expect(const absl::StatusOr<T>& result) {
  if (!result.ok()) std::abort();
}

Times Measure(int64_t keys) {
  base::VirtualClock clock;
  memory::Engine engine(clock);
  const std::unique_ptr<memory::Session> session = engine.Connect();
  {
    Loader loader(*session);
    for (int64_t i = 0; i < keys; ++i) {
      loader.Add({"SET", absl::StrCat("key:", i), "1", "PX", absl::StrCat(1000 + i % 100'000)});
    }
  }
  store::Store& store = *session;
  Times times{.keys = keys};
  times.get =
      PerCall(keys, [&](const std::string& key) { Expect(base::Run(store::Get(store, key))); });
  times.incr =
      PerCall(keys, [&](const std::string& key) { Expect(base::Run(store::Incr(store, key))); });
  times.set = PerCall(keys, [&](const std::string& key) {
    Expect(base::Run(store::Set(store, key, "value", {.keep_ttl = true})));
  });
  times.expire = PerCall(keys, [&](const std::string& key) {
    Expect(base::Run(store::ExpireIn(store, key, absl::Seconds(100))));
  });
  times.expiry =
      Nanoseconds([&] { clock.Advance(absl::Seconds(200)); }) / static_cast<double>(keys);
  if (engine.expired_keys() != keys) std::abort();
  return times;
}

// A bar for every column of each row, scaled to the largest time.
void Plot(const std::vector<Times>& rows, const char* title, double Times::*column) {
  double largest = 0;
  for (const Times& row : rows) largest = std::max(largest, row.*column);
  std::printf("\n%s\n", title);
  for (const Times& row : rows) {
    const auto length = static_cast<size_t>(60 * row.*column / largest);
    std::printf("%9lld %s %.0f ns\n", static_cast<long long>(row.keys),
                std::string(length, '#').c_str(), row.*column);
  }
}

// Prints the time of commands, and of the expiry of a key, by the number of keys.
void PrintTimes(bool full) {
  std::printf(
      "\n| keys with TTLs | GET, ns | INCR, ns | SET, ns | EXPIRE, ns | expiry in one "
      "step, ns per key |\n| --- | --- | --- | --- | --- | --- |\n");
  std::vector<Times> rows;
  for (int64_t keys = 1000; keys <= (full ? 10'000'000 : 1'000'000); keys *= 10) {
    const Times times = Measure(keys);
    std::printf("| %lld | %.0f | %.0f | %.0f | %.0f | %.0f |\n", static_cast<long long>(keys),
                times.get, times.incr, times.set, times.expire, times.expiry);
    rows.push_back(times);
  }
  Plot(rows, "GET by the number of keys", &Times::get);
  Plot(rows, "INCR by the number of keys", &Times::incr);
  Plot(rows, "SET by the number of keys", &Times::set);
  Plot(rows, "EXPIRE by the number of keys", &Times::expire);
  Plot(rows, "Expiry of a key by how many expire in one step", &Times::expiry);
}

struct FieldTimes {
  double hpexpire = 0;
  double expiry = 0;  // Per field, if all fields expire in one step of the clock.
};

// Hashes of a hundred fields, all with a deadline of their own.
FieldTimes MeasureFields(int64_t fields) {
  constexpr int64_t kFieldsOfHash = 100;
  base::VirtualClock clock;
  memory::EngineOptions options;
  options.compatibility = store::Version::kRedis80;
  memory::Engine engine(clock, options);
  const std::unique_ptr<memory::Session> session = engine.Connect();
  const auto load = [&](const std::function<Words(std::string hash, std::string field)>& command) {
    Loader loader(*session);
    for (int64_t i = 0; i < fields; ++i) {
      loader.Add(command(absl::StrCat("hash:", i / kFieldsOfHash), absl::StrCat("field:", i)));
    }
  };
  load([](std::string hash, std::string field) { return Words{"HSET", hash, field, "value"}; });
  FieldTimes times;
  int64_t next = 0;
  times.hpexpire = Nanoseconds([&] {
    load([&next](std::string hash, std::string field) {
      const std::string milliseconds = absl::StrCat(1000 + next++ * 7919 % 100'000);
      return Words{"HPEXPIRE", hash, milliseconds, "FIELDS", "1", field};
    });
  });
  times.expiry = Nanoseconds([&] { clock.Advance(absl::Seconds(200)); });
  if (base::Run(store::DbSize(*session)).value_or(-1) != 0) std::abort();
  const auto count = static_cast<double>(fields);
  return {.hpexpire = times.hpexpire / count, .expiry = times.expiry / count};
}

// Prints the time of HPEXPIRE, and of the expiry of a field, by the number of fields.
void PrintFieldTimes(bool full) {
  std::printf(
      "\n| fields with TTLs | HPEXPIRE, ns | expiry in one step, ns per field |\n"
      "| --- | --- | --- |\n");
  for (int64_t fields = 1000; fields <= (full ? 10'000'000 : 1'000'000); fields *= 10) {
    const FieldTimes times = MeasureFields(fields);
    std::printf("| %lld | %.0f | %.0f |\n", static_cast<long long>(fields), times.hpexpire,
                times.expiry);
  }
}

}  // namespace
}  // namespace redouble

int main(int argc, char** argv) {
  const bool full = argc > 1 && std::string_view(argv[1]) == "--full";
  redouble::PrintMemory(full);
  redouble::PrintTimes(full);
  redouble::PrintFieldTimes(full);
  return 0;
}
