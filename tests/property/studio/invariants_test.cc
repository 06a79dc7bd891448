// Checks docs/systems/studio.md I1 to I6 and I9, each under 10,000 random schedules: the documented
// behavior violates the invariant under some of them, the hardened option under none.
//
// I6 (every listed id has a document unless its TTL is over) is violated in the search index, where
// the document and the list are written separately. In the lists of events neither I6 nor I9 (every
// key has its TTL) is violated under any schedule: an insert writes the document with its TTL
// before the transaction that lists it; documents are removed only by expiry; and the transaction
// sets the EXPIRE of each key that it writes. What does go wrong there are other hazards: documents
// that expire before their lists (docs/systems/studio.md E6) or are evicted (S4), which I6
// excludes; I9 for the hash of a workflow (docs/systems/relayna.md W3) is tested in
// tests/property/relayna.
//
// A schedule is a seed: it decides whose command is next and, in tests with crashes, which process
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
#include "redouble/core/python/value.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/studio/events/event_order.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/keys.h"
#include "redouble/core/studio/registry/registry_store.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/core/studio/search/search_store.h"
#include "redouble/sim/world/world.h"
#include "redouble/tests/property/hardened_schedules.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::Task;
using sim::Actor;
using sim::ExpectBrokenByDefaultAndKeptWhenHardened;
using sim::World;
using sim::WorldOf;

Hardening AllOrNothing(bool hardened) {
  return {.atomic_registry = hardened,
          .atomic_event_insert = hardened,
          .atomic_search_documents = hardened};
}

bool AllEnded(const World& world) {
  return std::all_of(world.actors().begin(), world.actors().end(),
                     [](const auto& actor) { return actor->done() || actor->crashed(); });
}

// Runs the world to its end; the seed decides which process crashes after which step, if any.
void RunWithADeath(World& world, uint64_t seed) {
  constexpr uint64_t kLatestStep = 14;
  base::Rng rng(seed);
  Actor& victim = *world.actors()[rng.Below(world.actors().size())];
  const uint64_t last_step = rng.Below(kLatestStep);
  for (uint64_t step = 0; !AllEnded(world) && world.Step(); ++step) {
    if (step == last_step && !victim.done()) world.Crash(victim);
  }
}

ServiceRecord Service(const std::string& id, const std::string& url) {
  ServiceRecord record;
  record.service_id = id;
  record.name = id;
  record.base_url = url;
  record.environment = "prod";
  record.auth_mode = "none";
  return record;
}

RegistryStore Registry(store::Store& store, bool hardened) {
  return RegistryStore(store, {.hardening = AllOrNothing(hardened)});
}

void Register(World& world, const std::string& id, const std::string& url) {
  const auto session = world.Connect();
  RegistryStore registry(*session);
  ASSERT_THAT(base::Run(registry.Create(Service(id, url))), IsOk());
}

void SpawnMove(World& world, const std::string& id, const std::string& url, bool hardened) {
  world.Spawn("move " + id, [=](Actor& actor) -> Task<void> {
    RegistryStore registry = Registry(actor.store(), hardened);
    const ServiceRecord record = Service(id, url);
    (void)co_await registry.Update(record);
  });
}

void SpawnDelete(World& world, const std::string& id, bool hardened) {
  world.Spawn("delete " + id, [=](Actor& actor) -> Task<void> {
    RegistryStore registry = Registry(actor.store(), hardened);
    (void)co_await registry.Delete(id);
  });
}

std::vector<std::string> Keys(World& world, std::string_view pattern) {
  const auto session = world.Connect();
  return base::Run(store::Keys(*session, pattern)).value();
}

std::optional<std::string> ValueOf(World& world, const std::string& key) {
  const auto session = world.Connect();
  return base::Run(store::Get(*session, key)).value();
}

// I2: each pair refers to the record that has it, and each record has its pair.
bool PairsAndRecordsAgree(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  Register(world, "a", "http://a.test");
  Register(world, "b", "http://b.test");
  SpawnMove(world, "a", "http://x.test", hardened);
  SpawnMove(world, "b", "http://x.test", hardened);
  SpawnDelete(world, "a", hardened);
  world.Run();
  const RegistryKeys keys;
  size_t records = 0;
  for (const std::string id : {"a", "b"}) {
    const std::optional<std::string> json = ValueOf(world, keys.Record(id));
    if (!json) continue;
    ++records;
    const ServiceRecord record = *ParseServiceRecord(*json);
    const std::string pair = keys.EnvironmentUrl(record.environment, record.base_url);
    if (ValueOf(world, pair) != id) return false;
  }
  return Keys(world, "studio:services:by-env-url:*").size() == records;
}

TEST(StudioInvariants, I2APairNamesTheRecordThatHasIt) {
  ExpectBrokenByDefaultAndKeptWhenHardened(PairsAndRecordsAgree);
}

// I3: the set of ids contains exactly the ids of the records.
bool IdsAndRecordsAgree(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  Register(world, "a", "http://a.test");
  SpawnMove(world, "a", "http://x.test", hardened);
  SpawnDelete(world, "a", hardened);
  world.Spawn("create", [=](Actor& actor) -> Task<void> {
    RegistryStore registry = Registry(actor.store(), hardened);
    const ServiceRecord record = Service("b", "http://b.test");
    (void)co_await registry.Create(record);
  });
  RunWithADeath(world, seed);
  const RegistryKeys keys;
  const auto session = world.Connect();
  for (const std::string id : {"a", "b"}) {
    const bool listed = base::Run(store::SIsMember(*session, keys.All(), id)).value();
    if (listed != ValueOf(world, keys.Record(id)).has_value()) return false;
  }
  return true;
}

TEST(StudioInvariants, I3TheSetOfIdsNamesTheRecordsThatAreThere) {
  ExpectBrokenByDefaultAndKeptWhenHardened(IdsAndRecordsAgree);
}

TaskDocument Document(const std::string& status) {
  TaskDocument document;
  document.service_id = "a";
  document.service_name = "A";
  document.environment = "prod";
  document.task_id = "t1";
  document.status = status;
  document.detail_path = "/studio/tasks/a/t1";
  return document;
}

SearchStore Documents(store::Store& store, bool hardened) {
  return SearchStore(store, {.hardening = AllOrNothing(hardened)});
}

// I4: a document is in the set of a status exactly if it has that status.
bool StatusSetsAndDocumentsAgree(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  {
    const auto session = world.Connect();
    SearchStore documents(*session);
    EXPECT_THAT(base::Run(documents.SetTaskDocument(Document("queued"))), IsOk());
  }
  for (const char* status : {"running", "failed"}) {
    world.Spawn(status, [status, hardened](Actor& actor) -> Task<void> {
      SearchStore documents = Documents(actor.store(), hardened);
      const TaskDocument document = Document(status);
      (void)co_await documents.SetTaskDocument(document);
    });
  }
  RunWithADeath(world, seed);
  const std::string id = TaskDocumentId({"a", "t1"});
  const auto session = world.Connect();
  SearchStore documents(*session);
  const std::optional<TaskDocument> document = base::Run(documents.GetTaskDocument(id)).value();
  for (const char* status : {"queued", "running", "failed"}) {
    const auto ids = base::Run(documents.TaskIdsWith("status", status)).value();
    if ((document && document->status == status) != !ids.empty()) return false;
  }
  return true;
}

TEST(StudioInvariants, I4ADocumentIsInTheSetsOfItsValues) {
  ExpectBrokenByDefaultAndKeptWhenHardened(StatusSetsAndDocumentsAgree);
}

EventEnvelope Event(int number) {
  EventEnvelope envelope;
  envelope.service_id = "a";
  envelope.event.cursor = "e" + std::to_string(number);
  envelope.event.task_id = "t1";
  envelope.event.event_type = "status.running";
  envelope.event.event_id = envelope.event.cursor;
  envelope.event.timestamp = "2026-01-01T10:00:0" + std::to_string(number) + "Z";
  envelope.event.payload = python::Object();
  return envelope;
}

constexpr int kInserts = 3;

void SpawnInserts(World& world, bool hardened) {
  for (int number = 0; number < kInserts; ++number) {
    world.Spawn("insert", [number, hardened](Actor& actor) -> Task<void> {
      EventStore events(actor.store(), {.hardening = AllOrNothing(hardened)});
      const EventEnvelope envelope = Event(number);
      (void)co_await events.InsertEvent(envelope, actor.clock().Now());
    });
  }
}

// I5: latest timestamps never decrease.
bool LatestTimestampsAreMonotone(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  SpawnInserts(world, hardened);
  const EventKeys keys;
  std::optional<std::string> latest;
  while (!AllEnded(world) && world.Step()) {
    std::optional<std::string> now = ValueOf(world, keys.TaskLatestTimestamp({"a", "t1"}));
    if (latest && (!now || IsEarlier(*now, *latest))) return false;
    latest = std::move(now);
  }
  return true;
}

TEST(StudioInvariants, I5LatestTimestampsNeverGoBack) {
  ExpectBrokenByDefaultAndKeptWhenHardened(LatestTimestampsAreMonotone);
}

std::vector<std::string> History(World& world) {
  const auto session = world.Connect();
  const std::string key = EventKeys().TaskHistory({"a", "t1"});
  return base::Run(store::LRange(*session, key, 0, -1)).value();
}

// I1 for events, whose documents are their markers: each document is in its list.
bool DocumentsAreListed(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  SpawnInserts(world, hardened);
  RunWithADeath(world, seed);
  return Keys(world, "studio:events:event:*").size() == History(world).size();
}

TEST(StudioInvariants, I1ADocumentOfAnEventIsNamedByItsList) {
  ExpectBrokenByDefaultAndKeptWhenHardened(DocumentsAreListed);
}

// I6 and I9 for events, for both ways of inserting: slow inserters, some slower than a document's
// TTL, and one that may crash.
TEST(StudioInvariants, I6AndI9OfEventsHoldUnderAnySchedule) {
  constexpr int64_t kTtlSeconds = 30;
  uint64_t expired = 0;
  for (uint64_t seed = 0; seed < sim::kSchedules; ++seed) {
    const bool hardened = seed % 2 == 1;
    World world(WorldOf(seed));
    std::map<std::string, absl::Time> begun;
    for (int number = 0; number < kInserts; ++number) {
      world.Spawn("insert", [&, number, hardened](Actor& actor) -> Task<void> {
        EventStore events(actor.store(),
                          {.ttl_seconds = kTtlSeconds, .hardening = AllOrNothing(hardened)});
        const auto pause = static_cast<int64_t>(actor.rng().Below(2 * kTtlSeconds));
        co_await actor.clock().Sleep(absl::Seconds(pause));
        const EventEnvelope envelope = Event(number);
        begun[*DedupeKey(envelope.service_id, envelope.event)] = actor.clock().Now();
        (void)co_await events.InsertEvent(envelope, actor.clock().Now());
      });
    }
    RunWithADeath(world, seed);
    const EventKeys keys;
    for (const std::string& id : History(world)) {
      if (ValueOf(world, keys.Event({"a", id})).has_value()) continue;
      ASSERT_GE(world.clock().Now(), begun.at(id) + absl::Seconds(kTtlSeconds)) << "seed " << seed;
      ++expired;
    }
    const auto session = world.Connect();
    for (const std::string& key : Keys(world, "studio:events:*")) {
      ASSERT_THAT(base::Run(store::TtlSeconds(*session, key)), IsOkAndHolds(testing::Ge(0)))
          << key << ", seed " << seed;
    }
  }
  EXPECT_GT(expired, 0u) << "some lists outlived a document";
}

// I6 for the search index: a listed task has its document, whose TTL is a day here.
bool ListedTasksHaveDocuments(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  {
    const auto session = world.Connect();
    SearchStore documents(*session);
    EXPECT_THAT(base::Run(documents.SetTaskDocument(Document("queued"))), IsOk());
  }
  const std::string id = TaskDocumentId({"a", "t1"});
  world.Spawn("upsert", [hardened](Actor& actor) -> Task<void> {
    SearchStore documents = Documents(actor.store(), hardened);
    const TaskDocument document = Document("running");
    (void)co_await documents.SetTaskDocument(document);
  });
  world.Spawn("purge", [id, hardened](Actor& actor) -> Task<void> {
    SearchStore documents = Documents(actor.store(), hardened);
    (void)co_await documents.DeleteTaskDocument(id);
  });
  RunWithADeath(world, seed);
  const auto session = world.Connect();
  SearchStore documents(*session);
  const std::vector<std::string> listed = base::Run(documents.TaskIds()).value();
  return listed.empty() || ValueOf(world, SearchKeys().TaskDocument(id)).has_value();
}

TEST(StudioInvariants, I6ATaskThatIsListedHasItsDocument) {
  ExpectBrokenByDefaultAndKeptWhenHardened(ListedTasksHaveDocuments);
}

// S2: a prune does not delete a document that an event has just refreshed.
bool FreshDocumentsSurviveThePrune(uint64_t seed, bool hardened) {
  World world(WorldOf(seed));
  {
    const auto session = world.Connect();
    SearchStore documents(*session);
    TaskDocument expired = Document("queued");
    expired.expires_at = "2020-01-01T00:00:00Z";
    EXPECT_THAT(base::Run(documents.SetTaskDocument(expired)), IsOk());
  }
  world.Spawn("prune", [hardened](Actor& actor) -> Task<void> {
    SearchStore documents = Documents(actor.store(), hardened);
    SearchIndex index(documents, {});
    (void)co_await index.PruneExpired(actor.clock().Now());
  });
  world.Spawn("upsert", [hardened](Actor& actor) -> Task<void> {
    SearchStore documents = Documents(actor.store(), hardened);
    SearchIndex index(documents, {});
    const ServiceRecord service = Service("a", "http://a.test");
    ControlPlaneEvent event;
    event.event = Event(1).event;
    event.ingested_at = "2026-01-01T10:00:00+00:00";
    (void)co_await index.UpsertTaskDocument(service, event, actor.clock().Now());
  });
  world.Run();
  return ValueOf(world, SearchKeys().TaskDocument(TaskDocumentId({"a", "t1"}))).has_value();
}

TEST(StudioInvariants, S2ADocumentThatLivesOnIsNotPruned) {
  ExpectBrokenByDefaultAndKeptWhenHardened(FreshDocumentsSurviveThePrune);
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
