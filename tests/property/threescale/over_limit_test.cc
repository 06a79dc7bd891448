// No more usage than the limit: reference/threescale.md 9, 10, under 10,000 random schedules of
// listeners that check and workers that count. The documented behaviour exceeds the limit under
// some of them, the hardened option under none.
//
// A schedule is a seed: it decides whose command goes next. A failure prints its seed; running that
// seed alone gives the same run.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/run.h"
#include "core/base/task.h"
#include "core/store/strings.h"
#include "core/threescale/application.h"
#include "core/threescale/listener.h"
#include "core/threescale/metric.h"
#include "core/threescale/service.h"
#include "core/threescale/usage_limit.h"
#include "core/threescale/worker.h"
#include "sim/world/world.h"

namespace redouble::threescale {
namespace {

constexpr uint64_t kSchedules = 10'000;
constexpr int kLimit = 2;
constexpr int kRequests = 4;

// The beginning of 2026, the world's.
constexpr std::string_view kDayCounter = "stats/{service:2}/cinstance:a1/metric:6/day:20260101";
constexpr std::string_view kEternityCounter = "stats/{service:2}/cinstance:a1/metric:6/eternity";

// Service 2 with the application a1, which may have two hits a day.
void SetUp(const Process& process) {
  ServiceSave service = {.id = "2", .provider_key = "pk"};
  ASSERT_TRUE(base::Run(ServiceStore(process).Save(service)).ok());
  ApplicationSave application = {.service_id = "2", .id = "a1", .state = "active"};
  application.plan_id = "44";
  ASSERT_TRUE(base::Run(ApplicationStore(process).Save(application)).ok());
  const Metric metric = {"2", "6", "hits"};
  ASSERT_TRUE(base::Run(MetricStore(process).Save(metric)).ok());
  const std::string limit = std::to_string(kLimit);
  const UsageLimitSave limits[] = {{Granularity::kDay, limit}};
  ASSERT_TRUE(base::Run(UsageLimitStore(process).Save({"2", "44"}, "6", limits)).ok());
}

struct Outcome {
  int authorized = 0;
  int64_t counted = 0;
  int64_t counted_ever = 0;
};

int64_t Counter(store::Store& store, std::string_view key) {
  return std::stoll(base::Run(store::Get(store, key))->value_or("0"));
}

// Two processes, each of which takes two requests and runs the jobs that are there behind each.
Outcome RunSchedule(uint64_t seed, bool hardened) {
  sim::WorldOptions world_options;
  world_options.seed = seed;
  world_options.traced = false;
  sim::World world(world_options);
  const std::unique_ptr<memory::Session> session = world.Connect();
  SetUp(Process(*session, world.clock()));

  AuthorizerOptions options;
  options.hardening.check_and_report_atomically = hardened;
  InProcessJobQueue queue;
  Outcome outcome;
  for (const char* name : {"a", "b"}) {
    world.Spawn(name, [&](sim::Actor& actor) -> base::Task<void> {
      const Process process(actor.store(), actor.clock());
      Notifier notifier(process, queue);
      Listener listener(process, queue, notifier, options);
      Worker worker(process);
      for (int i = 0; i < kRequests / 2; ++i) {
        AuthRequest request = {.provider_key = "pk", .service_id = "2", .app_id = "a1"};
        request.usage = Usage{{"hits", "1"}};
        const auto answer = co_await listener.Handle(Endpoint::kAuthrep, request, "{}");
        EXPECT_TRUE(answer.ok()) << answer.status();
        outcome.authorized += answer.ok() && answer->authorized() ? 1 : 0;
        const absl::Status worked = co_await worker.RunAll(queue);
        EXPECT_TRUE(worked.ok()) << worked;
      }
    });
  }
  EXPECT_EQ(world.Run().end, sim::RunEnd::kDone);
  outcome.counted = Counter(*session, kDayCounter);
  outcome.counted_ever = Counter(*session, kEternityCounter);
  return outcome;
}

TEST(OverLimit, HappensByDefaultUnderSomeSchedulesAndWhenHardenedUnderNone) {
  uint64_t broken = 0;
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const Outcome by_default = RunSchedule(seed, /*hardened=*/false);
    ASSERT_EQ(by_default.counted, by_default.authorized) << "by default, seed " << seed;
    broken += by_default.counted > kLimit ? 1 : 0;

    const Outcome hardened = RunSchedule(seed, /*hardened=*/true);
    ASSERT_EQ(hardened.counted, kLimit) << "hardened, seed " << seed;
    ASSERT_EQ(hardened.authorized, kLimit) << "hardened, seed " << seed;
    ASSERT_EQ(hardened.counted_ever, kLimit) << "hardened, seed " << seed;
  }
  EXPECT_GT(broken, 0u);
  EXPECT_LT(broken, kSchedules) << "a schedule that cannot fail to break it shows nothing";
  RecordProperty("broken_by_default", std::to_string(broken));
}

}  // namespace
}  // namespace redouble::threescale
