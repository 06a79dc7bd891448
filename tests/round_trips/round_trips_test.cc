// Counts the requests of the systems' operations beside the tables of their pages
// (round_trip_table.h). Scripts are in the cache of the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/korvet.h"
#include "redouble/relayna.h"
#include "redouble/store.h"
#include "redouble/studio.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/round_trip_table.h"
#include "redouble/tests/support/studio_test.h"
#include "redouble/threescale.h"

namespace redouble {
namespace {

using Measured = std::map<std::string, int>;

// A server in memory, and the requests that operations send to it.
class RoundTrips : public ::testing::Test {
 protected:
  // Runs an operation and counts its requests. Its scripts must be in the cache.
  template <typename Operation>
  void Count(const std::string& name, const Operation& operation) {
    const size_t before = store_.requests();
    const auto result = base::Run(operation());
    EXPECT_TRUE(StatusOf(result).ok()) << name << ": " << StatusOf(result);
    measured_[name] = static_cast<int>(store_.requests() - before);
  }
  // Runs an operation without counting it.
  template <typename T>
  void Prepare(base::Task<T> task) {
    const T result = base::Run(std::move(task));
    EXPECT_TRUE(StatusOf(result).ok()) << StatusOf(result);
  }
  void ExpectTable(const std::string& system) {
    const tests::RoundTripTable table(absl::StrCat("docs/systems/", system, ".md"));
    Measured stated;
    for (const auto& [name, row] : table.rows()) {
      stated[name] = row.today;
      EXPECT_LE(row.fewest, row.today) << name;
    }
    EXPECT_EQ(stated, measured_);
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1778335382)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  tests::InterceptedStore store_{*session_};

 private:
  static absl::Status StatusOf(const absl::Status& status) { return status; }
  template <typename T>
  static absl::Status StatusOf(const absl::StatusOr<T>& result) {
    return result.status();
  }

  Measured measured_;
};

TEST_F(RoundTrips, OfKorvet) {
  base::Rng rng(1);
  korvet::BrokerSettings settings;
  settings.num_partitions = 3;
  const auto broker = korvet::Broker::Create(store_, clock_, rng, settings).value();
  Prepare(broker->EnsureTopic("warm"));
  Count("create a topic", [&] { return broker->topics().Create({.name = "single"}); });
  Prepare(broker->EnsureTopic("orders"));
  Count("describe a topic", [&] { return broker->EnsureTopic("orders"); });
  korvet::Producer producer = base::Run(broker->OpenProducer("orders")).value();
  const std::vector<korvet::NewRecord> records(3, korvet::NewRecord{.value = "v"});
  Prepare(producer.Append(0, records));
  Count("append a batch to a partition", [&] { return producer.Append(0, records); });
  Count("send records to three partitions", [&] { return producer.Send(records); });
  korvet::Log log = base::Run(broker->OpenLog("orders")).value();
  const korvet::FetchPosition positions[] = {{.partition = 0, .offset = 0},
                                             {.partition = 1, .offset = 0}};
  Count("fetch two partitions", [&] { return log.Fetch({.positions = positions}); });

  const auto consumer = broker->MakeConsumer("g");
  Prepare(consumer->Subscribe({"orders"}));
  Prepare(consumer->Poll());
  Prepare(consumer->Commit());
  Prepare(producer.Send(records));
  Count("poll three partitions", [&] { return consumer->Poll(); });
  Count("commit what was polled", [&] { return consumer->Commit(); });
  clock_.Advance(absl::Seconds(3));
  Count("poll with a heartbeat", [&] { return consumer->Poll(); });
  Count("offsets of a group of three partitions", [&] { return broker->groups().Offsets("g"); });
  Count("close a consumer", [&] { return consumer->Close(); });
  Prepare(broker->topics().Delete("warm"));
  Prepare(broker->topics().Delete("single"));
  Count("sweep all topics, of which there is one",
        [&] { return broker->retention_loop().RunOnce(); });
  ExpectTable("korvet");
}

TEST_F(RoundTrips, OfThreescale) {
  threescale::Backend backend(store_, clock_);
  Prepare(backend.services().Save({.id = "2", .provider_key = "pk"}));
  Prepare(backend.applications().Save(
      {.service_id = "2", .id = "a", .state = "active", .plan_id = "44"}));
  const threescale::Metric hits = {"2", "6", "hits"};
  Prepare(backend.metrics().Save(hits));
  const auto get = [&](const std::string& path, const std::string& query) {
    return backend.Handle({.path = path, .query = "provider_key=pk&service_id=2&app_id=a" + query});
  };
  const auto authorize = [&] { return get("/transactions/authorize.xml", ""); };
  const auto authrep = [&] { return get("/transactions/authrep.xml", "&usage[hits]=1"); };
  Count("authorize without limits", authorize);
  const threescale::UsageLimitSave limits[] = {{threescale::Granularity::kDay, "100"}};
  Prepare(backend.usage_limits().Save({"2", "44"}, "6", limits));
  Count("authorize with limits", authorize);
  Count("authrep with limits", authrep);
  Count("first job of an application", [&] { return backend.RunJobs(); });
  Prepare(authrep());
  Count("later job of an application", [&] { return backend.RunJobs(); });
  Count("accept a report", [&] {
    return backend.Handle({.method = "POST",
                           .path = "/transactions.xml",
                           .body = "provider_key=pk&service_id=2&transactions[0][app_id]=a"
                                   "&transactions[0][usage][hits]=1"});
  });
  threescale::StatsQuery month = {.service_id = "2", .metric_id = "6"};
  month.since = clock_.Now() - absl::Hours(24 * 30);
  month.until = clock_.Now();
  Count("read a series of 31 days", [&] { return backend.stats().Series(month); });
  ExpectTable("threescale");
}

TEST_F(RoundTrips, OfRelayna) {
  const python::Value first = python::Object({{"task_id", "t1"}, {"status", "queued"}});
  const python::Value second = python::Object({{"task_id", "t1"}, {"status", "completed"}});
  relayna::SdkSettings settings;
  settings.dlq_store_prefix = "d";
  relayna::Sdk sdk(store_, settings);
  Count("store a status", [&] { return sdk.statuses().SetHistory("t1", first); });
  Count("store a duplicate", [&] { return sdk.statuses().SetHistory("t1", first); });
  settings.hardening.atomic_events = true;
  relayna::Sdk atomic(store_, settings);
  Prepare(atomic.statuses().SetHistory("t0", first));
  Count("store a status, hardened", [&] { return atomic.statuses().SetHistory("t1", second); });
  Count("read a history", [&] { return sdk.statuses().GetHistory("t1"); });
  const relayna::Observation received = {"TaskMessageReceived",
                                         python::Object({{"task_id", "t1"}})};
  Count("store an observation", [&] { return sdk.observations()->SetEvent(received); });
  Count("read a page of the feed", [&] { return sdk.feed()->GetFeed(); });
  relayna::DlqRecord record;
  record.dlq_id = "x";
  Count("add a DLQ record", [&] { return sdk.dlq()->Add(record); });
  relayna::ExecutionGraphService executions =
      sdk.Executions(relayna::ExecutionTopology::kSharedTasks);
  Count("build the execution graph of a task", [&] { return executions.GetGraph("t1"); });
  ExpectTable("relayna");
}

// A service without events.
class EmptyFeed final : public studio::FeedSource {
 public:
  base::Task<absl::StatusOr<studio::FeedPage>> Fetch(std::string_view,
                                                     studio::FeedRequest) override {
    co_return studio::FeedPage();
  }
};

TEST_F(RoundTrips, OfStudio) {
  studio::FixedCapabilities capabilities;
  studio::FixedWorkers workers;
  EmptyFeed feed;
  studio::StudioSettings settings;
  settings.push_ingest_enabled = true;
  const auto app =
      studio::Studio::Create(store_, clock_, {capabilities, workers, feed}, settings).value();
  const python::Value service = python::Object({{"service_id", "a"},
                                                {"name", "A"},
                                                {"base_url", "http://a.test"},
                                                {"environment", "prod"},
                                                {"auth_mode", "none"}});
  Prepare(app->Start());
  Count("create a service", [&] { return app->registry().CreateService(service); });
  Count("read a service with its health", [&] { return app->GetService("a"); });
  Count("list one service with its health", [&] { return app->ListServices(); });
  const studio::EventEnvelope events[] = {studio::Event("e1", "2026-05-09T14:00:00Z")};
  Count("ingest the first event of a task", [&] { return app->Push(events); });
  Count("ingest a duplicate", [&] { return app->Push(events); });
  studio::TaskQuery query;
  query.service_id = "a";
  Count("search tasks, of which one is found",
        [&] { return app->search().SearchTasks(query, clock_.Now()); });
  ExpectTable("studio");
}

}  // namespace
}  // namespace redouble
