#include "redouble/tests/chaos/chaos_fixture.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::Reply;

constexpr int kActors = 24;
constexpr absl::Duration kCommandTimeout = absl::Seconds(2);

}  // namespace

uint64_t ChaosFixture::Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

void ChaosFixture::SetUp() { std::cout << "chaos of seed " << seed << std::endl; }

redis::Options ChaosFixture::Disturbed(const std::string& uri) {
  redis::Options options = redis::Options::Parse(uri).value();
  options.command_timeout = kCommandTimeout;
  options.connect_timeout = absl::Seconds(1);
  options.health_check_interval = absl::Milliseconds(300);
  options.queue_limit = 2 * kActors / 3;
  if (options.cluster || !options.sentinel_master.empty()) {
    options.refresh_interval = absl::Milliseconds(20);
  }
  return options;
}

void ChaosFixture::RunUnder(store::Store& store, bool may_lose, std::vector<Fault> faults) {
  for (int i = 0; i < kActors; ++i) {
    counters.emplace_back(absl::StrCat("counter:", i), rng.Fork(), may_lose);
  }
  std::vector<base::Task<void>> tasks;
  for (CountedKey& counter : counters) tasks.push_back(Act(store, counter));
  tasks.push_back(Disturb(std::move(faults)));
  Run(base::WhenAll(std::move(tasks)));
  for (CountedKey& counter : counters) {
    const auto value = Eventually(store, counter.key());
    counter.CheckFinal(value);
    EXPECT_EQ(counter.problems(), std::vector<std::string>());
  }
  Print();
}

base::Task<void> ChaosFixture::Act(store::Store& store, CountedKey& counter) {
  while (!stop_) {
    const uint64_t refused = counter.not_done();
    co_await counter.Increment(store, clock);
    // A full queue or an unreachable server would be asked in a circle.
    if (counter.not_done() > refused) co_await clock.Sleep(absl::Milliseconds(1));
  }
}

base::Task<void> ChaosFixture::Disturb(std::vector<Fault> faults) {
  co_await Progress();
  const uint64_t count = std::max<uint64_t>(Setting("CHAOS_FAULTS", 0), faults.size());
  for (uint64_t done = 0; done < count; ++done) {
    const size_t turn = done % faults.size();
    if (turn == 0) {
      for (size_t i = faults.size(); i > 1; --i) std::swap(faults[i - 1], faults[rng.Below(i)]);
    }
    co_await faults[turn]();
    co_await Progress();
  }
  stop_ = true;
}

base::Task<void> ChaosFixture::Progress() {
  std::vector<uint64_t> before;
  for (const CountedKey& counter : counters) before.push_back(counter.acknowledged());
  for (size_t i = 0; i < counters.size(); ++i) {
    while (counters[i].acknowledged() < before[i] + 3) {
      co_await clock.Sleep(absl::Milliseconds(2));
    }
  }
}

base::Task<void> ChaosFixture::Elsewhere(std::function<absl::Status()> call) {
  std::future<absl::Status> done = std::async(std::launch::async, std::move(call));
  while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    co_await clock.Sleep(absl::Milliseconds(5));
  }
  EXPECT_THAT(done.get(), IsOk());
}

base::Task<void> ChaosFixture::KillAndRestart(redis::SpawnedServer& server) {
  auto restart = [&server] {
    server.Kill();
    return server.Restart();
  };
  co_await Elsewhere(std::move(restart));
}

base::Task<void> ChaosFixture::Stop(redis::SpawnedServer& server,
                                    std::function<redis::Counters()> traffic) {
  const auto effect = [&] {
    const redis::Counters now = traffic();
    return now.timeouts + now.losses;
  };
  const uint64_t before = effect();
  const absl::Time latest = clock.Now() + 2 * kCommandTimeout;
  kill(server.pid(), SIGSTOP);
  while (effect() == before && clock.Now() < latest) co_await clock.Sleep(absl::Milliseconds(5));
  ++stops;
  kill(server.pid(), SIGCONT);
}

base::Task<std::string> ChaosFixture::Ask(redis::SpawnedServer& node, std::string_view name,
                                          std::string_view argument) {
  const redis::Options options = redis::Options::Parse(node.uri()).value();
  auto connected =
      co_await redis::Client::Connect(context.get_executor(), options, redis::Sharing::kDedicated);
  if (!connected.ok()) co_return std::string();
  store::Command command = store::Command::Named(name);
  command.Add(argument);
  const absl::StatusOr<Reply> reply = co_await (*connected)->Execute(command);
  co_return reply.ok() && reply->is_bulk() ? reply->text() : std::string();
}

int64_t ChaosFixture::Eventually(store::Store& store, const std::string& key) {
  while (true) {
    const auto value = Run(store::Get(store, key));
    int64_t number = 0;
    if (value.ok() && (!value->has_value() || absl::SimpleAtoi(**value, &number))) return number;
    Run(clock.Sleep(absl::Milliseconds(20)));
  }
}

void ChaosFixture::Print() const {
  uint64_t acknowledged = 0, unknown = 0, not_done = 0, forms[CountedKey::kForms] = {};
  for (const CountedKey& counter : counters) {
    acknowledged += counter.acknowledged();
    unknown += counter.unknown();
    not_done += counter.not_done();
    for (size_t form = 0; form < CountedKey::kForms; ++form) {
      forms[form] += counter.acknowledged_as(static_cast<IncrementForm>(form));
    }
  }
  std::cout << "chaos of seed " << seed << ": " << acknowledged << " acknowledged (commands "
            << forms[0] << ", pipelines " << forms[1] << ", transactions " << forms[2]
            << ", scripts " << forms[3] << ", before their cancellation " << forms[4]
            << ", values of 16 MB " << forms[5] << "), " << unknown << " unknown, " << not_done
            << " not done" << std::endl;
}

}  // namespace redouble::inline v0_1::tests
