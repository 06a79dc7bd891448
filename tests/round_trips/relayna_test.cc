// Counts the round trips of Relayna's operations (docs/systems/relayna.md 4.16).
#include "redouble/relayna.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "redouble/tests/round_trips/round_trips_for_test.h"

namespace redouble::inline v0_1::tests {
namespace {

python::Value Status(const std::string& task, const std::string& status) {
  return python::Object({{"task_id", task}, {"status", status}});
}

class NoBroker final : public relayna::QueuePublisher {
 public:
  base::Task<absl::Status> Publish(relayna::QueueMessage) override { co_return absl::OkStatus(); }
};

class RelaynaRoundTrips : public RoundTrips {
 protected:
  // A process with all stores on an empty server.
  relayna::Sdk& Begin(relayna::Hardening hardening = {}) {
    Prepare(store::FlushAll(store_));
    relayna::SdkSettings settings;
    settings.dlq_store_prefix = "d";
    settings.hardening = hardening;
    sdk_ = std::make_unique<relayna::Sdk>(store_, settings);
    return *sdk_;
  }
  relayna::Observation Received(const std::string& task) const {
    return {"TaskMessageReceived", python::Object({{"task_id", task}})};
  }
  relayna::DlqRecord Record(const std::string& id) const {
    relayna::DlqRecord record;
    record.dlq_id = id;
    record.queue_name = "q.dlq";
    record.source_queue_name = "q";
    record.SetBody("{}");
    return record;
  }

  void CountHistories();
  void CountHardenedHistories();
  void CountDlq();
  void CountWorkflows();

  std::unique_ptr<relayna::Sdk> sdk_;
};

void RelaynaRoundTrips::CountHistories() {
  relayna::StatusStore& statuses = Begin().statuses();
  relayna::ServiceEventFeed& feed = *sdk_->feed();
  Count("store a status",
        [&] { return base::Run(statuses.SetHistory("t1", Status("t1", "queued"))); });
  Count("store a duplicate",
        [&] { return base::Run(statuses.SetHistory("t1", Status("t1", "queued"))); });
  const std::string read = "read a history, the latest status, the children or a page of the feed";
  Count(read, [&] { return base::Run(statuses.GetHistory("t1")); });
  Count(read, [&] { return base::Run(statuses.GetLatest("t1")); });
  Count(read, [&] { return base::Run(statuses.GetChildTaskIds("t1")); });
  Count(read, [&] { return base::Run(feed.GetFeed()); });
  Count("store an observation",
        [&] { return base::Run(sdk_->observations()->SetEvent(Received("t1"))); });
  Count(read, [&] { return base::Run(sdk_->observations()->GetHistory("t1")); });
  Count("add an event to the feed",
        [&] { return base::Run(feed.AddStatusEvent(Status("t2", "queued"))); });
  Count("add an event to the feed", [&] { return base::Run(feed.AddObservation(Received("t2"))); });
  relayna::ExecutionGraphService executions =
      sdk_->Executions(relayna::ExecutionTopology::kSharedTasks);
  Count("build the execution graph of a task without dead letters",
        [&] { return base::Run(executions.GetGraph("t1")); });
  Prepare(sdk_->dlq()->Add(Record("x")));
  Count("build the execution graph of a task, and one dead letter of another",
        [&] { return base::Run(executions.GetGraph("t1")); });
  Count("delete unused keys, none in one page of keys",
        [&] { return base::Run(sdk_->DeleteUnused(absl::Hours(1))); });
}

void RelaynaRoundTrips::CountHardenedHistories() {
  relayna::Sdk& sdk = Begin({.atomic_events = true});
  Count("store a status, `atomic_events`",
        [&] { return base::Run(sdk.statuses().SetHistory("t1", Status("t1", "queued"))); });
  Count("store an observation, `atomic_events`",
        [&] { return base::Run(sdk.observations()->SetEvent(Received("t1"))); });
  Count("add an event to the feed, `atomic_events`",
        [&] { return base::Run(sdk.feed()->AddStatusEvent(Status("t2", "queued"))); });
}

void RelaynaRoundTrips::CountDlq() {
  relayna::DlqStore& dlq = *Begin().dlq();
  Count("add or read a DLQ record", [&] { return base::Run(dlq.Add(Record("x"))); });
  Prepare(dlq.Add(Record("y")));
  Count("add or read a DLQ record", [&] { return base::Run(dlq.Get("x")); });
  Count("list two DLQ records", [&] { return base::Run(dlq.ListRecords()); });
  Count("summarize the DLQ with two records", [&] { return base::Run(dlq.SummarizeQueues()); });
  Count("claim a replay", [&] { return base::Run(dlq.ClaimReplay("x")); });
  Count("release the claim of a replay", [&] { return base::Run(dlq.ReleaseReplayClaim("x")); });
  const relayna::DlqReplay replay = {.replayed_at = clock_.Now(), .target_queue_name = "q"};
  Count("mark a record as replayed", [&] { return base::Run(dlq.MarkReplayed("x", replay)); });
  NoBroker broker;
  relayna::DlqReplayService service(dlq, broker);
  Count("replay a message",
        [&] { return base::Run(service.ReplayMessage({.dlq_id = "y", .now = clock_.Now()})); });

  relayna::DlqStore hardened(
      store_, {.prefix = "d",
               .ttl_seconds = 60,
               .hardening = {.mark_before_publish = true, .forget_expired_ids = true}});
  Count("add a DLQ record, `forget_expired_ids`",
        [&] { return base::Run(hardened.Add(Record("z"))); });
  relayna::DlqStore adds_once(store_, {.prefix = "d", .hardening = {.add_once = true}});
  Count("add a DLQ record, `add_once`", [&] { return base::Run(adds_once.Add(Record("w"))); });
  relayna::DlqReplayService once(hardened, broker);
  Count("replay a message, `mark_before_publish`",
        [&] { return base::Run(once.ReplayMessage({.dlq_id = "z", .now = clock_.Now()})); });
  Count("take a mark back",
        [&] { return base::Run(hardened.TakeMarkBack(Record("z"), Record("z"))); });
}

void RelaynaRoundTrips::CountWorkflows() {
  const relayna::WorkflowContract contract = {.stage = "s",
                                              .task_id = "t1",
                                              .action = "a",
                                              .payload = python::Object({{"k", "v"}}),
                                              .dedup_key_fields = {"k"}};
  relayna::WorkflowContractStore& plain = Begin().workflow_contracts();
  const std::string one = "acquire or release a contract, or clear its inflight entry";
  Count(one, [&] { return base::Run(plain.AcquireDedup(contract)); });
  Count("mark a contract as inflight", [&] { return base::Run(plain.MarkInflight(contract)); });
  Count(one, [&] { return base::Run(plain.ClearInflight(contract)); });
  Count(one, [&] { return base::Run(plain.ReleaseDedup(contract)); });
  relayna::WorkflowContractStore& owned = Begin({.owner_token = "me"}).workflow_contracts();
  Count(one, [&] { return base::Run(owned.AcquireDedup(contract)); });
  Count("mark a contract as inflight, `owner_token`",
        [&] { return base::Run(owned.MarkInflight(contract)); });
  Count(one, [&] { return base::Run(owned.ClearInflight(contract)); });
  Count(one, [&] { return base::Run(owned.ReleaseDedup(contract)); });
}

TEST_F(RelaynaRoundTrips, AreThoseOfThePage) {
  Measure("relayna", [this] {
    CountHistories();
    CountHardenedHistories();
    CountDlq();
    CountWorkflows();
  });
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
