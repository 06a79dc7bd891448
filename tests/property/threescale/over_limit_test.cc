// Checks docs/systems/threescale.md I7 (no usage beyond a limit) under 10,000 random schedules of
// listeners that check and workers that count. The documented behavior exceeds the limit under some
// of them (H10), the hardened option under none.
//
// A schedule is a seed: it decides whose command is next. A failure prints its seed; the same seed
// repeats the run.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/report/listener.h"
#include "redouble/core/threescale/report/worker.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;

constexpr uint64_t kSchedules = 10'000;
constexpr int kLimit = 2;
constexpr int kRequests = 4;

// The world starts at the beginning of 2026.
constexpr std::string_view kDayCounter = "stats/{service:2}/cinstance:a1/metric:6/day:20260101";
constexpr std::string_view kEternityCounter = "stats/{service:2}/cinstance:a1/metric:6/eternity";

// Creates service 2 with the application a1, which is limited to two hits a day.
void SetUp(const Process& process) {
  ServiceSave service = {.id = "2", .provider_key = "pk"};
  ASSERT_THAT(base::Run(ServiceStore(process).Save(service)), IsOk());
  ApplicationSave application = {.service_id = "2", .id = "a1", .state = "active"};
  application.plan_id = "44";
  ASSERT_THAT(base::Run(ApplicationStore(process).Save(application)), IsOk());
  const Metric metric = {"2", "6", "hits"};
  ASSERT_THAT(base::Run(MetricStore(process).Save(metric)), IsOk());
  const std::string limit = std::to_string(kLimit);
  const UsageLimitSave limits[] = {{Granularity::kDay, limit}};
  ASSERT_THAT(base::Run(UsageLimitStore(process).Save({"2", "44"}, "6", limits)), IsOk());
}

struct Outcome {
  int authorized = 0;
  int64_t counted = 0;
  int64_t counted_ever = 0;
};

int64_t Counter(store::Store& store, std::string_view key) {
  return std::stoll(base::Run(store::Get(store, key)).value().value_or("0"));
}

// Two processes. Each handles two requests, and runs the pending jobs after each.
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
        EXPECT_THAT(answer, IsOk());
        outcome.authorized += answer.ok() && answer->authorized() ? 1 : 0;
        const absl::Status worked = co_await worker.RunAll(queue);
        EXPECT_THAT(worked, IsOk());
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
}  // namespace redouble::inline v0_1::threescale
