// Helpers of the programs that measure a system. They run it on either backend, count the requests
// that it sends, and measure the processor time that redis-server uses for them.
//
//   template <typename Backend>
//   void BM_Check(benchmark::State& state) {
//     Counted<Backend> backend;
//     RateLimiter limiter(backend.store());
//     backend.Begin();
//     for (auto _ : state) ...
//     backend.Report(state);
//   }
//   BENCHMARK(BM_Check<Memory>);
//   BENCHMARK(BM_Check<Live>)->UseRealTime();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BENCH_SUPPORT_H_
#define REDOUBLE_BENCH_SUPPORT_H_

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/wrappers/forwarding_store.h"

namespace redouble::inline v0_1::bench {

// The time of the memory engine, and of operations that take a time.
inline const absl::Time kNow = absl::FromUnixSeconds(1'767'268'800);

// Exits the program with the error on stderr unless `status` is OK.
inline void ExitUnlessOk(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T ValueOrExit(absl::StatusOr<T> value) {
  ExitUnlessOk(value.status());
  return *std::move(value);
}

// A separate memory engine.
class Memory {
 public:
  store::Store& store() { return *session_; }

 private:
  base::VirtualClock clock_{kNow};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
};

// A separate redis-server on a Unix socket.
class Live {
 public:
  store::Store& store() { return *client_; }
  const redis::SpawnedServer& server() const { return *server_; }

  // The processor time that the server has used since it started, of its process and the system.
  absl::Duration ServerTime() const {
    clockid_t clock;
    timespec time = {};
    if (clock_getcpuclockid(server_->pid(), &clock) != 0 || clock_gettime(clock, &time) != 0) {
      ExitUnlessOk(absl::InternalError("the processor time of redis-server cannot be read"));
    }
    return absl::DurationFromTimespec(time);
  }

 private:
  std::unique_ptr<redis::SpawnedServer> server_ = ValueOrExit(redis::SpawnedServer::Start());
  std::unique_ptr<redis::SyncClient> client_ =
      ValueOrExit(redis::SyncClient::Connect(server_->uri()));
};

// Counts round trips and commands only. Examining replies too would show in the times of the memory
// engine.
class TripCounter final : public store::ForwardingStore {
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

// A backend whose requests are counted.
template <typename Backend>
class Counted {
 public:
  store::Store& store() { return counter_; }

  // Resets the counters, after setting up.
  void Begin() {
    counter_.round_trips = counter_.commands = 0;
    server_time_ = absl::ZeroDuration();
    started_ = ServerTime();
  }

  // Neither the time nor what the server does is measured from here to Resume().
  void Pause(benchmark::State& state) {
    state.PauseTiming();
    server_time_ += ServerTime() - started_;
    paused_ = {counter_.round_trips, counter_.commands};
  }
  void Resume(benchmark::State& state) {
    std::tie(counter_.round_trips, counter_.commands) = paused_;
    started_ = ServerTime();
    state.ResumeTiming();
  }

  // Sets the counters `round_trips` and `commands` for one iteration and, for redis-server,
  // `server_us`: its processor time in microseconds.
  void Report(benchmark::State& state) const {
    using benchmark::Counter;
    state.counters["round_trips"] =
        Counter(static_cast<double>(counter_.round_trips), Counter::kAvgIterations);
    state.counters["commands"] =
        Counter(static_cast<double>(counter_.commands), Counter::kAvgIterations);
    if constexpr (std::is_same_v<Backend, Live>) {
      const absl::Duration time = server_time_ + (ServerTime() - started_);
      state.counters["server_us"] =
          Counter(absl::ToDoubleMicroseconds(time), Counter::kAvgIterations);
    }
  }

 private:
  absl::Duration ServerTime() const {
    if constexpr (std::is_same_v<Backend, Live>) return backend_.ServerTime();
    return absl::ZeroDuration();
  }

  Backend backend_;
  TripCounter counter_{backend_.store()};
  absl::Duration server_time_ = absl::ZeroDuration();
  absl::Duration started_ = ServerTime();
  std::pair<int64_t, int64_t> paused_ = {0, 0};
};

}  // namespace redouble::inline v0_1::bench

#endif  // REDOUBLE_BENCH_SUPPORT_H_
