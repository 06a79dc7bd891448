// Counts the round trips of Studio's operations (docs/systems/studio.md 4.20).
#include "redouble/studio.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>

#include "absl/time/time.h"
#include "redouble/tests/round_trips/round_trips_for_test.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::tests {
namespace {

// A service whose feed has one event.
class OneEvent final : public studio::FeedSource {
 public:
  base::Task<absl::StatusOr<studio::FeedPage>> Fetch(std::string_view,
                                                     studio::FeedRequest) override {
    studio::FeedPage page;
    page.items.push_back(studio::Event("e9", "2026-05-09T14:09:00Z").event);
    co_return page;
  }
};

class StudioRoundTrips : public RoundTrips {
 protected:
  // A Studio on an empty server, with the service a.
  void Begin(studio::Hardening hardening = {}) {
    Prepare(store::FlushAll(store_));
    studio::StudioSettings settings;
    settings.push_ingest_enabled = true;
    settings.hardening = hardening;
    studio_ =
        studio::Studio::Create(store_, clock_, {capabilities_, workers_, feed_}, settings).value();
    Prepare(studio_->registry().CreateService(Service("a")));
  }
  python::Value Service(const std::string& id) const {
    return python::Object({{"service_id", id},
                           {"name", "A"},
                           {"base_url", "http://" + id + ".test"},
                           {"environment", "prod"},
                           {"auth_mode", "none"}});
  }
  auto Push(const studio::EventEnvelope& event) {
    return studio_->Push(std::span<const studio::EventEnvelope>(&event, 1));
  }

  void CountServices();
  void CountEvents();
  void CountHealth();
  void CountSearch();
  void CountHardened();
  void CountRecords(studio::Hardening hardening);
  void CountDocuments(studio::Hardening hardening);
  void CountSweeps();

  studio::FixedCapabilities capabilities_;
  studio::FixedWorkers workers_;
  OneEvent feed_;
  const studio::EventEnvelope event_ = studio::Event("e1", "2026-05-09T14:00:00Z");
  std::unique_ptr<studio::Studio> studio_;
};

void StudioRoundTrips::CountServices() {
  Begin();
  studio::Registry& registry = studio_->registry();
  Count("create a service", [&] { return base::Run(registry.CreateService(Service("b"))); });
  Count("read a service", [&] { return base::Run(registry.GetService("a")); });
  Count("list two services", [&] { return base::Run(registry.ListServices()); });
  Count("read a service with its health", [&] { return base::Run(studio_->GetService("a")); });
  Count("list two services with their health", [&] { return base::Run(studio_->ListServices()); });
  const python::Value changes = python::Object({{"name", "New"}});
  Count("update a service without tasks",
        [&] { return base::Run(registry.UpdateService("a", changes)); });
  capabilities_.response = {.http_status = 200,
                            .body = studio::CapabilitiesWith("\"events.feed\"")};
  Count("fetch the capabilities of a service",
        [&] { return base::Run(registry.FetchCapabilities("a")); });
  const python::Value document = studio::Json(studio::CapabilitiesWith(""));
  Count("store the capabilities of a service without tasks", [&] {
    return base::Run(registry.StoreCapabilities("a", document, {.now = clock_.Now()}));
  });
  Count("refresh a service without tasks",
        [&] { return base::Run(registry.RefreshService("a", clock_.Now())); });
  Prepare(registry.CreateService(Service("c")));
  Prepare(Push(event_));
  Count("update a service with one task",
        [&] { return base::Run(registry.UpdateService("a", changes)); });
  Count("delete a service with one task", [&] { return base::Run(registry.DeleteService("a")); });
  Count("refresh a service without tasks, and its health",
        [&] { return base::Run(studio_->RefreshService("b")); });
}

void StudioRoundTrips::CountEvents() {
  Begin();
  studio::EventStore& events = studio_->events();
  Count("ingest the first event of a task", [&] { return base::Run(Push(event_)); });
  const studio::EventEnvelope next = studio::Event("e2", "2026-05-09T14:00:01Z");
  Count("ingest a later event of a task", [&] { return base::Run(Push(next)); });
  Count("ingest a duplicate", [&] { return base::Run(Push(event_)); });
  const studio::EventEnvelope third = studio::Event("e3", "2026-05-09T14:00:02Z");
  Count("insert an event", [&] { return base::Run(events.InsertEvent(third, clock_.Now())); });
  const studio::TaskName task = {.service_id = "a", .task_id = "t1"};
  Count("read a stored event", [&] { return base::Run(events.GetEvent(third)); });
  Count("list three events", [&] { return base::Run(events.ListServiceEvents("a")); });
  Count("list three events", [&] { return base::Run(events.ListTaskEvents(task)); });
  Count("list three events of a registered service",
        [&] { return base::Run(studio_->ingest().ListServiceEvents("a", {}, {})); });
  Count("list three events of a registered service",
        [&] { return base::Run(studio_->ingest().ListTaskEvents(task, {})); });
  Count("read the activity of a service",
        [&] { return base::Run(events.GetActivitySnapshot("a")); });
  Count("read or write a pull cursor", [&] { return base::Run(events.GetPullCursor("a")); });
  Count("read or write a pull cursor", [&] { return base::Run(events.SetPullCursor("a", "e3")); });
  const studio::ServiceRecord service = base::Run(studio_->registry().GetService("a")).value();
  Count("pull one event of a task",
        [&] { return base::Run(studio_->pull_sync().SyncService(service, clock_)); });
  Count("delete unused keys of events, none in one page of keys",
        [&] { return base::Run(events.DeleteUnused(absl::Hours(1))); });
}

void StudioRoundTrips::CountHealth() {
  Begin();
  capabilities_.response = {.http_status = 200,
                            .body = studio::CapabilitiesWith("\"events.feed\"")};
  studio::HealthService& health = studio_->health();
  Count("read the health of a service",
        [&] { return base::Run(health.GetHealth("a", clock_.Now())); });
  studio::HealthStore documents(store_);
  const studio::HealthDocument document;
  const std::string one = "read or write a health document";
  Count(one, [&] { return base::Run(documents.SetHealth("b", document)); });
  Count(one, [&] { return base::Run(documents.GetHealth("b")); });
  Count("refresh the health of a service without tasks",
        [&] { return base::Run(health.RefreshHealth("a", clock_.Now())); });
  Count("refresh the health of all services, of which there is one",
        [&] { return base::Run(health.RefreshAll(clock_.Now())); });
  Prepare(studio_->registry().RefreshService("a", clock_.Now()));
  Count("pull one event of all services, of which there is one",
        [&] { return base::Run(studio_->pull_sync().SyncAll(clock_)); });
}

void StudioRoundTrips::CountSearch() {
  Begin();
  Prepare(Push(event_));
  studio::EventEnvelope of_another_task = studio::Event("e2", "2026-05-09T14:00:01Z");
  of_another_task.event.task_id = "t2";
  Prepare(Push(of_another_task));
  Prepare(studio_->registry().CreateService(Service("b")));
  studio::SearchIndex& search = studio_->search();
  Count("start with an index", [&] { return base::Run(studio_->Start()); });
  studio::TaskQuery tasks;
  tasks.service_id = "a";
  Count("search tasks, of which two are found",
        [&] { return base::Run(search.SearchTasks(tasks, clock_.Now())); });
  studio::ServiceQuery services;
  services.environment = "prod";
  Count("search services, of which two are found",
        [&] { return base::Run(search.SearchServices(services)); });
  Count("prune, nothing of two tasks",
        [&] { return base::Run(search.PruneExpired(clock_.Now())); });
  const studio::ServiceRecord service = base::Run(studio_->registry().GetService("a")).value();
  const studio::ControlPlaneEvent event =
      base::Run(studio_->events().ListServiceEvents("a")).value().items.front();
  Count("index an event of a known task",
        [&] { return base::Run(search.UpsertTaskDocument(service, event, clock_.Now())); });
  Count("index an event of a known task",
        [&] { return base::Run(search.UpsertMissedEvent(service, event, clock_.Now())); });
  Count("index a service with two tasks",
        [&] { return base::Run(search.UpsertServiceDocument(service, "healthy")); });
  Count("remove a service with two tasks from the index",
        [&] { return base::Run(search.DeleteTaskDocumentsOfService("a")); });
  Count("remove a service from the index",
        [&] { return base::Run(search.DeleteServiceDocument("a")); });
}

// All options that make one script of several round trips.
void StudioRoundTrips::CountHardened() {
  Begin({.atomic_registry = true, .atomic_event_insert = true, .atomic_search_documents = true});
  const std::string hardened = ", hardened";
  Count("create a service" + hardened,
        [&] { return base::Run(studio_->registry().CreateService(Service("b"))); });
  Count("ingest the first event of a task" + hardened, [&] { return base::Run(Push(event_)); });
  Count("ingest a duplicate" + hardened, [&] { return base::Run(Push(event_)); });
  Count("delete a service with one task" + hardened,
        [&] { return base::Run(studio_->registry().DeleteService("a")); });

  Begin({.atomic_event_insert = true,
         .index_duplicates = true,
         .registered_services_only = true,
         .sweep_task_sets = true});
  Prepare(Push(event_));
  Count("ingest a duplicate, hardened and `index_duplicates`",
        [&] { return base::Run(Push(event_)); });
  studio::EventEnvelope of_another_task = studio::Event("e2", "2026-05-09T14:00:01Z");
  of_another_task.event.task_id = "t2";
  Prepare(Push(of_another_task));
  Count("prune, nothing of two tasks, `sweep_task_sets`",
        [&] { return base::Run(studio_->search().PruneExpired(clock_.Now())); });
  Begin({.sweep_deleted_services = true});
  Prepare(Push(event_));
  Prepare(Push(of_another_task));
  Count("prune, nothing of two tasks, `sweep_deleted_services`",
        [&] { return base::Run(studio_->search().PruneExpired(clock_.Now())); });
  studio::HealthStore documents(store_, {.hardening = {.registered_services_only = true}});
  const studio::HealthDocument document;
  Count("write a health document, `registered_services_only`",
        [&] { return base::Run(documents.SetHealth("a", document)); });
}

// The operations of RegistryStore.
void StudioRoundTrips::CountRecords(studio::Hardening hardening) {
  Begin(hardening);
  const std::string option = hardening.atomic_registry ? ", `atomic_registry`" : "";
  studio::RegistryStore records(store_, {.hardening = hardening});
  const studio::ServiceRecord record = studio::Service("b", "http://b.test");
  Count("add a record" + option, [&] { return base::Run(records.Create(record)); });
  Count("replace a record" + option, [&] { return base::Run(records.Update(record)); });
  Count("change a record" + option, [&] {
    return base::Run(records.Modify("b", [](const studio::ServiceRecord& present) {
      studio::ServiceRecord next = present;
      next.name = "B";
      return next;
    }));
  });
  if (option.empty()) {
    Count("read a record", [&] { return base::Run(records.Get("b")); });
    Count("list two records", [&] { return base::Run(records.List()); });
  }
  Count("delete a record" + option, [&] { return base::Run(records.Delete("b")); });
}

// The operations of SearchStore.
void StudioRoundTrips::CountDocuments(studio::Hardening hardening) {
  Begin(hardening);
  Prepare(Push(event_));
  const std::string option = hardening.atomic_search_documents ? ", `atomic_search_documents`" : "";
  studio::SearchStore search(store_, {.hardening = hardening});
  const std::string id = studio::TaskDocumentId({.service_id = "a", .task_id = "t1"});
  const studio::TaskDocument task = base::Run(search.GetTaskDocument(id)).value().value();
  const studio::ServiceDocument service = base::Run(search.GetServiceDocument("a")).value().value();
  Count("replace a task document" + option,
        [&] { return base::Run(search.SetTaskDocument(task)); });
  Count("change a task document" + option, [&] {
    return base::Run(search.ModifyTaskDocument(id, [](const auto& present) { return present; }));
  });
  Count("replace a service document" + option,
        [&] { return base::Run(search.SetServiceDocument(service)); });
  Count("change a service document" + option, [&] {
    return base::Run(search.ModifyServiceDocument("a", [](const auto& now) { return *now; }));
  });
  Count("delete a task document that a test wants gone" + option, [&] {
    return base::Run(search.DeleteTaskDocumentIf(id, [](const auto&) { return true; }));
  });
  Prepare(search.SetTaskDocument(task));
  Count("delete a task document" + option,
        [&] { return base::Run(search.DeleteTaskDocument(id)); });
  Count("delete a service document" + option,
        [&] { return base::Run(search.DeleteServiceDocument("a")); });
}

void StudioRoundTrips::CountSweeps() {
  Begin();
  Prepare(Push(event_));
  studio::SearchStore search(store_);
  const std::string id = studio::TaskDocumentId({.service_id = "a", .task_id = "t1"});
  const std::string read = "read one or two search documents of a kind";
  Count(read, [&] { return base::Run(search.GetTaskDocument(id)); });
  Count(read, [&] { return base::Run(search.GetServiceDocument("a")); });
  Count(read, [&] { return base::Run(search.GetTaskDocuments({id, "missing"})); });
  Count(read, [&] { return base::Run(search.GetServiceDocuments({"a", "missing"})); });
  const std::string members = "read the ids of a set";
  Count(members, [&] { return base::Run(search.TaskIds()); });
  Count(members, [&] { return base::Run(search.TaskIdsOfService("a")); });
  Count(members, [&] { return base::Run(search.TaskIdsWith("status", "running")); });
  Count(members, [&] { return base::Run(search.ServiceIds()); });
  Count(members, [&] { return base::Run(search.ServiceIdsWith("environment", "prod")); });
  Count(members, [&] { return base::Run(search.ServiceIdsOfToken("a")); });
  Count("sweep the four sets of a task, of which none has a lost id",
        [&] { return base::Run(search.SweepTaskSets()); });
  Count("sweep the documents of deleted services, of which there are none",
        [&] { return base::Run(search.SweepDeletedServices()); });
}

TEST_F(StudioRoundTrips, AreThoseOfThePage) {
  Measure("studio", [this] {
    CountServices();
    CountEvents();
    CountHealth();
    CountSearch();
    CountHardened();
    CountRecords({});
    CountRecords({.atomic_registry = true});
    CountDocuments({});
    CountDocuments({.atomic_search_documents = true});
    CountSweeps();
  });
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
