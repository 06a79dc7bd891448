// Checks docs/systems/relayna.md I1, I7, I8, I9 and I10, each under 10,000 random schedules: the
// documented behavior violates the invariant under some of them, the hardened option under none.
//
// A schedule is a seed: it decides whose command is next, and, in tests with crashes, which process
// crashes after which step. A failure prints its seed; the same seed repeats the run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/relayna/observation_store.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/relayna/workflow_contract_store.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/sim/world/world.h"
#include "redouble/tests/property/hardened_schedules.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::Task;
using python::Object;
using python::Value;
using sim::Actor;
using sim::ExpectBrokenByDefaultAndKeptWhenHardened;
using sim::World;
using sim::WorldOf;

bool AllEnded(const World& world) {
  return std::all_of(world.actors().begin(), world.actors().end(),
                     [](const auto& actor) { return actor->done() || actor->crashed(); });
}

// Runs the world to its end; the seed decides which process crashes after which step, if any.
void RunWithADeath(World& world, uint64_t seed) {
  constexpr uint64_t kLatestStep = 12;
  base::Rng rng(seed);
  Actor& victim = *world.actors()[rng.Below(world.actors().size())];
  const uint64_t last_step = rng.Below(kLatestStep);
  for (uint64_t step = 0; !AllEnded(world) && world.Step(); ++step) {
    if (step == last_step && !victim.done()) world.Crash(victim);
  }
}

Value EventOf(int number) {
  return Object({{"task_id", "t1"},
                 {"status", "running"},
                 {"event_id", "e" + std::to_string(number)},
                 {"timestamp", python::FormatIso(absl::FromUnixSeconds(1767268800 + number))}});
}

bool Exists(World& world, std::string_view key) {
  const auto session = world.Connect();
  return base::Run(store::Exists(*session, key)).value();
}

std::vector<std::string> ListOf(World& world, std::string_view key) {
  const auto session = world.Connect();
  return base::Run(store::LRange(*session, key, 0, -1)).value();
}

// Returns true if an element of the list contains the event's id.
bool Lists(World& world, std::string_view key, const std::string& event_id) {
  const std::vector<std::string> elements = ListOf(world, key);
  return std::any_of(elements.begin(), elements.end(), [&](const std::string& element) {
    return element.find("\"" + event_id + "\"") != element.npos;
  });
}

constexpr int kWriters = 2;

// I1: if a marker exists, its event is in the history (nothing is evicted here).
bool MarkersHaveStatusEvents(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  for (int i = 0; i < kWriters; ++i) {
    world.Spawn("writer", [i, hardened](Actor& actor) -> Task<void> {
      StatusStore statuses(actor.store(), {.hardening = {.atomic_events = hardened}});
      const Value event = EventOf(i);
      (void)co_await statuses.SetHistory("t1", event);
    });
  }
  RunWithADeath(world, seed);
  for (int i = 0; i < kWriters; ++i) {
    const std::string id = "e" + std::to_string(i);
    if (Exists(world, "task:event:t1:" + id) && !Lists(world, "task:history:t1", id)) return false;
  }
  return true;
}

TEST(RelaynaInvariants, I1AMarkerHasItsStatusEvent) {
  ExpectBrokenByDefaultAndKeptWhenHardened(MarkersHaveStatusEvents);
}

// I1 for observations, whose markers are hashes: there are as many markers as observations.
bool MarkersHaveObservations(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  for (int i = 0; i < kWriters; ++i) {
    world.Spawn("observer", [i, hardened](Actor& actor) -> Task<void> {
      ObservationStore observations(actor.store(), {.hardening = {.atomic_events = hardened}});
      const Observation observation = {"Seen", Object({{"task_id", "t1"}, {"number", i}})};
      (void)co_await observations.SetEvent(observation);
    });
  }
  RunWithADeath(world, seed);
  const auto session = world.Connect();
  const auto markers = base::Run(store::Keys(*session, "*:event:*")).value();
  return markers.size() == ListOf(world, "relayna-observations:history:t1").size();
}

TEST(RelaynaInvariants, I1AMarkerHasItsObservation) {
  ExpectBrokenByDefaultAndKeptWhenHardened(MarkersHaveObservations);
}

// I1 for the feed.
bool MarkersHaveFeedItems(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  for (int i = 0; i < kWriters; ++i) {
    world.Spawn("writer", [i, hardened](Actor& actor) -> Task<void> {
      ServiceEventFeed feed(actor.store(), {.hardening = {.atomic_events = hardened}});
      const Value event = EventOf(i);
      (void)co_await feed.AddStatusEvent(event);
    });
  }
  RunWithADeath(world, seed);
  for (int i = 0; i < kWriters; ++i) {
    const std::string id = "e" + std::to_string(i);
    if (Exists(world, "relayna-service-events:event:" + id) &&
        !Lists(world, "relayna-service-events:feed", id)) {
      return false;
    }
  }
  return true;
}

TEST(RelaynaInvariants, I1AMarkerHasItsFeedItem) {
  ExpectBrokenByDefaultAndKeptWhenHardened(MarkersHaveFeedItems);
}

// Records which actors believe that they hold a lock or marker: from their claim until they release
// it or its TTL is over.
class Holders {
 public:
  explicit Holders(absl::Duration ttl) : ttl_(ttl) {}

  void Claim(const std::string& name, absl::Time now) {
    for (const auto& [other, since] : held_) {
      // A key still exists at its deadline.
      if (other != name && now <= since + ttl_) two_at_once_ = true;
    }
    held_[name] = now;
  }
  void LetGo(const std::string& name) { held_.erase(name); }
  bool two_at_once() const { return two_at_once_; }

 private:
  const absl::Duration ttl_;
  std::map<std::string, absl::Time> held_;
  bool two_at_once_ = false;
};

constexpr int kContenders = 3;
constexpr int kRounds = 3;

absl::Duration UpTo(Actor& actor, int64_t seconds) {
  return absl::Seconds(static_cast<int64_t>(actor.rng().Below(seconds)));
}

// I7 for the replay lock: some replays take longer than the 30 s of the lock's TTL.
bool ReplayLocksHaveOneHolder(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  Holders holders(absl::Seconds(kReplayLockTtlSeconds));
  {
    const auto session = world.Connect();
    DlqRecord record;
    record.dlq_id = "d1";
    record.dead_lettered_at = world.clock().Now();
    DlqStore dlq(*session);
    EXPECT_THAT(base::Run(dlq.Add(record)), IsOk());
  }
  for (int i = 0; i < kContenders; ++i) {
    world.Spawn("replayer" + std::to_string(i), [&, hardened](Actor& actor) -> Task<void> {
      DlqOptions options;
      if (hardened) options.hardening.owner_token = actor.name();
      DlqStore dlq(actor.store(), std::move(options));
      for (int round = 0; round < kRounds; ++round) {
        co_await actor.clock().Sleep(UpTo(actor, 20));
        const auto claimed = co_await dlq.ClaimReplay("d1", /*force=*/true);
        if (!claimed.ok()) continue;
        holders.Claim(actor.name(), actor.clock().Now());
        co_await actor.clock().Sleep(UpTo(actor, 45));
        holders.LetGo(actor.name());
        (void)co_await dlq.ReleaseReplayClaim("d1");
      }
    });
  }
  EXPECT_EQ(world.Run().end, sim::RunEnd::kDone);
  return !holders.two_at_once();
}

TEST(RelaynaInvariants, I7AReplayLockHasOneHolder) {
  ExpectBrokenByDefaultAndKeptWhenHardened(ReplayLocksHaveOneHolder);
}

WorkflowContract Contract() {
  return {.stage = "ocr",
          .task_id = "t1",
          .action = "x",
          .payload = Object({{"doc", "D1"}}),
          .dedup_key_fields = {"doc"}};
}

// I7 for the deduplication marker: some handlers take longer than its TTL.
bool DedupMarkersHaveOneHolder(uint64_t seed, bool hardened) {
  constexpr int64_t kTtlSeconds = 30;
  World world(WorldOf(seed));
  Holders holders{absl::Seconds(kTtlSeconds)};
  for (int i = 0; i < kContenders; ++i) {
    world.Spawn("consumer" + std::to_string(i), [&, hardened](Actor& actor) -> Task<void> {
      WorkflowContractOptions options;
      options.ttl_seconds = kTtlSeconds;
      if (hardened) options.hardening.owner_token = actor.name();
      WorkflowContractStore contracts(actor.store(), std::move(options));
      const WorkflowContract contract = Contract();
      for (int round = 0; round < kRounds; ++round) {
        co_await actor.clock().Sleep(UpTo(actor, 20));
        const auto acquired = co_await contracts.AcquireDedup(contract);
        if (!acquired.ok() || !*acquired) continue;
        holders.Claim(actor.name(), actor.clock().Now());
        (void)co_await contracts.MarkInflight(contract);
        co_await actor.clock().Sleep(UpTo(actor, 45));
        holders.LetGo(actor.name());
        (void)co_await contracts.ClearInflight(contract);
        (void)co_await contracts.ReleaseDedup(contract);
      }
    });
  }
  EXPECT_EQ(world.Run().end, sim::RunEnd::kDone);
  return !holders.two_at_once();
}

TEST(RelaynaInvariants, I7ADedupMarkerHasOneHolder) {
  ExpectBrokenByDefaultAndKeptWhenHardened(DedupMarkersHaveOneHolder);
}

// I8: the head of the history has the latest timestamp.
bool HeadIsTheLatest(uint64_t seed, bool hardened) {
  constexpr int kWorkers = 3;
  World world(WorldOf(seed));
  for (int i = 0; i < kWorkers; ++i) {
    world.Spawn("worker", [i, hardened](Actor& actor) -> Task<void> {
      StatusStore statuses(actor.store(), {.hardening = {.newest_first = hardened}});
      const Value event = EventOf(i);
      EXPECT_TRUE((co_await statuses.SetHistory("t1", event)).ok());
    });
  }
  EXPECT_EQ(world.Run().end, sim::RunEnd::kDone);
  const std::vector<std::string> history = ListOf(world, "task:history:t1");
  EXPECT_EQ(history.size(), static_cast<size_t>(kWorkers));
  return history.front() == *python::PyJson(EventOf(kWorkers - 1));
}

TEST(RelaynaInvariants, I8TheHeadOfAHistoryIsTheLatest) {
  ExpectBrokenByDefaultAndKeptWhenHardened(HeadIsTheLatest);
}

// I9: every key with a TTL rule has a TTL.
bool KeysHaveATimeToLive(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  for (int i = 0; i < kWriters; ++i) {
    world.Spawn("consumer" + std::to_string(i), [hardened](Actor& actor) -> Task<void> {
      StatusStore statuses(actor.store(), {.hardening = {.atomic_events = hardened}});
      WorkflowContractOptions options;
      if (hardened) options.hardening.owner_token = actor.name();
      WorkflowContractStore contracts(actor.store(), std::move(options));
      const WorkflowContract contract = Contract();
      const Value event = EventOf(actor.index());
      const auto acquired = co_await contracts.AcquireDedup(contract);
      if (!acquired.ok() || !*acquired) co_return;
      (void)co_await contracts.MarkInflight(contract);
      (void)co_await statuses.SetHistory("t1", event);
    });
  }
  RunWithADeath(world, seed);
  const auto session = world.Connect();
  const auto keys = base::Run(store::Keys(*session, "*")).value();
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return base::Run(store::TimeToLive(*session, key)).value().expires();
  });
}

TEST(RelaynaInvariants, I9EveryKeyHasItsTimeToLive) {
  ExpectBrokenByDefaultAndKeptWhenHardened(KeysHaveATimeToLive);
}

// I10: the feed contains every status event that is in a history.
bool FeedHasEveryStatusEvent(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  for (int i = 0; i < kWriters; ++i) {
    world.Spawn("writer", [i, hardened](Actor& actor) -> Task<void> {
      ServiceEventFeed feed(actor.store());
      StatusStore statuses(actor.store(),
                           {.feed = &feed, .hardening = {.atomic_events = hardened}});
      const Value event = EventOf(i);
      (void)co_await statuses.SetHistory("t1", event);
    });
  }
  RunWithADeath(world, seed);
  for (int i = 0; i < kWriters; ++i) {
    const std::string id = "e" + std::to_string(i);
    if (Lists(world, "task:history:t1", id) && !Lists(world, "relayna-service-events:feed", id)) {
      return false;
    }
  }
  return true;
}

TEST(RelaynaInvariants, I10TheFeedHasEveryStatusEvent) {
  ExpectBrokenByDefaultAndKeptWhenHardened(FeedHasEveryStatusEvent);
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
