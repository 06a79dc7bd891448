// Races of reports and workers: by default some schedule violates the stated invariant, and with
// the hardened option none does.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/notify/alerts.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/report/aggregator.h"
#include "redouble/sim/world/world.h"
#include "redouble/tests/property/hardened_schedules.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::Task;
using sim::Actor;
using sim::ExpectBrokenByDefaultAndKeptWhenHardened;
using sim::World;
using sim::WorldOf;
using store::Reply;
using store::Request;

// Sends the commands of a pipeline one by one: other clients may send commands in between, and the
// client may crash there. Transactions are not split. Must outlive the actors that use it.
class SplittingStore final : public store::Store, private store::RequestKeeper {
 public:
  explicit SplittingStore(store::Store& inner) : inner_(inner) {}

  void Submit(Request& request) override {
    if (request.kind() != Request::Kind::kPipeline) return inner_.Submit(request);
    request.SetKeeper(this);
    Task<void>& flight = flights_.insert_or_assign(&request, Fly(request)).first->second;
    flight.Start();
  }

 private:
  Task<void> Fly(Request& request) {
    std::vector<Reply> replies;
    for (const store::Command& command : request.commands()) {
      absl::StatusOr<Reply> reply = co_await inner_.Execute(command);
      if (!reply.ok()) {
        request.Complete(reply.status());
        co_return;
      }
      replies.push_back(*std::move(reply));
    }
    request.Complete(Reply::Array(std::move(replies)));
  }

  void Abandon(Request& request) override { flights_.erase(&request); }

  store::Store& inner_;
  std::map<Request*, Task<void>> flights_;
};

// The coroutine of an actor whose pipelines are split.
using Body = std::function<Task<void>(Process process)>;

class Cast {
 public:
  explicit Cast(World& world) : world_(world) {}

  void Spawn(const char* name, Body body) {
    bodies_.push_back(std::make_unique<Body>(std::move(body)));
    world_.Spawn(name, [this, body = bodies_.back().get()](Actor& actor) -> Task<void> {
      stores_.push_back(std::make_unique<SplittingStore>(actor.store()));
      const Process process(*stores_.back(), actor.clock());
      co_await (*body)(process);
    });
  }

  // Runs the world to its end. An actor crashes after a step that the seed chooses.
  void RunWithADeath(uint64_t seed, uint64_t latest_step) {
    base::Rng rng(seed);
    Actor& victim = *world_.actors()[rng.Below(world_.actors().size())];
    const uint64_t last_step = rng.Below(latest_step);
    const auto all_ended = [&] {
      return std::all_of(world_.actors().begin(), world_.actors().end(),
                         [](const auto& actor) { return actor->done() || actor->crashed(); });
    };
    // Stops here: otherwise the clock would advance until keys expire.
    for (uint64_t step = 0; !all_ended() && world_.Step(); ++step) {
      if (step == last_step && !victim.done()) world_.Crash(victim);
    }
  }

 private:
  World& world_;
  std::vector<std::unique_ptr<Body>> bodies_;
  std::vector<std::unique_ptr<SplittingStore>> stores_;
};

// Returns the id in an event.
int64_t IdOf(const std::string& event) { return std::atoll(event.c_str() + kEventHead.size()); }

// docs/systems/threescale.md I1: every event that is published is listed by the consumer at some
// time.
TEST(EventQueueInvariant, DeliversEveryEvent) {
  const sim::ScheduleExperiment holds = [](uint64_t seed, bool hardened) {
    const Hardening hardening{.publish_events_atomically = hardened};
    std::set<int64_t> published;
    std::set<int64_t> delivered;
    World world(WorldOf(seed));
    Cast cast(world);
    for (const char* name : {"one", "two"}) {
      cast.Spawn(name, [&](Process process) -> Task<void> {
        EventQueue events(process, hardening);
        for (int i = 0; i < 2; ++i) {
          const auto id = co_await events.Publish(EventType::kFirstTraffic, JsonObject());
          if (id.ok()) published.insert(*id);
        }
      });
    }
    const auto consume = [&](Process process) -> Task<void> {
      EventQueue events(process);
      const std::vector<std::string> listed = (co_await events.List()).value();
      for (const std::string& event : listed) delivered.insert(IdOf(event));
      if (!listed.empty()) {
        const std::string last = std::to_string(IdOf(listed.back()));
        (co_await events.DeleteRange(last)).IgnoreError();
      }
    };
    cast.Spawn("consumer", [&](Process process) -> Task<void> {
      for (int i = 0; i < 3; ++i) co_await consume(process);
    });
    world.Run();
    const auto session = world.Connect();
    base::Run(consume(Process(*session, world.clock())));
    return delivered == published;
  };
  ExpectBrokenByDefaultAndKeptWhenHardened(holds);
}

void SetUpAlert(store::Store& store) {
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"application/service_id:2/id:app/state", "active"},
      {"application/service_id:2/id:app/plan_id", "44"},
      {"metric/service_id:2/id:6/name", "hits"},
      {"usage_limit/service_id:2/plan_id:44/metric_id:6/eternity", "10"},
      {"stats/{service:2}/cinstance:app/metric:6/eternity", "8"}};
  for (const auto& [key, value] : texts) base::Run(store::Set(store, key, value)).IgnoreError();
  base::Run(store::SAdd(store, "metrics/service_id:2/ids", "6")).IgnoreError();
  base::Run(store::SAdd(store, "alerts/service_id:2/allowed_set", "80")).IgnoreError();
}

size_t EventCount(World& world) {
  const auto session = world.Connect();
  return static_cast<size_t>(
      base::Run(EventQueue(Process(*session, world.clock())).Size()).value());
}

// docs/systems/threescale.md I2: an application has at most one alert per level and day.
TEST(AlertInvariant, RaisesALevelOnce) {
  const sim::ScheduleExperiment holds = [](uint64_t seed, bool hardened) {
    const Hardening hardening{.raise_alerts_atomically = hardened};
    World world(WorldOf(seed));
    SetUpAlert(*world.Connect());
    Cast cast(world);
    for (const char* name : {"one", "two"}) {
      cast.Spawn(name, [&](Process process) -> Task<void> {
        const ApplicationRef application{"2", "app"};
        (co_await Alerts(process, hardening).Update(application)).IgnoreError();
      });
    }
    world.Run();
    return EventCount(world) == 1;
  };
  ExpectBrokenByDefaultAndKeptWhenHardened(holds);
}

// docs/systems/threescale.md H4: a level that is marked as raised has its alert in the queue,
// whichever process crashed.
TEST(AlertInvariant, MarksNoLevelWithoutItsAlert) {
  const sim::ScheduleExperiment holds = [](uint64_t seed, bool hardened) {
    const Hardening hardening{.raise_alerts_atomically = hardened};
    World world(WorldOf(seed));
    SetUpAlert(*world.Connect());
    Cast cast(world);
    cast.Spawn("worker", [&](Process process) -> Task<void> {
      const ApplicationRef application{"2", "app"};
      (co_await Alerts(process, hardening).Update(application)).IgnoreError();
    });
    cast.RunWithADeath(seed, /*latest_step=*/18);
    const auto session = world.Connect();
    const bool marked =
        base::Run(store::Exists(*session, "alerts/service_id:2/app_id:app/80/already_notified"))
            .value();
    return marked == (EventCount(world) == 1);
  };
  ExpectBrokenByDefaultAndKeptWhenHardened(holds);
}

// docs/systems/threescale.md H5 and H9: every counter of a minute or a day has a TTL.
TEST(CounterInvariant, LeavesNoMinuteAndNoDayForEver) {
  const sim::ScheduleExperiment holds = [](uint64_t seed, bool hardened) {
    const AggregatorOptions options{.hardening = {.expire_atomically = hardened}};
    World world(WorldOf(seed));
    Cast cast(world);
    for (const char* name : {"one", "two"}) {
      cast.Spawn(name, [&, name](Process process) -> Task<void> {
        std::vector<CountedTransaction> hits;
        hits.push_back({"2", name, process.clock.Now(), {{"6", "1"}}, ""});
        (co_await Aggregator(process, options).Aggregate(std::move(hits))).IgnoreError();
      });
    }
    cast.RunWithADeath(seed, /*latest_step=*/44);
    const auto session = world.Connect();
    const std::vector<std::string> keys = base::Run(store::ScanAll(*session)).value();
    for (const std::string& key : keys) {
      const bool must_expire =
          key.find("/minute:") != key.npos || key.starts_with("daily_traffic/");
      if (must_expire && !base::Run(store::TimeToLive(*session, key)).value().expires())
        return false;
    }
    return true;
  };
  ExpectBrokenByDefaultAndKeptWhenHardened(holds);
}

// docs/systems/threescale.md I3: the notifications that were sent and those that still wait are
// those that were pushed.
TEST(NotificationInvariant, CountsEveryNotificationOnce) {
  const sim::ScheduleExperiment holds = [](uint64_t seed, bool hardened) {
    NotifierOptions options{.master_service_id = "1", .batch_size = 2};
    options.hardening.take_notifications_atomically = hardened;
    InProcessJobQueue queue;
    World world(WorldOf(seed));
    Cast cast(world);
    constexpr int kEach = 3;
    for (const char* name : {"one", "two", "three"}) {
      cast.Spawn(name, [&](Process process) -> Task<void> {
        Notifier notifier(process, queue, options);
        const Notification once{.transactions = 1};
        for (int i = 0; i < kEach; ++i) {
          (co_await notifier.Notify("pkey", once)).IgnoreError();
        }
      });
    }
    world.Run();
    const auto session = world.Connect();
    int64_t sum = base::Run(store::LLen(*session, "notify/aggregator/batch")).value();
    while (const std::optional<Job> job = queue.Pop()) {
      const auto& notify = std::get<NotifyJob>(*job);
      sum += static_cast<int64_t>(AmountOf(*FindUsage(notify.usage, "transactions")));
    }
    return sum == 3 * kEach;
  };
  ExpectBrokenByDefaultAndKeptWhenHardened(holds);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
