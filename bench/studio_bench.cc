// Studio's operations on the memory engine and on live Redis (a redis-server that this program
// starts, on a Unix socket), with the round trips of one operation.
//
//   bazel run --config=opt //bench:studio
#include <cstdint>
#include <string>

#include "benchmark/benchmark.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/search/search_index.h"

namespace redouble::inline v0_1::bench {
namespace {

constexpr int kDocuments = 100'000;
constexpr int kStatuses = 1'000;
// The number of tasks to which a benchmark writes in turn.
constexpr int kTasks = 1'000;

studio::EventEnvelope EventOf(int64_t number) {
  studio::EventEnvelope envelope;
  envelope.service_id = "svc-a";
  envelope.event.cursor = std::to_string(number);
  envelope.event.event_id = envelope.event.cursor;
  envelope.event.task_id = "t" + std::to_string(number % kTasks);
  envelope.event.event_type = "status.running";
  envelope.event.timestamp = "2026-01-01T10:00:00Z";
  envelope.event.payload = python::Object({{"status", "s" + std::to_string(number % kStatuses)}});
  return envelope;
}

studio::ServiceRecord Service() {
  studio::ServiceRecord service;
  service.service_id = "svc-a";
  service.name = "Svc A";
  service.environment = "prod";
  return service;
}

studio::ControlPlaneEvent IngestedOf(int64_t number) {
  studio::ControlPlaneEvent event;
  event.service_id = "svc-a";
  event.ingested_at = "2026-01-01T12:00:00+00:00";
  event.event = EventOf(number).event;
  return event;
}

enum class Form { kDocumented, kHardened };

template <typename Backend, Form form>
void BM_InsertEvent(benchmark::State& state) {
  Counted<Backend> backend;
  studio::EventStore events(backend.store(),
                            {.hardening = {.atomic_event_insert = form == Form::kHardened}});
  int64_t number = 0;
  backend.Begin();
  for (auto _ : state) {
    const studio::EventEnvelope envelope = EventOf(number++);
    const auto inserted = base::Run(events.InsertEvent(envelope, kNow));
    if (!inserted.ok()) return state.SkipWithError("the insert failed");
  }
  backend.Report(state);
}
BENCHMARK(BM_InsertEvent<Memory, Form::kDocumented>);
BENCHMARK(BM_InsertEvent<Memory, Form::kHardened>);
BENCHMARK(BM_InsertEvent<Live, Form::kDocumented>)->UseRealTime();
BENCHMARK(BM_InsertEvent<Live, Form::kHardened>)->UseRealTime();

template <typename Backend, Form form>
void BM_UpsertTaskDocument(benchmark::State& state) {
  Counted<Backend> backend;
  studio::SearchStore documents(
      backend.store(), {.hardening = {.atomic_search_documents = form == Form::kHardened}});
  studio::SearchIndex index(documents, {});
  const studio::ServiceRecord service = Service();
  int64_t number = 0;
  backend.Begin();
  for (auto _ : state) {
    const studio::ControlPlaneEvent event = IngestedOf(number++);
    const absl::Status indexed = base::Run(index.UpsertTaskDocument(service, event, kNow));
    if (!indexed.ok()) return state.SkipWithError("the upsert failed");
  }
  backend.Report(state);
}
BENCHMARK(BM_UpsertTaskDocument<Memory, Form::kDocumented>);
BENCHMARK(BM_UpsertTaskDocument<Memory, Form::kHardened>);
BENCHMARK(BM_UpsertTaskDocument<Live, Form::kDocumented>)->UseRealTime();
BENCHMARK(BM_UpsertTaskDocument<Live, Form::kHardened>)->UseRealTime();

// Searches 100,000 documents for a status that 100 of them have, and returns a page of 50.
template <typename Backend>
void BM_SearchTasks(benchmark::State& state) {
  Counted<Backend> backend;
  studio::SearchStore documents(backend.store(), {.hardening = {.atomic_search_documents = true}});
  studio::SearchIndex index(documents, {});
  const studio::ServiceRecord service = Service();
  for (int64_t number = 0; number < kDocuments; ++number) {
    studio::ControlPlaneEvent event = IngestedOf(number);
    event.event.task_id = "t" + std::to_string(number);
    const absl::Status indexed = base::Run(index.UpsertTaskDocument(service, event, kNow));
    if (!indexed.ok()) return state.SkipWithError("the upsert failed");
  }
  backend.Begin();
  for (auto _ : state) {
    const studio::TaskQuery query = {.status = "s7"};
    const auto page = base::Run(index.SearchTasks(query, kNow));
    if (!page.ok() || page->items.size() != 50) return state.SkipWithError("the search failed");
  }
  backend.Report(state);
}
BENCHMARK(BM_SearchTasks<Memory>)->Unit(benchmark::kMicrosecond)->Iterations(200);
BENCHMARK(BM_SearchTasks<Live>)->Unit(benchmark::kMicrosecond)->Iterations(200)->UseRealTime();

}  // namespace
}  // namespace redouble::inline v0_1::bench
