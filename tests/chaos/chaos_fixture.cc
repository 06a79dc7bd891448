#include "redouble/tests/chaos/chaos_fixture.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <iterator>
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
  Drive(base::WhenAll(std::move(tasks)));
  for (CountedKey& counter : counters) {
    counter.CheckFinal(Drive(Eventually(store, counter.key())));
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
  const uint64_t count = std::max<uint64_t>(ChaosSetting("CHAOS_FAULTS", 0), faults.size());
  for (uint64_t done = 0; done < count; ++done) {
    const size_t turn = done % faults.size();
    if (turn == 0) {
      for (size_t i = faults.size(); i > 1; --i) std::swap(faults[i - 1], faults[rng.Below(i)]);
    }
    co_await faults[turn]();
    co_await Progress();
  }
  while (!Sum().has_all()) co_await clock.Sleep(absl::Milliseconds(2));
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
  auto connected = co_await redis::Client::Connect(executor, options, redis::Sharing::kDedicated);
  if (!connected.ok()) co_return std::string();
  store::Command command = store::Command::Named(name);
  command.Add(argument);
  const absl::StatusOr<Reply> reply = co_await (*connected)->Execute(command);
  co_return reply.ok() && reply->is_bulk() ? reply->text() : std::string();
}

base::Task<int64_t> ChaosFixture::Eventually(store::Store& store, const std::string& key) {
  while (true) {
    const auto value = co_await store::Get(store, key);
    int64_t number = 0;
    if (value.ok() && (!value->has_value() || absl::SimpleAtoi(**value, &number))) co_return number;
    co_await clock.Sleep(absl::Milliseconds(20));
  }
}

bool ChaosFixture::Totals::has_all() const {
  return refused > 0 && std::all_of(std::begin(forms), std::end(forms),
                                    [](uint64_t acknowledged) { return acknowledged > 0; });
}

ChaosFixture::Totals ChaosFixture::Sum() const {
  Totals totals;
  for (const CountedKey& counter : counters) {
    totals.acknowledged += counter.acknowledged();
    totals.unknown += counter.unknown();
    totals.not_done += counter.not_done();
    totals.refused += counter.refused();
    for (size_t form = 0; form < CountedKey::kForms; ++form) {
      totals.forms[form] += counter.acknowledged_as(static_cast<IncrementForm>(form));
    }
  }
  return totals;
}

void ChaosFixture::Print() const {
  const Totals totals = Sum();
  std::cout << "chaos of seed " << seed << ": " << totals.acknowledged << " acknowledged (commands "
            << totals.forms[0] << ", pipelines " << totals.forms[1] << ", transactions "
            << totals.forms[2] << ", scripts " << totals.forms[3] << ", before their cancellation "
            << totals.forms[4] << ", values of 16 MB " << totals.forms[5] << "), " << totals.unknown
            << " unknown, " << totals.not_done << " not done, of which " << totals.refused
            << " met a full queue" << std::endl;
}

}  // namespace redouble::inline v0_1::tests
