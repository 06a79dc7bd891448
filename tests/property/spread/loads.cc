#include "redouble/tests/property/spread/loads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/gateway/app/admission.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/orchestrator/app/engine.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/relayna/workflow_contract_store.h"
#include "redouble/core/store/keyspace/key_spread_for_test.h"
#include "redouble/core/studio/app/studio.h"
#include "redouble/core/threescale/backend/backend.h"
#include "redouble/sim/storm/orchestrator/workflows.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::KeyLayout;

// Operations of each load, and the units that they are divided among.
constexpr int kOperations = 12'000;
constexpr uint64_t kUnits = 2'000;
constexpr uint64_t kSeed = 1;

std::string Text(size_t bytes) { return std::string(bytes, 'x'); }

// Requests that are admitted and settled; one in ten stays open.
void LoadGateway(LoadCounter& counter, base::Clock& clock) {
  gateway::AdmissionSettings settings;
  settings.key_layout = KeyLayout::kCluster;
  const auto admission = gateway::Admission::Create(counter, clock, settings).value();
  base::Rng rng(kSeed);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kUnits; ++i) keys.push_back(store::RandomUuid(rng));
  counter.Begin();
  for (int i = 0; i < kOperations; ++i) {
    const std::string& key = keys[rng.Below(kUnits)];
    const std::string id = absl::StrCat("request-", i);
    gateway::AdmissionRequest arrival;
    arrival.request = {key, id};
    arrival.rpm_limit = 1'000;
    arrival.budget = {1'000, 10'000};
    arrival.estimated_cost_usd = 0.25;
    ASSERT_THAT(base::Run(admission->Admit(arrival)), IsOk());
    if (rng.Chance(0.1)) continue;
    gateway::Settlement settlement;
    settlement.request = {key, id};
    settlement.reserved = true;
    settlement.final_cost_usd = 0.5;
    ASSERT_THAT(base::Run(admission->Settle(settlement)).status, IsOk());
  }
}

// Runs of the storm's workflows. Those with an approval wait for it at the end.
void LoadOrchestrator(LoadCounter& store, base::Clock& clock, int64_t queue_shards) {
  orchestrator::EngineSettings settings;
  settings.key_layout = KeyLayout::kCluster;
  settings.queue_shards = queue_shards;
  settings.worker_delete_acknowledged = true;
  orchestrator::MemoryRunStore records;
  orchestrator::MemoryArtifacts outputs;
  const auto engine =
      orchestrator::Engine::Create(store, clock, {records, outputs}, settings).value();
  std::map<std::string, sim::PlannedRun, std::less<>> runs;
  const auto execute = [&](const orchestrator::Token& token)
      -> base::Task<absl::StatusOr<orchestrator::NodeResult>> {
    orchestrator::NodeResult result;
    result.data_json = sim::OutputOf(runs.at(token.run_id), token.to_node);
    co_return result;
  };
  for (const std::string_view type : sim::kNodeTypes) {
    if (type == "hitl") {
      engine->AddApprovalWorker("w");
    } else {
      engine->AddWorker(type, "w", execute);
    }
  }
  for (const auto& worker : engine->workers()) {
    ASSERT_THAT(base::Run(worker->EnsureGroup()), IsOk());
  }
  base::Rng rng(kSeed);
  store.Begin();
  for (uint64_t i = 0; i < kUnits; ++i) {
    const std::string id = absl::StrCat("run-", i);
    sim::PlannedRun& run = runs[id];
    run.id = id;
    run.workflow = sim::kWorkflows[rng.Below(sim::kWorkflows.size())];
    run.number = rng.Chance(0.5) ? 1 : 0;
    ASSERT_THAT(base::Run(engine->StartRun(id, sim::IrOf(run.workflow))), IsOk());
    // Many runs go on at a time, so that reads of the queues find something.
    constexpr uint64_t kAtATime = 500;
    if (i % kAtATime == kAtATime - 1) {
      ASSERT_THAT(base::Run(engine->RunUntilIdle()), IsOk());
    }
  }
}

void LoadOrchestratorWithSomeShards(LoadCounter& store, base::Clock& clock) {
  LoadOrchestrator(store, clock, /*queue_shards=*/12);
}
void LoadOrchestratorWithManyShards(LoadCounter& store, base::Clock& clock) {
  LoadOrchestrator(store, clock, /*queue_shards=*/48);
}

constexpr uint64_t kTopics = 200;
constexpr int32_t kPartitions = 10;

std::string TopicOf(uint64_t number) { return absl::StrCat("topic-", number); }

// Each topic has a group of its own, of one member that reads and commits what there is.
void ConsumeAll(LoadCounter& store, base::Clock& clock, base::Rng& rng, const korvet::Keys& keys) {
  for (uint64_t i = 0; i < kTopics; ++i) {
    korvet::Consumer consumer(store, clock, rng, keys, absl::StrCat("group-", i), {});
    const std::vector<std::string> topics = {TopicOf(i)};
    ASSERT_THAT(base::Run(consumer.Subscribe(topics)), IsOk());
    for (int empty = 0; empty < 3;) {
      const auto records = base::Run(consumer.Poll());
      ASSERT_THAT(records, IsOk());
      if (records->empty()) ++empty;
      ASSERT_THAT(base::Run(consumer.Commit()), IsOk());
    }
    ASSERT_THAT(base::Run(consumer.Close()), IsOk());
  }
}

// Batches of records of a hundred bytes that a group reads.
void LoadKorvet(LoadCounter& store, base::Clock& clock) {
  const korvet::Keys keys =
      korvet::Keys::Create(korvet::kDefaultKeyspace, KeyLayout::kCluster).value();
  base::Rng rng(kSeed);
  korvet::Topics topics(store, rng, keys);
  std::vector<korvet::Topic> made;
  for (uint64_t i = 0; i < kTopics; ++i) {
    korvet::NewTopic topic;
    topic.name = TopicOf(i);
    topic.partitions = kPartitions;
    const auto created = base::Run(topics.Create(topic));
    ASSERT_THAT(created, IsOk());
    made.push_back(*created);
  }
  store.Begin();
  for (int i = 0; i < kOperations; ++i) {
    const korvet::Topic& topic = made[rng.Below(kTopics)];
    korvet::Producer producer(store, clock, keys, topic, {});
    std::vector<korvet::NewRecord> records(5);
    for (korvet::NewRecord& record : records) record.value = Text(100);
    const auto partition = static_cast<int32_t>(rng.Below(kPartitions));
    ASSERT_THAT(base::Run(producer.Append(partition, records, absl::StrCat(i))), IsOk());
  }
  ConsumeAll(store, clock, rng, keys);
}

// Tasks of many services, each with its feed: statuses, the contracts of workflows, and readers.
void LoadRelayna(LoadCounter& store, base::Clock&) {
  constexpr uint64_t kServices = 200;
  std::deque<relayna::ServiceEventFeed> feeds;
  std::deque<relayna::StatusStore> statuses;
  for (uint64_t i = 0; i < kServices; ++i) {
    relayna::FeedOptions feed;
    feed.prefix = absl::StrCat("service-", i);
    feed.key_layout = KeyLayout::kCluster;
    relayna::StatusOptions status;
    status.feed = &feeds.emplace_back(store, feed);
    status.key_layout = KeyLayout::kCluster;
    statuses.emplace_back(store, status);
  }
  relayna::WorkflowContractOptions options;
  options.key_layout = KeyLayout::kCluster;
  relayna::WorkflowContractStore contracts(store, options);
  base::Rng rng(kSeed);
  store.Begin();
  for (int i = 0; i < kOperations; ++i) {
    const uint64_t number = rng.Below(kUnits);
    const std::string task = absl::StrCat("task-", number);
    const uint64_t service = number % kServices;
    const python::Value event = python::Object({{"task_id", task},
                                                {"status", "running"},
                                                {"event_id", absl::StrCat("e", i)},
                                                {"message", Text(100)}});
    ASSERT_THAT(base::Run(statuses[service].SetHistory(task, event)), IsOk());
    if (rng.Chance(0.2)) {
      ASSERT_THAT(base::Run(statuses[service].GetHistory(task)), IsOk());
    }
    if (rng.Chance(0.02)) {
      ASSERT_THAT(base::Run(feeds[service].GetFeed()), IsOk());
    }
    if (!rng.Chance(0.5)) continue;
    relayna::WorkflowContract contract;
    contract.stage = "ocr";
    contract.task_id = task;
    contract.action = "x";
    contract.payload = python::Object({{"doc", absl::StrCat(i)}});
    contract.dedup_key_fields = {"doc"};
    ASSERT_THAT(base::Run(contracts.AcquireDedup(contract)), IsOk());
    ASSERT_THAT(base::Run(contracts.MarkInflight(contract)), IsOk());
    ASSERT_THAT(base::Run(contracts.ClearInflight(contract)), IsOk());
    if (rng.Chance(0.8)) {
      ASSERT_THAT(base::Run(contracts.ReleaseDedup(contract)), IsOk());
    }
  }
}

class NoFeed final : public studio::FeedSource {
 public:
  base::Task<absl::StatusOr<studio::FeedPage>> Fetch(std::string_view,
                                                     studio::FeedRequest) override {
    co_return studio::FeedPage();
  }
};

// A status event of one of the tasks of a service.
studio::EventEnvelope StudioEvent(base::Rng& rng, int number, uint64_t services) {
  constexpr std::array<const char*, 4> kStatuses = {"queued", "running", "failed", "completed"};
  const uint64_t task = rng.Below(kUnits);
  const std::string status = kStatuses[rng.Below(kStatuses.size())];
  studio::EventEnvelope envelope = studio::Event(absl::StrCat("e", number), "2026-01-01T10:00:00Z");
  envelope.service_id = absl::StrCat("service-", task % services);
  envelope.ingest_method = studio::IngestMethod::kPush;
  envelope.event.task_id = absl::StrCat("task-", task);
  envelope.event.event_type = absl::StrCat("status.", status);
  envelope.event.payload = python::Object({{"status", status}, {"message", Text(100)}});
  return envelope;
}

// Events of the tasks of many services, and searches for the tasks of one.
void LoadStudio(LoadCounter& store, base::Clock& clock) {
  constexpr uint64_t kServices = 500;
  studio::StudioSettings settings;
  settings.key_layout = KeyLayout::kCluster;
  settings.push_ingest_enabled = true;
  studio::FixedCapabilities capabilities;
  studio::FixedWorkers workers;
  NoFeed feed;
  const studio::StudioHttp http = {capabilities, workers, feed};
  const auto studio = studio::Studio::Create(store, clock, http, settings).value();
  for (uint64_t i = 0; i < kServices; ++i) {
    const std::string id = absl::StrCat("service-", i);
    const python::Value service =
        python::Object({{"service_id", id},
                        {"name", id},
                        {"base_url", absl::StrCat("http://", id, ".test")},
                        {"environment", "prod"},
                        {"auth_mode", "none"}});
    ASSERT_THAT(base::Run(studio->registry().CreateService(service)), IsOk());
  }
  base::Rng rng(kSeed);
  store.Begin();
  for (int i = 0; i < kOperations; ++i) {
    const std::array<studio::EventEnvelope, 1> events = {StudioEvent(rng, i, kServices)};
    ASSERT_THAT(base::Run(studio->Push(events)), IsOk());
    const std::string& service = events[0].service_id;
    if (rng.Chance(0.1)) {
      ASSERT_THAT(base::Run(studio->events().ListServiceEvents(service)), IsOk());
    }
    if (!rng.Chance(0.05)) continue;
    studio::TaskQuery query;
    query.service_id = service;
    ASSERT_THAT(base::Run(studio->search().SearchTasks(query, clock.Now())), IsOk());
  }
}

// A service with its provider, an application and a metric with a limit.
void SetUpService(const threescale::Backend& backend, const std::string& id) {
  const std::string provider = absl::StrCat("provider-", id);
  threescale::ServiceSave service;
  service.id = id;
  service.provider_key = provider;
  ASSERT_THAT(base::Run(backend.services().Save(service)), IsOk());
  threescale::ApplicationSave application;
  application.service_id = id;
  application.id = "app";
  application.state = "active";
  application.plan_id = "44";
  ASSERT_THAT(base::Run(backend.applications().Save(application)), IsOk());
  ASSERT_THAT(base::Run(backend.metrics().Save(threescale::Metric{id, "6", "hits"})), IsOk());
  const threescale::UsageLimitSave limits[] = {{threescale::Granularity::kDay, "1000000"}};
  ASSERT_THAT(base::Run(backend.usage_limits().Save({id, "44"}, "6", limits)), IsOk());
}

// Authrep and reports of the applications of many services, and the consumer of the events.
void LoadThreescale(LoadCounter& store, base::Clock& clock, int requests) {
  threescale::BackendSettings settings;
  settings.key_layout = KeyLayout::kCluster;
  threescale::Backend backend(store, clock, settings);
  for (uint64_t i = 0; i < kUnits; ++i) SetUpService(backend, absl::StrCat(i));
  base::Rng rng(kSeed);
  store.Begin();
  for (int i = 0; i < requests; ++i) {
    const std::string id = absl::StrCat(rng.Below(kUnits));
    const std::string provider = absl::StrCat("provider-", id);
    if (rng.Chance(0.5)) {
      threescale::ReportRequest request;
      request.provider_key = provider;
      request.service_id = id;
      threescale::Transaction transaction;
      transaction.app_id = "app";
      transaction.usage = {{"hits", "1"}};
      request.transactions.emplace_back(std::move(transaction));
      ASSERT_THAT(base::Run(backend.reporter().Report(std::move(request))), IsOk());
    } else {
      threescale::AuthRequest request;
      request.provider_key = provider;
      request.service_id = id;
      request.app_id = "app";
      request.usage = threescale::Usage{{"hits", "1"}};
      ASSERT_THAT(
          base::Run(backend.listener().Handle(threescale::Endpoint::kAuthrep, request, "{}")),
          IsOk());
    }
    ASSERT_THAT(base::Run(backend.RunJobs()), IsOk());
    if (!rng.Chance(0.02)) continue;
    ASSERT_THAT(base::Run(backend.events().List()), IsOk());
    const std::string all = absl::StrCat(requests * 10);
    ASSERT_THAT(base::Run(backend.events().DeleteRange(all)), IsOk());
  }
}

// Each application has an event, of its first traffic in the day.
void LoadThreescaleWithFewRequests(LoadCounter& store, base::Clock& clock) {
  LoadThreescale(store, clock, kOperations);
}
void LoadThreescaleWithMoreRequests(LoadCounter& store, base::Clock& clock) {
  LoadThreescale(store, clock, 2 * kOperations);
}

}  // namespace

std::vector<SystemLoad> SystemLoads() {
  return {
      {"gateway", "2,000 virtual keys", LoadGateway},
      {"orchestrator, 12 shards", "2,000 runs", LoadOrchestratorWithSomeShards},
      {"orchestrator, 48 shards", "2,000 runs", LoadOrchestratorWithManyShards},
      {"korvet", "200 topics of 10 partitions", LoadKorvet},
      {"threescale", "2,000 services", LoadThreescaleWithFewRequests, {"events"}},
      {"threescale, 12 requests", "2,000 services", LoadThreescaleWithMoreRequests},
      {"relayna", "2,000 tasks of 200 services", LoadRelayna},
      {"studio", "2,000 tasks of 500 services", LoadStudio},
  };
}

}  // namespace redouble::inline v0_1::tests
